"""Step 5: who had to leave, for whom, and what the learner wrote down about that."""

from __future__ import annotations

from dataclasses import dataclass

from checks.explain import Cause, explain
from checks.gpu_preemption.facts import Facts
from checks.gpu_preemption.judge_running import workload_uid
from checks.gpu_preemption.on_record import fault_of_preemptor
from checks.judging.ground import go_back, kueue_is_idle
from checks.judging.preemption import Preemption, Preemptor, preemptions_of, preemptor_of
from checks.judging.quoted import Quoted, quoted_conditions
from checks.judging.words import shares_enough
from checks.kit.expect import OnItsWay, cut, mismatch, plain
from checks.kit.files import TextFile
from checks.kit.keyvalues import Value, read_key_values
from checks.kit.manifests import place
from checks.outcome import Finding, Mismatch
from checks.scene import Scene
from checks.training import TrainJobNow
from provision.message import Message, say

_KINDS = ("Evicted", "Preempted")


@dataclass(frozen=True, slots=True)
class Yielding:
    """That the low TrainJob left, and the Workload that it left for."""

    preemption: Preemption
    preemptor: Preemptor


def find_yielding(scene: Scene, lab: Facts) -> Yielding | None:
    """The last time that the low TrainJob made room for the high one; None when it never did.

    That one need not be there any more, but it must have been what the step asks for.
    """
    for one in preemptions_of(scene, workload_uid(scene, lab.low_job.name)):
        preemptor = preemptor_of(scene, one)
        if preemptor is None or preemptor.owner != lab.high_job.name:
            continue
        if fault_of_preemptor(scene, lab, lab.high_job, preemptor, one) is None:
            return Yielding(one, preemptor)
    return None


def require_yielding(scene: Scene, lab: Facts) -> Yielding:
    """The low TrainJob had to make room for the high one, now or before."""
    found = find_yielding(scene, lab)
    if found is not None:
        return found
    low, high = scene.train_job(lab.low_job.name), scene.train_job(lab.high_job.name)
    where = say("TrainJob {job} and its Workload", job=lab.low_job.name)
    expected = say("it had to make room for {high}", high=lab.high_job.name)
    if low is None:
        finding = Finding(
            where,
            expected,
            say("no TrainJob {job}", job=lab.low_job.name),
            say("apply {file}", file=lab.low_job.manifest),
        )
        raise Mismatch(go_back(finding, 4))
    if high is None:
        move = say("apply {file}", file=lab.high_job.manifest)
        raise mismatch(where, expected, say("no TrainJob {job}", job=lab.high_job.name), move)
    raise _nobody_left(scene, lab, high, Finding(where, expected, _NOT, _NOT))


def _nobody_left(scene: Scene, lab: Facts, high: TrainJobNow, finding: Finding) -> Mismatch:
    """Why nobody made room: the high one waits for something else, or found room enough."""
    where, expected = finding.looked_at, finding.expected
    others = preemptions_of(scene, workload_uid(scene, lab.low_job.name))
    why = explain(scene, high)
    if why.cause is not Cause.ADMITTED:
        waits = Finding(where, expected, say("it did not: {why}", why=why.what), why.next_move)
        if why.is_coming:
            return OnItsWay(waits, overdue=kueue_is_idle(why.what))
        return Mismatch(waits)
    found = say("{high} was let in, and nobody had to leave for it", high=high.name)
    if others:
        found = _left_for(scene, lab, others[0])
    move = say(
        "delete {high}, wait until {low} runs on all its nodes, then apply {file} again",
        high=high.name,
        low=lab.low_job.name,
        file=lab.high_job.manifest,
    )
    return mismatch(where, expected, found, move)


def _left_for(scene: Scene, lab: Facts, preemption: Preemption) -> Message:
    """For whom else it had to leave: another one of the right name may have been there before."""
    other = preemptor_of(scene, preemption)
    if other is None or other.owner != lab.high_job.name:
        return say("it had to leave, but for {other}", other=other.owner if other else "-")
    return say(
        "it had to leave, but for another {high}: {fault}",
        high=other.owner,
        fault=fault_of_preemptor(scene, lab, lab.high_job, other, preemption) or "-",
    )


