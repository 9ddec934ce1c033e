"""Why a Job does not run: one typed cause from live objects, and a sentence that says it.

Causes are decided from the objects themselves; Kueue's own reason and message are quoted, never
compared with, since their wording changes between versions.
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum

from checks.kit.proof import seconds_of
from checks.kit.quantities import show_amount
from checks.scene import Scene, amount_of
from checks.watching import JobNow, QueueNow, WorkloadNow
from provision.message import Message, say

# Reasons of QuotaReserved=False that no free quota ends (Kueue: apis/kueue/v1beta2,
# workload_types.go); only asked for when the objects themselves show no cause.
_OTHER_REASONS = (
    "NoMatchingFlavor",
    "Misconfigured",
    "Inadmissible",
    "OnHold",
    "AdmissionGated",
    "TopologyPlacementFailed",
    "DRAResourcesUnresolved",
)
_SETTLED = 3.0  # seconds; Kueue writes what it finds within one


class Cause(StrEnum):
    """The first thing that stands between a Job and its admission."""

    ENDED = "ended"
    UNQUEUED = "unqueued"
    NO_QUEUE = "no-queue"
    STOPPED = "stopped"
    INACTIVE = "inactive"
    NO_WORKLOAD = "no-workload"
    DEACTIVATED = "deactivated"
    ADMITTED = "admitted"
    NOT_COVERED = "not-covered"
    NEVER_FITS = "never-fits"
    NO_FLAVOR = "no-flavor"
    QUOTA = "quota"
    REFUSED = "refused"
    TURN = "turn"


@dataclass(frozen=True, slots=True)
class Explanation:
    """Why, in one sentence. `is_coming`: Kueue owes the next move and makes it within seconds."""

    cause: Cause
    what: Message
    is_coming: bool = False


def explain(scene: Scene, job: JobNow) -> Explanation:
    """Why this Job is not admitted, or that it is."""
    if job.ended_as:
        what = say("Job {job} is {state}", job=job.name, state=job.ended_as)
        return Explanation(Cause.ENDED, what)
    if not job.queue:
        what = say("Job {job} carries no queue label, so Kueue leaves it alone", job=job.name)
        return Explanation(Cause.UNQUEUED, what)
    blocked = _explain_queue(scene, job)
    workload = scene.workload_of(job)
    if workload is not None and workload.is_admitted:
        what = say("Workload {workload} is admitted", workload=workload.name)
        return Explanation(Cause.ADMITTED, what)
    if blocked is not None:
        return blocked
    if workload is None:
        what = say("Job {job} has no Workload yet", job=job.name)
        return Explanation(Cause.NO_WORKLOAD, what, is_coming=True)
    if not workload.is_active:
        what = say(
            "Workload {workload} of {job} has spec.active: false ({says})",
            workload=workload.name,
            job=job.name,
            says=kueue_says(workload) or "-",
        )
        return Explanation(Cause.DEACTIVATED, what)
    local = scene.local_queue(job.queue)
    queue = scene.cluster_queue(local.cluster_queue) if local else None
    return _explain_quota(scene, job, workload, queue) if queue else _turn(workload)


def kueue_says(workload: WorkloadNow) -> str:
    """The reason and the message of QuotaReserved, as the Workload has them; empty without."""
    condition = workload.conditions.get("QuotaReserved")
    return f"{condition.reason}: {condition.message}" if condition else ""


def _explain_queue(scene: Scene, job: JobNow) -> Explanation | None:
    local = scene.local_queue(job.queue)
    if local is None:
        what = say(
            "Job {job} names the LocalQueue {queue}, which does not exist in {namespace}",
            job=job.name,
            queue=job.queue,
            namespace=job.namespace,
        )
        return Explanation(Cause.NO_QUEUE, what)
    queue = scene.cluster_queue(local.cluster_queue)
    if queue is None:
        what = say(
            "LocalQueue {queue} leads to ClusterQueue {name}, which does not exist",
            queue=local.name,
            name=local.cluster_queue,
        )
        return Explanation(Cause.NO_QUEUE, what)
    for kind, holder in (("LocalQueue", local), ("ClusterQueue", queue)):
        if holder.stop_policy != "None":
            what = say(
                "{kind} {name} has stopPolicy: {policy} and admits nobody",
                kind=kind,
                name=holder.name,
                policy=holder.stop_policy,
            )
            return Explanation(Cause.STOPPED, what)
    active = queue.conditions.get("Active")
    if active is not None and not active.is_true and active.generation == queue.generation:
        what = say(
            "ClusterQueue {name} is not Active: {reason}: {message}",
            name=queue.name,
            reason=active.reason,
            message=active.message,
        )
        return Explanation(Cause.INACTIVE, what)
    return None


def _explain_quota(
    scene: Scene, job: JobNow, workload: WorkloadNow, queue: QueueNow
) -> Explanation:
    for judge in (_not_covered, _never_fits):
        if (found := judge(workload, queue)) is not None:
            return found
    if (found := _no_flavor(scene, job, workload, queue)) is not None:
        return found
    held = scene.held(queue.name)
    for resource, amount in workload.amounts.items():
        if resource not in queue.quota:
            continue
        free = queue.quota[resource] - amount_of(held, resource)
        if amount <= free:
            continue
        what = say(
            "it asks {amount} of {resource}; {free} of {quota} is free, held by {holders} ({says})",
            amount=show_amount(amount),
            resource=resource,
            free=show_amount(max(free, free * 0)),
            quota=show_amount(queue.quota[resource]),
            holders=", ".join(sorted(other.owner_name or other.name for other in held)) or "-",
            says=kueue_says(workload) or "-",
        )
        is_releasing = any(other.is_deleting for other in held)
        return Explanation(Cause.QUOTA, what, is_coming=is_releasing)
    return _refused(scene, workload) or _turn(workload)


def _refused(scene: Scene, workload: WorkloadNow) -> Explanation | None:
    """Kueue names another reason than quota, and has for a while."""
    condition = workload.conditions.get("QuotaReserved")
    if condition is None or condition.reason not in _OTHER_REASONS:
        return None
    if scene.cluster.now - seconds_of(condition.since) < _SETTLED:
        return None
    what = say("Kueue does not take it in: {says}", says=kueue_says(workload))
    return Explanation(Cause.REFUSED, what)


def _turn(workload: WorkloadNow) -> Explanation:
    what = say(
        "Workload {workload} fits into the free quota, but Kueue has not admitted it ({says})",
        workload=workload.name,
        says=kueue_says(workload) or "-",
    )
    return Explanation(Cause.TURN, what, is_coming=True)


def _not_covered(workload: WorkloadNow, queue: QueueNow) -> Explanation | None:
    missing = [r for r, amount in workload.amounts.items() if amount and r not in queue.quota]
    if not missing:
        return None
    what = say(
        "it asks {resource}, which ClusterQueue {queue} does not cover ({says})",
        resource=missing[0],
        queue=queue.name,
        says=kueue_says(workload) or "-",
    )
    return Explanation(Cause.NOT_COVERED, what)


def _never_fits(workload: WorkloadNow, queue: QueueNow) -> Explanation | None:
    if queue.cohort:
        return None
    for resource, amount in workload.amounts.items():
        quota = queue.quota.get(resource)
        if quota is not None and amount > quota:
            what = say(
                "it asks {amount} of {resource} and never fits: the quota is {quota} ({says})",
                amount=show_amount(amount),
                resource=resource,
                quota=show_amount(quota),
                says=kueue_says(workload) or "-",
            )
            return Explanation(Cause.NEVER_FITS, what)
    return None


def _no_flavor(
    scene: Scene, job: JobNow, workload: WorkloadNow, queue: QueueNow
) -> Explanation | None:
    for flavor in queue.flavors:
        labels = scene.flavor_labels(flavor) or {}
        for key, value in job.node_selector.items():
            if key in labels and labels[key] != value:
                what = say(
                    "its nodeSelector wants {key}={value}, flavor {flavor} has {label} ({says})",
                    key=key,
                    value=value,
                    flavor=flavor,
                    label=labels[key],
                    says=kueue_says(workload) or "-",
                )
                return Explanation(Cause.NO_FLAVOR, what)
    return None
