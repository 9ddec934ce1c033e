"""Step 7: a TrainJob that asks more than the quota is never let in, and nobody leaves for it.

It is deleted when its reason is known, so the recorder's history counts as well as what is there.
"""

from __future__ import annotations

from dataclasses import dataclass

from checks.gpu_preemption.facts import Facts
from checks.gpu_preemption.judge_running import require_right_train_job
from checks.gpu_preemption.on_record import fault_on_record
from checks.history import Change, newest
from checks.judging.ground import kueue_is_idle
from checks.judging.preemption import preemptions_of, preemptor_of
from checks.judging.said import own_words, what_was_said
from checks.judging.words import Said
from checks.kit.expect import OnItsWay, mismatch
from checks.kit.quantities import is_same_amount, parse_quantity
from checks.outcome import CannotTell, Finding
from checks.scene import Scene
from provision.message import Message, say


@dataclass(frozen=True, slots=True)
class Sent:
    """One TrainJob of that name, by its uid, and when it came (RFC 3339)."""

    uid: str
    created: str


@dataclass(frozen=True, slots=True)
class Attempt:
    """One TrainJob of that name: what Kueue said of its Workload, now or in the history."""

    name: str
    uid: str
    owner_uid: str
    said: tuple[Said, ...]
    own_words: str
    since: str
    is_live: bool


def require_sent(scene: Scene, lab: Facts) -> Sent:
    """The TrainJob is there as the step asks, or was.

    CannotTell when it is not there and nobody has written down what was.
    """
    big = lab.big_job
    if scene.train_job(big.name) is not None:
        job = require_right_train_job(scene, lab, big, _submit(lab))
        return Sent(job.uid, job.created)
    where = say("TrainJobs in the namespace {namespace}", namespace=scene.namespace)
    expected = say("a TrainJob {job}, now or before", job=big.name)
    seen = [c for c in scene.history.of("TrainJob", name=big.name) if not c.is_gone]
    if not seen:
        if not scene.history.changes:
            raise CannotTell(
                say("{job} is not there, and the recorder has written nothing", job=big.name),
                next_move=say("submit {job} again, and check before you delete it", job=big.name),
            )
        found = say("no TrainJob {job}, neither now nor on record", job=big.name)
        raise mismatch(where, expected, found, _submit(lab))
    faults = {change.uid: fault_on_record(scene, lab, big, change) for change in seen}
    right = [change for change in seen if faults[change.uid] is None]
    if right:
        return Sent(right[-1].uid, right[-1].created or right[-1].seen)
    last = seen[-1].uid
    found = say("one was there, but {fault}", fault=faults[last])
    raise mismatch(where, expected, found, _submit(lab))


def require_refused(scene: Scene, lab: Facts) -> Attempt:
    """Kueue said that what it asks is more than there can ever be."""
    owner = require_sent(scene, lab).uid
    job = scene.train_job(lab.big_job.name)
    workload = None if job is None else scene.workload_of(job)
    where = say("TrainJob {job} and its Workload", job=lab.big_job.name)
    expected = say("Kueue's answer to a request that is larger than the quota")
    if workload is not None:
        said = tuple(one for one in what_was_said(scene, workload) if lab.gpu in one.message)
        words = own_words(scene, workload)
        condition = workload.conditions.get("QuotaReserved")
        if said and not workload.holds_quota:
            since = workload.created if condition is None else condition.since
            return Attempt(workload.name, workload.uid, owner, said, words, since, is_live=True)
    found = _recorded(scene, lab, owner)
    if found is not None:
        return found
    if job is not None:
        nothing = say("Kueue says nothing about it yet")
        finding = Finding(where, expected, nothing, say("wait a second and check again"))
        raise OnItsWay(finding, overdue=kueue_is_idle(nothing))
    nothing = say("it was deleted before Kueue had looked at what it asks")
    if any(_had_quota(scene, lab, change) for change in _changes(scene, lab, owner)):
        nothing = say("it was deleted, and the quota was large enough for it while it was there")
    raise mismatch(
        where,
        expected,
        nothing,
        say("submit it again, read its reason, then delete it"),
    )


def require_nobody_left(scene: Scene, lab: Facts, attempt: Attempt) -> None:
    """No Workload had to leave for this TrainJob."""
    workloads = {one.uid: one.name for one in scene.workloads()}
    workloads |= {change.uid: change.name for change in scene.history.of("Workload")}
    for uid, name in workloads.items():
        for one in preemptions_of(scene, uid):
            preemptor = preemptor_of(scene, one)
            if preemptor is not None and preemptor.owner_uid == attempt.owner_uid:
                raise mismatch(
                    say("Workload {workload}", workload=name),
                    say("nobody had to leave for {job}", job=lab.big_job.name),
                    say(
                        "it had to leave for {job} at {since}",
                        job=lab.big_job.name,
                        since=one.since,
                    ),
                    say(
                        "there was room for it for a time: delete {job}, bring back the quota of "
                        "step 1, and submit it again",
                        job=lab.big_job.name,
                    ),
                )


def _recorded(scene: Scene, lab: Facts, owner: str) -> Attempt | None:
    """What Kueue said of that TrainJob's request, in the recorder's history."""
    for change in _changes(scene, lab, owner):
        condition = change.condition("QuotaReserved")
        if condition is None or condition.is_true or lab.gpu not in condition.message:
            continue
        asked = change.amounts("amounts").get(lab.gpu, "0")
        if is_same_amount(asked, _asked(lab)) and not _had_quota(scene, lab, change):
            said = (Said(condition.reason, condition.message),)
            words = f"{condition.reason} {condition.message}"
            since = condition.since
            return Attempt(change.name, change.uid, owner, said, words, since, is_live=False)
    return None


def _changes(scene: Scene, lab: Facts, owner: str) -> tuple[Change, ...]:
    """Those of the Workloads that this TrainJob had."""
    return scene.history.of("Workload", owner=lab.big_job.name, owner_uid=owner)


def _had_quota(scene: Scene, lab: Facts, change: Change) -> bool:
    """The ClusterQueue had quota enough for that TrainJob then, as was recorded."""
    queues = scene.history.of("ClusterQueue", name=lab.tenant.cluster_queue)
    queue = newest(queues, change.version)
    quota = queue.amounts("quota").get(lab.gpu, "0") if queue is not None else "0"
    return parse_quantity(quota) >= _asked(lab)


def _asked(lab: Facts) -> int:
    return lab.big_job.nodes * lab.big_job.gpus


def _submit(lab: Facts) -> Message:
    return say(
        "submit a TrainJob {job} with {nodes} nodes and the class {priority}",
        job=lab.big_job.name,
        nodes=lab.big_job.nodes,
        priority=lab.big_job.priority,
    )
