"""What keeps a Workload that fits: the order of the line, a twin, an admission check."""

from __future__ import annotations

from checks.kit.paths import dig_count, dig_list, dig_text
from checks.kit.proof import seconds_of
from checks.reasons.cause import Cause, Detail, Explanation
from checks.reasons.quota import explain_room
from checks.reasons.words import detail, kueue_says
from checks.scene import Scene
from checks.watching import QueueNow, WorkloadNow
from provision.message import say

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


def behind_head(scene: Scene, workload: WorkloadNow, queue: QueueNow) -> Explanation | None:
    """In a StrictFIFO queue one that stands in front and does not fit keeps all others waiting."""
    if dig_text(queue.raw, "spec", "queueingStrategy") != "StrictFIFO":
        return None
    for other in sorted(_line(scene, queue), key=_order):
        if other.uid == workload.uid or _order(other) > _order(workload):
            break
        reason = explain_room(scene, None, other, queue)
        if reason is None:
            continue
        what = say(
            "{front} stands in front of it and does not fit; ClusterQueue {queue} is StrictFIFO",
            front=other.owner_name or other.name,
            queue=queue.name,
        )
        return Explanation(Cause.HEAD, what).told(detail("front", reason.what))
    return None


def twin_of(scene: Scene, workload: WorkloadNow) -> Detail | None:
    """Another one in its queue that asks the same and waits, when Kueue says nothing about this.

    Kueue does not try a new Workload that equals one it has just refused (scheduling equivalence).
    """
    if "QuotaReserved" in workload.conditions:
        return None
    for other in scene.workloads():
        is_alike = (other.queue, other.namespace) == (workload.queue, workload.namespace)
        is_equal = other.amounts == workload.amounts and _priority(other) == _priority(workload)
        if other.uid != workload.uid and is_alike and is_equal and kueue_says(other):
            if other.holds_quota or other.is_finished:
                continue
            text = say(
                "Kueue says nothing about it; of {twin}, which asks the same, it says {says}",
                twin=other.owner_name or other.name,
                says=kueue_says(other),
            )
            return detail("twin", text)
    return None


def evicted(workload: WorkloadNow) -> Detail | None:
    """That it had quota and lost it, in Kueue's words."""
    condition = workload.conditions.get("Evicted")
    if condition is None or not condition.is_true:
        return None
    return detail("evicted", f"{condition.reason}: {condition.message}")


def waiting_for_checks(workload: WorkloadNow) -> Explanation | None:
    """Quota is reserved; what it still waits for are admission checks."""
    if not workload.holds_quota:
        return None
    states = [
        f"{dig_text(one, 'name')}: {dig_text(one, 'state')}"
        for one in dig_list(workload.raw, "status", "admissionChecks")
        if dig_text(one, "state") != "Ready"
    ]
    what = say(
        "quota is reserved for it, but it waits for admission checks ({states})",
        states=", ".join(states) or "-",
    )
    return Explanation(Cause.CHECKS, what, is_coming=not states)


def refused(scene: Scene, workload: WorkloadNow) -> Explanation | None:
    """Kueue names another reason than quota, and has for a while."""
    condition = workload.conditions.get("QuotaReserved")
    if condition is None or condition.reason not in _OTHER_REASONS:
        return None
    if scene.cluster.now - seconds_of(condition.since) < _SETTLED:
        return None
    what = say("Kueue does not take it in: {says}", says=kueue_says(workload))
    return Explanation(Cause.REFUSED, what)


def _line(scene: Scene, queue: QueueNow) -> list[WorkloadNow]:
    """The Workloads that wait for this ClusterQueue."""
    leading = {
        (one.namespace, one.name)
        for one in scene.local_queues()
        if one.cluster_queue == queue.name and one.stop_policy == "None"
    }
    return [
        one
        for one in scene.workloads()
        if (one.namespace, one.queue) in leading
        and one.is_active
        and not one.is_finished
        and not one.holds_quota
    ]


def _order(workload: WorkloadNow) -> tuple[int, str]:
    return -_priority(workload), workload.created


def _priority(workload: WorkloadNow) -> int:
    return dig_count(workload.raw, "spec", "priority")
