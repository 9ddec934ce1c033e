"""Who would have to leave so that a Workload comes in: preemption inside its own ClusterQueue.

With withinClusterQueue: LowerPriority those of lower priority may be made to leave, and only when
that makes room enough (Kueue: pkg/scheduler/preemption).
"""

from __future__ import annotations

from collections.abc import Iterable
from fractions import Fraction

from checks.kit.paths import dig_text
from checks.reasons.cause import Detail
from checks.reasons.line import priority_of
from checks.reasons.words import detail, names_of
from checks.watching import QueueNow, WorkloadNow
from provision.message import say

_POLICIES = ("LowerPriority", "LowerOrNewerEqualPriority")


def lower_holders(
    holders: Iterable[WorkloadNow], workload: WorkloadNow, queue: QueueNow
) -> tuple[WorkloadNow, ...]:
    """Of these holders of quota those that this Workload may make leave."""
    if dig_text(queue.raw, "spec", "preemption", "withinClusterQueue") not in _POLICIES:
        return ()
    rank = priority_of(workload)
    return tuple(
        one for one in holders if one.cluster_queue == queue.name and priority_of(one) < rank
    )


def makes_room(
    holders: Iterable[WorkloadNow], workload: WorkloadNow, queue: QueueNow, resource: str
) -> bool:
    """Whether those of lower priority hold enough of a resource, with what is free of it."""
    everybody = tuple(holders)
    taken = _sum(everybody, resource) - _sum(lower_holders(everybody, workload, queue), resource)
    asked = workload.amounts.get(resource, Fraction(0))
    return taken + asked <= queue.quota.get(resource, Fraction(0))


def who_stays(
    holders: Iterable[WorkloadNow], workload: WorkloadNow, queue: QueueNow
) -> Detail | None:
    """Why those who hold the quota do not have to leave, where those of lower priority have to."""
    if dig_text(queue.raw, "spec", "preemption", "withinClusterQueue") != "LowerPriority":
        return None
    unique = {one.uid: one for one in holders if one.cluster_queue == queue.name}
    lower = {one.uid for one in lower_holders(unique.values(), workload, queue)}
    stay = [one for one in unique.values() if one.uid not in lower]
    if not stay:
        return None
    told = say(
        "it has {own}, and only a lower one has to leave: {holders}",
        own=show_priority(workload),
        holders=names_of(f"{one.owner_name or one.name} {show_priority(one)}" for one in stay),
    )
    return detail("priority", told)


def show_priority(workload: WorkloadNow) -> str:
    """Its priority, with the class in brackets when it comes from one."""
    name = workload.priority_class
    return f"{workload.priority} ({name})" if name else str(workload.priority)


def _sum(workloads: Iterable[WorkloadNow], resource: str) -> Fraction:
    return sum((one.amounts.get(resource, Fraction(0)) for one in workloads), Fraction(0))
