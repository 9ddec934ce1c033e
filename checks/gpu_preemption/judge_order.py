"""Step 10: two equal Jobs of two LocalQueues waited, and one of them was let in first.

Which one is certain: on v0.19.2 with the settings of lab.yaml (half-life 1 h, sampling 1 s) it was
the Job of the queue that had used nothing 20 of 20 times, whether they came a second apart or
within one; without fair admission the older one, 3 of 3 times. The numbers are read at a time of
the learner's own choosing and grow every second, so they are graded by what they can have been
(usage.py), not by one reading. Kueue takes the order of a line when the ClusterQueue is made: a
mode that is added later is stored and changes nothing (seen 3 of 3 times).
"""

from __future__ import annotations

from dataclasses import dataclass

from checks.explain import Cause, explain
from checks.gpu_preemption.facts import Facts
from checks.gpu_preemption.judge_pods import judge_job
from checks.gpu_preemption.judge_tenant import DEFAULT_WEIGHT, made_anew
from checks.gpu_preemption.usage import Span, consumed_then, span
from checks.history import seconds
from checks.judging.ground import kueue_is_idle
from checks.judging.past import last_reservation
from checks.kit.expect import OnItsWay, mismatch, spell_path
from checks.kit.paths import MISSING, dig, dig_text
from checks.kit.proof import seconds_of
from checks.kit.quantities import parse_quantity
from checks.outcome import Finding
from checks.scene import Scene
from checks.watching import JobNow, WorkloadNow
from provision.message import Message, say

_CLEAR = 1.0  # seconds that both must have waited: Kueue lets in what fits within less


@dataclass(frozen=True, slots=True)
class Entrant:
    """One of the two Jobs: its Workload, since when it stood in the line, and when it got quota.

    `came` and `entered` are in seconds since the epoch, `entered` None while it waits.
    """

    job: JobNow
    workload: WorkloadNow
    queue: str
    came: float
    entered: float | None


@dataclass(frozen=True, slots=True)
class Outcome:
    """Who came first, and since when both had stood in the line."""

    first: Entrant
    other: Entrant
    since: float


def require_exams(scene: Scene, lab: Facts) -> tuple[Entrant, Entrant]:
    """Both Jobs are there, equal but for their LocalQueue: that of training first."""
    return (
        _entrant(scene, lab, lab.order.training_job, lab.tenant.local_queue),
        _entrant(scene, lab, lab.order.research_job, lab.research.name),
    )


def require_outcome(scene: Scene, lab: Facts) -> Outcome:
    """Both waited at the same time, and one of them was let in before the other."""
    both = require_exams(scene, lab)
    entered = sorted(
        (one for one in both if one.entered is not None), key=lambda one: one.entered or 0.0
    )
    where = say("Jobs {one} and {other}", one=both[0].job.name, other=both[1].job.name)
    if not entered:
        raise _nobody(scene, where, both)
    first = entered[0]
    other = both[1] if first is both[0] else both[0]
    since = max(one.came for one in both)
    if (first.entered or 0.0) - since < _CLEAR:
        raise mismatch(
            where,
            say("both wait before one of them is let in"),
            say(
                "{first} was let in before {other} stood in the line, or with it",
                first=first.job.name,
                other=other.job.name,
            ),
            _AGAIN,
        )
    _require_open(scene, where, first, other)
    return Outcome(first, other, since)


def _require_open(scene: Scene, where: Message, first: Entrant, other: Entrant) -> None:
    """The other one could have been let in as well: nothing on record shows its queue closed.

    Nor was its Workload switched off.
    """
    queue = scene.history.when(first.entered or 0.0, "LocalQueue", other.queue)
    policy = dig_text(queue.facts, "stop") if queue is not None else ""
    changes = scene.history.of("Workload", uid=other.workload.uid)
    before = [one for one in changes if seconds(one.seen) <= (first.entered or 0.0)]
    if before and before[-1].facts.get("active") is False:
        raise mismatch(
            where,
            say("both could be let in when room was made"),
            say("the Workload of {job} was switched off then", job=other.job.name),
            _AGAIN,
        )
    if policy in ("", "None"):
        return
    raise mismatch(
        where,
        say("both could be let in when room was made"),
        say(
            "LocalQueue {queue} had stopPolicy: {policy}, so {job} could not",
            queue=other.queue,
            policy=policy,
            job=other.job.name,
        ),
        _AGAIN,
    )


