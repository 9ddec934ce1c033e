"""What keeps a Workload that fits: the order of the line, a twin, an admission check."""

from __future__ import annotations

from checks.belonging import Belonging
from checks.kit.paths import dig_list, dig_text
from checks.kit.proof import seconds_of
from checks.reasons.cause import Cause, Detail, Explanation
from checks.reasons.line import is_by_use, line_of, order_of, twin_among
from checks.reasons.preempting import show_priority
from checks.reasons.quota import explain_room
from checks.reasons.words import detail, kueue_says
from checks.scene import Scene
from checks.watching import QueueNow, WorkloadNow
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


def behind_head(scene: Scene, workload: WorkloadNow, queue: QueueNow) -> Explanation | None:
    """In a StrictFIFO queue one that stands in front and does not fit keeps all others waiting."""
    if dig_text(queue.raw, "spec", "queueingStrategy") != "StrictFIFO":
        return None
    for other in line_of(queue.name, scene.local_queues(), scene.workloads()):
        if other.uid == workload.uid or order_of(other) > order_of(workload):
            break
        if is_by_use(queue) and other.queue != workload.queue:
            continue  # use decides between LocalQueues: it may stand behind
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
    """Another one that asks the same and waits, when Kueue says nothing about this one."""
    twin = twin_among(scene.workloads(), workload)
    return None if twin is None else detail("twin", twin_says(twin))


def twin_says(twin: WorkloadNow) -> Message:
    """That Kueue says nothing about one, and what it says about its twin."""
    return say(
        "Kueue says nothing about it; of {twin}, which asks the same, it says {says}",
        twin=twin.owner_name or twin.name,
        says=kueue_says(twin),
    )


def evicted(workload: WorkloadNow) -> Detail | None:
    """That it had quota and lost it, in Kueue's words."""
    condition = workload.conditions.get("Evicted")
    if condition is None or not condition.is_true:
        return None
    return detail("evicted", f"{condition.reason}: {condition.message}")


def made_room_for(scene: Scene, workload: WorkloadNow) -> Detail | None:
    """For whom it had to leave: the object behind the uids of Kueue's message."""
    winner = Belonging(scene.workloads()).preemptor_of(workload)
    if winner is None:
        return None
    owner = next(iter(dig_list(winner.raw, "metadata", "ownerReferences")), {})
    told = say(
        "{kind} {name}, priority {theirs}; this one has {own}, and waits again",
        kind=dig_text(owner, "kind") or "Workload",
        name=winner.owner_name or winner.name,
        theirs=show_priority(winner),
        own=show_priority(workload),
    )
    return detail("preemptor", told)


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