def require_waiting_again(scene: Scene, lab: Facts, low: TrainJobNow) -> None:
    """The one that left is suspended, without pods, and waits for quota."""
    workload = scene.workload_of(low)
    where = say("TrainJob {job} and its Workload", job=low.name)
    expected = say("suspended, without pods, and in the line")
    pods = scene.pods_of(low)
    if workload is not None and low.is_suspended and not workload.holds_quota:
        if not workload.is_active:
            found = explain(scene, low)
            raise mismatch(where, expected, found.what, found.next_move)
        if not pods:
            return
    if workload is not None and workload.holds_quota:
        found_now = say("it has quota again")
        move = say("apply {file} again, which takes its place", file=lab.high_job.manifest)
        raise mismatch(where, expected, found_now, move)
    found_now = say("{count} of its pods are still there", count=len(pods))
    if workload is None:
        found_now = say("it has no Workload")
    elif not low.is_suspended:
        found_now = say("spec.suspend is not true yet")
    wait = say("wait a second and check again")
    raise OnItsWay(Finding(where, expected, found_now, wait), overdue=kueue_is_idle(found_now))


def require_evicted_noted(file: TextFile, lab: Facts, found: Preemption) -> None:
    """The file tells both conditions with their reasons, and the message that both have.

    Where nobody saw a reason and Kueue no longer says it, any will do: the message is looked at.
    """
    told = [one for one in quoted_conditions(file.text) if one.type in _KINDS]
    if not told:
        told = _from_keys(file, lab)
    messages = []
    for kind, reason in zip(_KINDS, (found.evicted, found.preempted), strict=True):
        # A text may quote those of several Workloads: one that is right will do.
        mine = [one for one in told if one.type == kind]
        mine.sort(key=lambda one: (one.reason != reason, not _holds(one.message, found)))
        one = mine[0] if mine else None
        messages.append("" if one is None else one.message)
        wanted = reason or (one.reason if one else "")
        if one is None or not one.reason or one.reason.casefold() != wanted.casefold():
            raise mismatch(
                place(file),
                say("the reason of condition {kind}, as Kueue gave it", kind=kind),
                say("no condition {kind}", kind=kind) if one is None else _shown(one),
                say("each condition has a reason of its own: read both on that Workload"),
            )
    told_message = " ".join(messages)
    if not _holds(told_message, found):
        raise mismatch(
            place(file),
            say("the message of that Workload, whole, with the uids in it"),
            plain(cut(told_message)) if told_message.strip() else say("no message"),
            _READ,
        )


def require_preemptor_noted(file: TextFile, lab: Facts, found: Preemptor) -> None:
    """The file names the JobUID of the message and the Workload that it leads to."""
    keys = (lab.high_job.job_uid_key, lab.high_job.workload_key)
    values = read_key_values(file, keys)
    uid, name = (values[key] for key in keys)
    if uid.text.casefold() != found.owner_uid:
        raise _wrong_uid(file, keys[0], uid, found)
    if name.text.rpartition("/")[2] != found.name:
        raise mismatch(
            place(file, name.line),
            say("the Workload with that JobUID"),
            plain(f"{keys[1]}={name.text}")
            if name.text
            else say("{key}= and nothing", key=keys[1]),
            say("look it up by the label {label}", label=lab.job_uid_label),
        )


def _wrong_uid(file: TextFile, key: str, value: Value, found: Preemptor) -> Mismatch:
    shown: Message = plain(f"{key}={value.text}")
    if not value.text:
        shown = say("{key}= and nothing", key=key)
    elif value.text.casefold() == found.uid:
        shown = say("{value}, which is the UID of the Workload, not its JobUID", value=shown)
    expected = say("the JobUID that stands in the message of the preempted Workload")
    return mismatch(place(file, value.line), expected, shown, _READ)


def _from_keys(file: TextFile, lab: Facts) -> list[Quoted]:
    """Lines `key=value` in place of quoted conditions."""
    wanted = lab.high_job
    keys = (wanted.evicted_key, wanted.preempted_key, wanted.message_key)
    evicted, preempted, message = (read_key_values(file, keys)[key].text for key in keys)
    reasons = zip(_KINDS, (evicted, preempted), strict=True)
    return [Quoted(kind, "", reason, message) for kind, reason in reasons]


def _holds(told: str, found: Preemption) -> bool:
    """It is the message of this preemption, with the uids in it, and not that of another one."""
    uids = [word.strip("(),") for word in found.message.split() if word.count("-") == 4]
    return shares_enough(told, found.message) and all(uid in told for uid in uids)


def _shown(one: Quoted) -> Message:
    return (
        plain(f"{one.type}: {one.reason}")
        if one.reason
        else say("{key}= and nothing", key=one.type)
    )


_NOT = say("it did not")
_READ = say("read the conditions of the Workload that had to leave, and copy what they say")