def require_fair(scene: Scene, lab: Facts, outcome: Outcome) -> None:
    """Nothing shows that the LocalQueue of the one that came first had used more for its weight."""
    first = _share(scene, lab, outcome.first.queue, outcome)
    other = _share(scene, lab, outcome.other.queue, outcome)
    if first is None or other is None or first.least <= other.most:
        return
    raise mismatch(
        say("Job {job}, which came first", job=outcome.first.job.name),
        say("the Job of the LocalQueue that has used less for its weight"),
        say("the Job of {queue}, which has used more: age decided", queue=outcome.first.queue),
        made_anew(lab),
    )


def _share(scene: Scene, lab: Facts, queue: str, outcome: Outcome) -> Span | None:
    """Within what a LocalQueue's use by weight was when the first one was let in."""
    local = scene.local_queue(queue)
    moment = outcome.first.entered or 0.0
    found = span(
        consumed_then(scene.history, queue, lab.gpu),
        None,
        since=moment,
        until=moment,
        most=lab.tenant.gpus,
        half=lab.order.half_life,
    )
    if local is None or found is None:
        return None
    value = dig(local.raw, "spec", "fairSharing", "weight")
    weight = float(parse_quantity(DEFAULT_WEIGHT if value is MISSING else value))
    return Span(found.least / weight, found.most / weight)


def _entrant(scene: Scene, lab: Facts, name: str, queue: str) -> Entrant:
    job = scene.job(name)
    if job is None:
        raise mismatch(
            say("Jobs in the namespace {namespace}", namespace=scene.namespace),
            say("a Job {job}", job=name),
            say("no Job {job}", job=name),
            say("submit it in the LocalQueue {queue}", queue=queue),
        )
    labels = {lab.queue_label: queue, lab.priority_label: lab.order.priority}
    fault = judge_job(job.raw, lab, labels, lab.order.gpus)
    if fault is not None:
        raise mismatch(
            say("Job {job}, {field}", job=name, field=spell_path(fault.path)),
            fault.expected,
            fault.found,
            say("{move}; delete the Job, correct it, submit it again", move=fault.next_move),
        )
    workload = scene.workload_of(job)
    if workload is None:
        why = explain(scene, job)
        finding = Finding(
            say("Job {job} and its Workload", job=name), say("a Workload"), why.what, why.next_move
        )
        if why.is_coming:
            raise OnItsWay(finding, overdue=kueue_is_idle(why.what))
        raise mismatch(finding.looked_at, finding.expected, finding.found, finding.next_move)
    return _timed(scene, job, workload, queue)


def _timed(scene: Scene, job: JobNow, workload: WorkloadNow, queue: str) -> Entrant:
    """When it came and when it got quota: by the recorder, else by the API's own whole seconds."""
    changes = scene.history.of("Workload", uid=workload.uid)
    came = seconds(changes[0].seen) if changes else seconds_of(workload.created)
    reserved = workload.conditions.get("QuotaReserved")
    entry = last_reservation(changes)
    if reserved is None or not reserved.is_true:
        return Entrant(job, workload, queue, came, None)
    entered = seconds(entry.seen) if entry is not None else seconds_of(reserved.since)
    return Entrant(job, workload, queue, came, entered)


def _nobody(scene: Scene, where: Message, both: tuple[Entrant, Entrant]) -> Exception:
    """Both wait: for room that somebody must make, or for something else."""
    expected = say("one of them is let in, while the other waits")
    reasons = [explain(scene, one.job) for one in both]
    other = next((why for why in reasons if why.cause is not Cause.QUOTA), None)
    if other is not None:
        finding = Finding(where, expected, other.what, other.next_move)
        if other.is_coming:
            return OnItsWay(finding, overdue=kueue_is_idle(other.what))
        return mismatch(where, expected, other.what, other.next_move)
    if any(why.is_coming for why in reasons):
        return OnItsWay(Finding(where, expected, reasons[0].what, say("check again")))
    found = say("both wait; {job}: {why}", job=both[0].job.name, why=reasons[0].what)
    move = say("write down what both LocalQueues have used, then make room for one Job")
    return mismatch(where, expected, found, move)


_AGAIN = say("delete both; fill the quota, submit both, see both wait, then make room for one")
