"""Why a Job does not run: one typed cause from live objects, and a sentence that says it.

Causes are decided from the objects themselves; Kueue's own reason and message are quoted, never
compared with, since their wording changes between versions.
"""

from __future__ import annotations

from checks.asking import PodAsking
from checks.kit.paths import dig_map, dig_text
from checks.reasons.cause import Cause, Detail, Explanation
from checks.reasons.failures import why_any_failed
from checks.reasons.labels import find_label
from checks.reasons.limits import breaks_limits, limit_source
from checks.reasons.pods import explain_pods
from checks.reasons.queues import explain_queues
from checks.reasons.quota import explain_room
from checks.reasons.replicas import explain_deployment
from checks.reasons.sharing import turn_by_use
from checks.reasons.turns import (
    behind_head,
    evicted,
    made_room_for,
    refused,
    twin_of,
    waiting_for_checks,
)
from checks.reasons.words import detail, kueue_says, quoting, there_is
from checks.scene import Scene
from checks.serving import DeploymentNow
from checks.training import Submitted
from checks.watching import QUEUE_LABEL, QueueNow, WorkloadNow
from provision.message import say

__all__ = ["Cause", "Detail", "Explanation", "explain", "explain_fully", "kueue_says"]

_PRIORITY_LABEL = "kueue.x-k8s.io/priority-class"
_DEFAULT_QUEUE = "default"  # Kueue puts this queue on unlabelled Jobs (LocalQueueDefaulting)
# Namespaces that Kueue leaves alone (managedJobsNamespaceSelector as shipped).
_EXCLUDED = ("kube-system", "kueue-system")


def explain_fully(scene: Scene, job: Submitted | DeploymentNow) -> Explanation:
    """Why this Job does not run, from its label to its containers, or that it runs."""
    if isinstance(job, DeploymentNow):
        return explain_deployment(scene, job, explain_fully)
    found = explain(scene, job)
    if (failing := job.conditions.get("FailureTarget")) is not None and not job.ended_as:
        what = say(
            "{kind} {job} has failed and ends its pods: {why}",
            kind=job.kind,
            job=job.name,
            why=failing.reason,
        )
        return Explanation(Cause.ENDED, what).told(detail("event", failing.message))
    if found.cause is Cause.ADMITTED:
        if job.is_suspended and not isinstance(job, PodAsking):
            what = say("{kind} {job} is admitted, but still suspended", kind=job.kind, job=job.name)
            return Explanation(Cause.ADMITTED, what, is_coming=True)
        return explain_pods(scene, job).told(*found.details)
    if found.cause is Cause.UNQUEUED and not job.is_suspended:
        pods = explain_pods(scene, job)
        if pods.cause is Cause.RUNNING:
            return found.told(detail("pods", pods.what))
        return pods.told(detail("also", found.what), *found.details)
    workload = scene.workload_of(job)
    if workload is None or found.cause is Cause.ENDED:
        return found
    says = kueue_says(workload)
    # Of a Workload without a queue it says that the LocalQueue of no name is not there.
    said = detail("says", says) if says and workload.queue else None
    return found.told(made_room_for(scene, workload), said, evicted(workload))


def explain(scene: Scene, job: Submitted) -> Explanation:
    """Why this Job is not admitted, or that it is: the part that checks ask about."""
    if job.ended_as:
        return _ended(scene, job)
    if job.is_deleting:
        what = say(
            "{kind} {job} is being deleted and still waits for its pods to go",
            kind=job.kind,
            job=job.name,
        )
        return Explanation(Cause.LEAVING, what)
    if job.namespace in _EXCLUDED:
        return _left_alone(job)
    if not job.queue:
        return _unqueued(scene, job)
    blocked = explain_queues(scene, job)
    workload = scene.workload_of(job)
    if workload is not None and workload.is_admitted:
        what = say("Workload {workload} is admitted", workload=workload.name)
        return Explanation(Cause.ADMITTED, what)
    if blocked is not None:
        if job.queue == _DEFAULT_QUEUE:
            return blocked.told(detail("also", _LABELLED))
        return blocked
    if workload is None:
        return _no_workload(scene, job)
    if not workload.is_active:
        what = say(
            "Workload {workload} of {job} has spec.active: false",
            workload=workload.name,
            job=job.name,
        )
        return Explanation(Cause.DEACTIVATED, quoting(what, kueue_says(workload)))
    local = scene.local_queue(job.queue)
    queue = scene.cluster_queue(local.cluster_queue) if local else None
    if queue is None:
        return _turn(workload)
    found = _explain_workload(scene, job, workload, queue)
    return found.told(turn_by_use(scene, workload, queue))


