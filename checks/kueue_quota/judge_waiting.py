"""Whether a Job waits for its turn, and what Kueue says about that."""

from __future__ import annotations

from checks.explain import Cause, explain
from checks.judging.ground import kueue_is_idle
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
