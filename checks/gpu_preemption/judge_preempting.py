"""Step 5: who had to leave, and for whom."""

from __future__ import annotations

from dataclasses import dataclass

from checks.explain import Cause, explain
from checks.gpu_preemption.facts import Facts
from checks.gpu_preemption.judge_running import workload_uid
from checks.gpu_preemption.on_record import fault_of_preemptor
from checks.judging.ground import go_back, kueue_is_idle
from checks.judging.preemption import Preemption, Preemptor, preemptions_of, preemptor_of
from checks.kit.expect import OnItsWay, mismatch
from checks.outcome import Finding, Mismatch
from checks.scene import Scene
from checks.training import TrainJobNow
from provision.message import Message, say


@dataclass(frozen=True, slots=True)
class Yielding:
    """That the low TrainJob left, and the Workload that it left for."""

    preemption: Preemption
    preemptor: Preemptor


def find_yielding(scene: Scene, lab: Facts) -> Yielding | None:
    """The last time that the low TrainJob made room for the high one; None when it never did."""
    return next(iter(find_yieldings(scene, lab)), None)


def find_yieldings(scene: Scene, lab: Facts) -> tuple[Yielding, ...]:
    """All times that the low TrainJob made room for the high one, the last one first.

    That one need not be there any more, but it must have been what the step asks for.
    """
    found = []
    for one in preemptions_of(scene, workload_uid(scene, lab.low_job.name)):
        preemptor = preemptor_of(scene, one)
        if preemptor is None or preemptor.owner != lab.high_job.name:
            continue
        if fault_of_preemptor(scene, lab, lab.high_job, preemptor, one) is None:
            found.append(Yielding(one, preemptor))
    return tuple(found)


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
        move = _without_rival(scene, lab)
        said = say("it did not; {job}: {why}", job=high.name, why=why.what)
        waits = Finding(where, expected, said, move or why.next_move)
        if why.is_coming:
            return OnItsWay(waits, overdue=kueue_is_idle(why.what))
        return Mismatch(waits)
    found = say("{high} was let in, and nobody had to leave for it", high=high.name)
    if others:
        found = _left_for(scene, lab, others[0])
    return mismatch(where, expected, found, _without_rival(scene, lab) or once_more(lab))


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


def once_more(lab: Facts) -> Message:
    """The next move that lets the low TrainJob make room for the high one another time."""
    return say(
        "delete {high}, wait until {low} runs on all its nodes, then apply {file} again",
        high=lab.high_job.name,
        low=lab.low_job.name,
        file=lab.high_job.manifest,
    )


def _without_rival(scene: Scene, lab: Facts) -> Message | None:
    """The next move when the rival of a later step holds GPUs; None when it does not."""
    rival = scene.train_job(lab.rival_job.name)
    workload = None if rival is None else scene.workload_of(rival)
    if rival is None or workload is None or not workload.holds_quota:
        return None
    move = once_more(lab)
    return say("delete {job}, which belongs to step 6; then {move}", job=rival.name, move=move)


_NOT = say("it did not")
