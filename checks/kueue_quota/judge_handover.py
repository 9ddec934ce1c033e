"""Step 8's order of events: the first Job left, and the same Job that waited came in."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace

from checks.explain import Cause, explain
from checks.judging.ground import go_back
from checks.judging.past import RECORDER, Wait, find_wait, waiting_changes
from checks.kit.cluster import JOB
from checks.kit.expect import OnItsWay, mismatch, spell_path
from checks.kit.proof import rfc3339, seconds_of
from checks.kueue_quota.facts import Facts
from checks.kueue_quota.ground import require_ground
from checks.kueue_quota.history import PLAY_AGAIN
from checks.kueue_quota.judge_jobs import judge_queued_job
from checks.kueue_quota.judge_running import require_job
from checks.outcome import Evidence, Finding, Mismatch
from checks.scene import Scene
from checks.watching import JobNow, WorkloadNow
from provision.message import Message, say

Credit = Mapping[int, Sequence[Evidence]]


def require_ground_after(scene: Scene, lab: Facts) -> None:
    """The queues stand as steps 1 to 3 built them; says, too, whether the first Job is still there.

    A queue that was changed can let the waiting Job in without anybody leaving.
    """
    try:
        require_ground(scene, lab, upto=3)
    except OnItsWay:
        raise
    except Mismatch as error:
        if scene.job(lab.first_job.name) is None:
            raise
        found = say(
            "{found}; {state}", found=error.finding.found, state=_first_and_waiting(scene, lab)
        )
        raise Mismatch(replace(error.finding, found=found)) from None


def require_first_gone(scene: Scene, lab: Facts, credit: Credit) -> None:
    """The first Job is deleted, and nobody submitted it again."""
    job = scene.job(lab.first_job.name)
    if job is None:
        return
    finding = Finding(
        say("Jobs in the namespace {namespace}", namespace=lab.namespace),
        say("no Job {job}", job=job.name),
        _first_and_waiting(scene, lab),
        say("delete the Job {job}, nothing else, and submit nothing", job=job.name),
    )
    if job.is_deleting:
        raise OnItsWay(replace(finding, next_move=_WAIT_FOR_ITS_PODS))
    if _is_ending(scene, job):
        raise OnItsWay(finding)
    if _is_resubmitted(scene, lab, job, credit):
        found = say(
            "{state}: it was submitted again after its deletion (uid {uid})",
            state=finding.found,
            uid=job.uid,
        )
        raise Mismatch(replace(finding, found=found))
    waiting = scene.job(lab.waiting_job.name)
    if waiting is not None and _other_uid(credit, waiting):
        move = say(
            "check step 5 first: it was passed with another {waiting}; then delete {first}",
            waiting=waiting.name,
            first=job.name,
        )
        raise Mismatch(replace(finding, next_move=move))
    raise Mismatch(finding)


def absence(scene: Scene, lab: Facts) -> Evidence:
    """That the first Job is gone: since its deletion where that was recorded, else as read now."""
    gone = [c for c in scene.history.of(JOB.name, name=lab.first_job.name) if c.is_gone]
    return Evidence(
        kind=JOB.name,
        name=lab.first_job.name,
        namespace=lab.namespace,
        fact="deleted" if gone else "absent",
        time=gone[-1].deleting or gone[-1].seen if gone else rfc3339(scene.cluster.now),
        uid=gone[-1].uid if gone else "",
        resource_version=str(gone[-1].version or "") if gone else "",
    )


def require_same_job(scene: Scene, lab: Facts, credit: Credit) -> JobNow:
    """The waiting Job is there: the one of step 5's pass, or one that waited by itself."""
    try:
        job = require_job(scene, lab.waiting_job.name, say("step 8 begins where step 5 ends"))
    except Mismatch as error:
        raise Mismatch(go_back(error.finding, 5)) from None
    fault = judge_queued_job(job.raw, lab, lab.waiting_job.gpus)
    if fault is not None:
        raise mismatch(
            say("Job {job}, {field}", job=job.name, field=spell_path(fault.path)),
            fault.expected,
            fault.found,
            say("it runs past Kueue; make reset, and let it wait and enter by itself"),
        )
    if other := _other_uid(credit, job):
        raise mismatch(
            say("Job {job}, metadata.uid", job=job.name),
            say("uid {uid}", uid=_short(other)),
            say(
                "uid {uid}: {job} is not the Job that step 5 was passed with",
                uid=_short(job.uid),
                job=job.name,
            ),
            say(
                "bring back the situation of step 5, check step 5, then delete {first}",
                first=lab.first_job.name,
            ),
        )
    workload = scene.workload_of(job)
    has_quota = workload is not None and workload.is_true("QuotaReserved")
    if workload is not None and has_quota and not _uids(credit, job.name):
        wait = require_waited(scene, lab, job, workload, credit)
        _require_wait_before_leaving(scene, lab, job, workload, wait)
    return job


