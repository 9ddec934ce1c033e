"""The waiting line of a ClusterQueue, in the order in which Kueue takes it.

Higher priority first, then the older one, then the lower uid (pkg/cache/queue/cluster_queue.go,
baseCompareFunc). An eviction for pods that did not become ready, or by an admission check, counts
as the moment of queueing (pkg/workload/workload.go, GetQueueOrderTimestamp).
"""

from __future__ import annotations

from collections.abc import Iterable

from checks.kit.paths import dig_text
from checks.watching import LocalQueueNow, QueueNow, WorkloadNow

_BY_USE = "UsageBasedAdmissionFairSharing"
_QUEUED_ANEW = ("PodsReadyTimeout", "AdmissionCheck")


def line_of(
    queue: str, local_queues: Iterable[LocalQueueNow], workloads: Iterable[WorkloadNow]
) -> list[WorkloadNow]:
    """The Workloads that wait for this ClusterQueue, the one that is tried first in front."""
    leading = {
        (one.namespace, one.name)
        for one in local_queues
        if one.cluster_queue == queue and one.stop_policy == "None"
    }
    waiting = [one for one in workloads if (one.namespace, one.queue) in leading and one.is_waiting]
    return sorted(waiting, key=order_of)


def is_by_use(queue: QueueNow) -> bool:
    """Whether use for its weight decides between LocalQueues, before priority and age.

    The mode is that of Kueue's admission fair sharing (apis/kueue/v1beta2, fairsharing_types.go).
    """
    return dig_text(queue.raw, "spec", "admissionScope", "admissionMode") == _BY_USE


def order_of(workload: WorkloadNow) -> tuple[int, str, str]:
    """What two Workloads of one line are compared by; the smaller one is tried first."""
    evicted = workload.conditions.get("Evicted")
    queued = workload.created
    if evicted is not None and evicted.is_true and evicted.reason in _QUEUED_ANEW:
        queued = evicted.since
    return -priority_of(workload), queued, workload.uid


def priority_of(workload: WorkloadNow) -> int:
    """The priority that Kueue orders by."""
    return workload.priority


def twin_among(workloads: Iterable[WorkloadNow], workload: WorkloadNow) -> WorkloadNow | None:
    """Another one in its queue that asks the same and waits, when Kueue says nothing about this.

    Kueue does not try a new Workload that equals one it has just refused (scheduling equivalence).
    """
    if "QuotaReserved" in workload.conditions:
        return None
    alike = [
        other
        for other in workloads
        if "QuotaReserved" in other.conditions  # few have it beside one that has not
        and other.uid != workload.uid
        and (other.queue, other.namespace) == (workload.queue, workload.namespace)
        and (other.amounts, priority_of(other)) == (workload.amounts, priority_of(workload))
        and other.is_waiting
    ]
    return min(alike, key=order_of, default=None)
