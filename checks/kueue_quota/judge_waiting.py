"""Whether a Job waits for its turn, and what Kueue says about that."""

from __future__ import annotations

import json

from checks.explain import Cause, explain
from checks.judging.ground import kueue_is_idle
from checks.judging.words import Said
from checks.kit.expect import OnItsWay, mismatch
from checks.kit.paths import dig_texts
from checks.kueue_quota.facts import Facts
from checks.outcome import Finding
from checks.reasons.nodes import lacking_labels
from checks.scene import Scene
from checks.watching import JobNow, WorkloadNow
from provision.message import Message, say


def require_waiting(scene: Scene, lab: Facts, job: JobNow) -> WorkloadNow:
    """The Job is suspended and its Workload waits for quota that others hold."""
    why = explain(scene, job)
    workload = scene.workload_of(job)
    where = say("Job {job} and its Workload", job=job.name)
    expected = say("{job} waits: suspended, not admitted, for quota", job=job.name)
    if why.cause is Cause.QUOTA and workload is not None and job.is_suspended:
        _require_a_node(scene, job)
        return workload
    if why.cause is Cause.ADMITTED:
        found, move = _let_in(scene, lab, job)
        raise mismatch(where, expected, found, move)
    if why.is_coming or why.cause is Cause.QUOTA:
        finding = Finding(where, expected, why.what, say("wait a second and check again"))
        raise OnItsWay(finding, overdue=kueue_is_idle(why.what))
    raise mismatch(
        where,
        expected,
        say("it waits for something else: {why}", why=why.what),
        say("see what differs from {other}", other=lab.first_job.name),
    )


def _require_a_node(scene: Scene, job: JobNow) -> None:
    """Some node has the labels that the Job asks for, or its turn would be of no use to it."""
    asked = dig_texts(job.raw, "spec", "template", "spec", "nodeSelector")
    nodes = scene.node_labels() if asked else ()
    lacking = lacking_labels(asked, nodes)
    if nodes and lacking:
        raise mismatch(
            say("Job {job}, {field}", job=job.name, field="spec.template.spec.nodeSelector"),
            say("labels that a node has, or no nodeSelector"),
            say(
                "{label}, which no node has",
                label=", ".join(f"{key}={value}" for key, value in lacking.items()),
            ),
            say("it would stay Pending once admitted: delete it, correct it, submit it again"),
        )


def what_was_said(scene: Scene, workload: WorkloadNow) -> tuple[Said, ...]:
    """Reason and message of QuotaReserved=False, now and in the events that are left.

    A Workload that equals one already waiting gets no condition of its own (Kueue's scheduling
    equivalence): then the words are those of the others in its queue.
    """
    own = _conditions(workload) + [
        Said(event.reason, event.message)
        for event in scene.events_of(workload.uid)
        if event.type == "Warning"
    ]
    if own:
        return tuple(own)
    twins = [w for w in scene.workloads() if w.queue == workload.queue and not w.holds_quota]
    return tuple(said for twin in twins for said in _conditions(twin))


def whose_text(scene: Scene, workload: WorkloadNow, text: str) -> str:
    """The other Workload that a text is about: it is named there, and this one is not.

    A twin speaks for a Workload about which Kueue says nothing itself. Empty when it is about none.
    """
    is_silent = "QuotaReserved" not in workload.conditions
    if is_silent or workload.name in text or workload.owner_name in text:
        return ""
    others = [one.name for one in scene.workloads() if one.uid != workload.uid]
    return next((name for name in sorted(others) if name in text), "")


def without_others(scene: Scene, workload: WorkloadNow, text: str) -> str:
    """A text that names this Workload, without the lines that name another one (lists, events)."""
    others = [one.name for one in scene.workloads() if one.uid != workload.uid]
    if workload.name not in text or not any(name in text for name in others):
        return text
    lines = text.split("\n")
    return "\n".join("" if any(name in line for name in others) else line for line in lines)


def own_words(scene: Scene, workload: WorkloadNow) -> str:
    """All that the Workload's status and its events say, in one text."""
    events = [f"{event.reason} {event.message}" for event in scene.events_of(workload.uid)]
    return "\n".join([json.dumps(workload.raw.get("status", {})), *events])


def _conditions(workload: WorkloadNow) -> list[Said]:
    condition = workload.conditions.get("QuotaReserved")
    if condition is None or condition.is_true:
        return []
    return [Said(condition.reason, condition.message)]


def _let_in(scene: Scene, lab: Facts, job: JobNow) -> tuple[Message, Message]:
    queue = scene.cluster_queue(lab.cluster_queue.name)
    if queue is not None and queue.cohort:
        return (
            say(
                "{job} is admitted: ClusterQueue {queue} is in the cohort {cohort} and borrows",
                job=job.name,
                queue=queue.name,
                cohort=queue.cohort,
            ),
            say("take spec.cohortName out, delete {job} and submit it again", job=job.name),
        )
    holders = ", ".join(sorted(w.owner_name for w in scene.held(lab.cluster_queue.name)))
    return (
        say("{job} is admitted; quota is held by {holders}", job=job.name, holders=holders),
        say(
            "delete {job}, and submit it when {first} and {second} hold the quota",
            job=job.name,
            first=lab.first_job.name,
            second=lab.second_job.name,
        ),
    )
