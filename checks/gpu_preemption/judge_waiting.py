"""Step 6: whether the rival waits behind its equal, and nobody had to leave for it."""

from __future__ import annotations

from dataclasses import dataclass

from checks.explain import Cause, explain
from checks.gpu_preemption.facts import Facts
from checks.gpu_preemption.judge_running import require_right_train_job
from checks.judging.ground import go_back, kueue_is_idle
from checks.judging.past import holder_at, waiting_changes
from checks.judging.said import own_words, what_was_said
from checks.judging.words import Said
from checks.kit.expect import OnItsWay, mismatch
from checks.kit.paths import dig_count
from checks.outcome import Finding, Mismatch
from checks.scene import Scene
from checks.training import TrainJobNow
from checks.watching import WorkloadNow
from provision.message import Message, say


@dataclass(frozen=True, slots=True)
class Waiting:
    """The rival's Workload and what Kueue said of it; `past` tells that it was let in since."""

    workload: WorkloadNow
    said: tuple[Said, ...]
    own_words: str
    past: Message | None = None


def require_rival(scene: Scene, lab: Facts) -> TrainJobNow:
    """The rival is there with the same class as the one that holds the GPUs.

    When it is not, that one is looked at first: the rival would be in its way.
    """
    if scene.train_job(lab.rival_job.name) is None:
        require_high_holds(scene, lab)
    how = say("submit a TrainJob {job} like {other}", job=lab.rival_job.name, other=_high(lab))
    return require_right_train_job(scene, lab, lab.rival_job, how)


def require_high_holds(scene: Scene, lab: Facts) -> WorkloadNow | None:
    """The high TrainJob has its quota; None when it had while the rival waited, and is gone since.

    It must have it with the priority of the rival. A Mismatch leads back to step 5.
    """
    high = scene.train_job(_high(lab))
    workload = None if high is None else scene.workload_of(high)
    rival = scene.train_job(lab.rival_job.name)
    waiter = None if rival is None else scene.workload_of(rival)
    if workload is not None and workload.holds_quota and _is_equal(scene, lab, workload, waiter):
        return workload
    if waiter is not None and _waited_behind(scene, lab, waiter):
        return None
    if workload is not None and workload.holds_quota:
        raise Mismatch(go_back(_unequal(lab, workload), 5))
    where = say("TrainJob {job} and its Workload", job=_high(lab))
    expected = say("admitted, so that {rival} finds no room", rival=lab.rival_job.name)
    move = say("apply {file} and see it run", file=lab.high_job.manifest)
    if rival is not None:
        move = say("delete {rival} first; {move}", rival=rival.name, move=move)
    if high is None:
        finding = Finding(where, expected, say("no TrainJob {job}", job=_high(lab)), move)
        raise Mismatch(go_back(finding, 5))
    why = explain(scene, high)
    then = why.next_move
    if rival is not None and waiter is not None and waiter.holds_quota:
        then = say("delete {rival} first; {move}", rival=rival.name, move=then)
    finding = Finding(where, expected, why.what, then)
    if why.is_coming:
        raise OnItsWay(finding, overdue=kueue_is_idle(why.what))
    raise Mismatch(go_back(finding, 5))


def require_behind(scene: Scene, lab: Facts) -> Waiting:
    """The rival waits for quota that its equal holds, or did so before it was let in."""
    job = require_rival(scene, lab)
    workload = scene.workload_of(job)
    where = say("TrainJob {job} and its Workload", job=job.name)
    expected = say("it waits: {high} has the same priority and stays", high=_high(lab))
    if workload is not None and workload.is_admitted:
        said = _waited_behind(scene, lab, workload)
        if said:
            past = say("since then {job} was let in", job=job.name)
            return Waiting(workload, said, own_words(scene, workload), past)
        raise mismatch(
            where,
            expected,
            say("it was let in, and never waited while {high} held the GPUs", high=_high(lab)),
            say(
                "delete {job}; when {high} holds all GPUs, submit it again",
                job=job.name,
                high=_high(lab),
            ),
        )
    why = explain(scene, job)
    if why.cause is Cause.QUOTA and not why.is_coming and workload is not None:
        if not job.is_suspended:
            finding = Finding(where, expected, say("spec.suspend is not true yet"), _WAIT)
            raise OnItsWay(finding, overdue=kueue_is_idle(finding.found))
        said = what_was_said(scene, workload)
        if said:
            return Waiting(workload, said, own_words(scene, workload))
        finding = Finding(where, expected, say("Kueue says nothing about it yet"), _WAIT)
        raise OnItsWay(finding)
    finding = Finding(where, expected, why.what, why.next_move)
    if why.is_coming:
        raise OnItsWay(finding, overdue=kueue_is_idle(why.what))
    raise Mismatch(finding)


def _waited_behind(scene: Scene, lab: Facts, workload: WorkloadNow) -> tuple[Said, ...]:
    """What Kueue said of a Workload while its equal held quota, as was recorded."""
    found: dict[Said, None] = {}
    for change in waiting_changes(scene.history, workload.uid):
        condition = change.condition("QuotaReserved")
        holder = holder_at(scene.history, _high(lab), change.version)
        if condition is None or lab.gpu not in condition.message:
            continue  # it waited for something else: a closed queue
        if holder and holder.count("priority") == change.count("priority"):
            found[Said(condition.reason, condition.message)] = None
    return tuple(found)


def _is_equal(scene: Scene, lab: Facts, high: WorkloadNow, rival: WorkloadNow | None) -> bool:
    """Both have one priority; while the rival has no Workload yet, its class tells."""
    if rival is not None:
        return high.priority == rival.priority
    return high.priority == dig_count(scene.priority_class(lab.rival_job.priority), "value")


def _unequal(lab: Facts, high: WorkloadNow) -> Finding:
    return Finding(
        say("TrainJob {job} and its Workload", job=_high(lab)),
        say("the same priority as {rival}", rival=lab.rival_job.name),
        say("priority {priority}, class {name}", priority=high.priority, name=high.priority_class),
        say(
            "delete {rival} and {job}, apply {file} as step 5 asks for it, then submit {rival}",
            rival=lab.rival_job.name,
            job=_high(lab),
            file=lab.high_job.manifest,
        ),
    )


def _high(lab: Facts) -> str:
    return lab.high_job.name


_WAIT = say("wait a second and check again")