def _explain_workload(
    scene: Scene, job: Submitted, workload: WorkloadNow, queue: QueueNow
) -> Explanation:
    """Why an active Workload in an open queue is not admitted."""
    if (waits := waiting_for_checks(workload)) is not None:
        return waits
    if (broken := breaks_limits(scene, job, workload)) is not None:
        return broken
    found = explain_room(scene, job, workload, queue)
    if found is not None:
        if found.cause is Cause.NOT_COVERED:
            missing = [name for name in workload.amounts if name not in queue.quota]
            return found.told(*(limit_source(scene, job, name) for name in missing))
        return found.told(twin_of(scene, workload))
    return (
        behind_head(scene, workload, queue)
        or refused(scene, workload)
        or _turn(workload).told(twin_of(scene, workload))
    )


def _ended(scene: Scene, job: Submitted) -> Explanation:
    what = say("{kind} {job} is {state}", kind=job.kind, job=job.name, state=job.ended_as)
    condition = job.conditions[job.ended_as]
    words = ": ".join(part for part in (condition.reason, condition.message) if part)
    found = Explanation(Cause.ENDED, what)
    why = why_any_failed(scene.pods_of(job)) if job.ended_as == "Failed" else None
    if why is not None:
        what = say("{found}: {state}", found=what, state=why.what)
        found = Explanation(Cause.ENDED, what, move=why.move)
    return found.told(detail("event", words)) if words else found


def _unqueued(scene: Scene, job: Submitted) -> Explanation:
    left = scene.workload_of(job)
    if job.is_suspended and left is not None and not left.queue:
        what = say(
            "{job} carries no queue label, and Kueue holds what has none: "
            "manageJobsWithoutQueueName is on",
            job=job.name,
        )
        return Explanation(Cause.UNQUEUED, what).told(
            detail("label", find_label(job.raw, QUEUE_LABEL))
        )
    what = say(
        "{kind} {job} carries no queue label, so Kueue leaves it alone", kind=job.kind, job=job.name
    )
    found = Explanation(Cause.UNQUEUED, what).told(
        detail("label", find_label(job.raw, QUEUE_LABEL))
    )
    if left is not None:
        note = say("a Workload {workload} is left from when it was queued", workload=left.name)
        found = found.told(detail("also", note))
    if job.is_suspended:
        found = found.told(detail("also", say("spec.suspend is true, and nobody resumes it")))
    return found


def _left_alone(job: Submitted) -> Explanation:
    what = say(
        "Kueue leaves Jobs in the namespace {namespace} alone, labelled or not",
        namespace=job.namespace,
    )
    return Explanation(Cause.UNQUEUED, what, move=say("submit it in a namespace of its own"))


def _no_workload(scene: Scene, job: Submitted) -> Explanation:
    wanted = dig_text(dig_map(job.raw, "metadata", "labels"), _PRIORITY_LABEL)
    known = scene.priority_class_names() if wanted else ()
    if wanted and wanted not in known:
        what = say(
            "{kind} {job} names the WorkloadPriorityClass {name}, which does not exist",
            kind=job.kind,
            job=job.name,
            name=wanted,
        )
        held = say("it stays held and gets no Workload until there is such a class")
        return Explanation(Cause.PRIORITY, what).told(
            there_is(wanted, known), detail("also", held) if job.is_suspended else None
        )
    urgent = dig_text(job.raw, "spec", "template", "spec", "priorityClassName")
    if urgent and urgent not in (there := scene.pod_priority_names()):
        what = say(
            "{kind} {job} names the PriorityClass {name}, which does not exist",
            kind=job.kind,
            job=job.name,
            name=urgent,
        )
        move = say("create that PriorityClass, or submit the Job without priorityClassName")
        return Explanation(Cause.PRIORITY, what, move=move).told(there_is(urgent, there))
    what = say("{kind} {job} has no Workload yet", kind=job.kind, job=job.name)
    return Explanation(Cause.NO_WORKLOAD, what, is_coming=True)


def _turn(workload: WorkloadNow) -> Explanation:
    what = say(
        "Workload {workload} fits into the free quota, but Kueue has not admitted it",
        workload=workload.name,
    )
    return Explanation(Cause.TURN, quoting(what, kueue_says(workload)), is_coming=True)


_LABELLED = say("Kueue puts the LocalQueue named default on every Job without a label")
