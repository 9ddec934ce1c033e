"""Who would have to leave so that a Workload comes in: preemption inside its own ClusterQueue.

With withinClusterQueue: LowerPriority those of lower priority may be made to leave, and only when
that makes room enough (Kueue: pkg/scheduler/preemption).
"""

from __future__ import annotations

from collections.abc import Iterable
from fractions import Fraction

from checks.kit.paths import dig_text
from checks.reasons.line import priority_of
from checks.watching import QueueNow, WorkloadNow

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


def _sum(workloads: Iterable[WorkloadNow], resource: str) -> Fraction:
    return sum((one.amounts.get(resource, Fraction(0)) for one in workloads), Fraction(0))