def _require_wait_before_leaving(
    scene: Scene, lab: Facts, job: JobNow, workload: WorkloadNow, wait: Wait
) -> None:
    """The Job was in the line when the first one was deleted, as far as that was recorded."""
    changes = scene.history.of(JOB.name, name=lab.first_job.name)
    leaving = [change for change in changes if change.is_gone or change.deleting]
    waits = waiting_changes(scene.history, workload.uid)
    if waits:
        is_late = all(0 < change.version < waits[0].version for change in leaving)
    else:
        since = seconds_of(wait.since) - 1  # the API's times are cut to the second
        is_late = all(seconds_of(change.deleting or change.seen) < since for change in leaving)
    if not leaving or not is_late:
        return
    raise mismatch(
        say("the recorder's history of Job {job}", job=job.name),
        say("in the line before {first} was deleted", first=lab.first_job.name),
        say(
            "uid {uid} waits since {since}; {first} was deleted at {left}",
            uid=_short(job.uid),
            since=wait.since,
            first=lab.first_job.name,
            left=leaving[-1].deleting or leaving[-1].seen,
        ),
        PLAY_AGAIN,
    )


def require_waited(
    scene: Scene, lab: Facts, job: JobNow, workload: WorkloadNow, credit: Credit
) -> Wait:
    """That the Job had waited before its admission, since when, and what that rests on."""
    wait = find_wait(scene, workload)
    if wait is not None and wait.source is RECORDER:
        return wait
    for evidence in credit.get(5, ()):
        if evidence.uid == workload.uid and evidence.fact == "QuotaReserved=False":
            return Wait(evidence.time, _PASS_OF_STEP_5)
    if wait is not None:
        return wait
    raise mismatch(
        say("Job {job} and its Workload {workload}", job=job.name, workload=workload.name),
        say("a wait before the admission: an event, a gap in time, or a pass of step 5"),
        say(
            "uid {uid}, created {created}, quota reserved {reserved}: nothing shows that it waited",
            uid=job.uid,
            created=workload.created,
            reserved=workload.conditions["QuotaReserved"].since,
        ),
        PLAY_AGAIN,
    )


def _first_and_waiting(scene: Scene, lab: Facts) -> Message:
    first = scene.job(lab.first_job.name)
    waiting = scene.job(lab.waiting_job.name)
    return say(
        "Job {first} is still there: it {how}; {waiting} {state}",
        first=lab.first_job.name,
        how=_how_it_is(scene, first),
        waiting=lab.waiting_job.name,
        state=_how_it_is(scene, waiting),
    )


def _how_it_is(scene: Scene, job: JobNow | None) -> Message:
    if job is None:
        return say("is absent")
    if job.is_deleting:
        return say("is being deleted")
    if job.ended_as:
        return say("has ended: {state}", state=job.ended_as)
    why = explain(scene, job)
    if why.cause is Cause.ADMITTED:
        return say("is admitted")
    if job.is_suspended:
        return say("waits")
    return say("runs")


def _is_ending(scene: Scene, job: JobNow) -> bool:
    """All its pods have ended, and the Job is about to be marked Complete or Failed."""
    pods = scene.pods_of(job)
    has_ended = bool(pods) and all(pod.has_ended for pod in pods)
    return has_ended and not job.ended_as


def _is_resubmitted(scene: Scene, lab: Facts, job: JobNow, credit: Credit) -> bool:
    known = _uids(credit, job.name)
    if known:
        return job.uid not in known
    waiting = scene.job(lab.waiting_job.name)
    workload = scene.workload_of(waiting) if waiting else None
    if workload is None or not workload.is_admitted:
        return False
    return seconds_of(job.created) > seconds_of(workload.conditions["Admitted"].since)


def _other_uid(credit: Credit, job: JobNow) -> str:
    """The uid with which that Job stands in the passes before, when this is another one."""
    known = _uids(credit, job.name)
    return known[-1] if known and job.uid not in known else ""


def _short(uid: str) -> str:
    return uid[:8]


def _uids(credit: Credit, job: str) -> list[str]:
    return [
        evidence.uid
        for number in sorted(credit)
        if number < 8
        for evidence in credit[number]
        if evidence.kind == "Job" and evidence.name == job and evidence.uid
    ]


_PASS_OF_STEP_5 = say("the pass of step 5 on record")
_WAIT_FOR_ITS_PODS = say("wait until it is gone: a command that hears no SIGTERM ends after 30 s")
