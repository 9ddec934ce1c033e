"""Whether chance let in the later of two Jobs that were handed in within the same second.

Kueue's line is ordered by priority, by the second of creation, and then by the Workload's uid,
which is random (pkg/cache/queue/cluster_queue.go). When the second of two equal Jobs comes before
the first was looked at, the uid alone decides, and the case did not show what it is about.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping
from itertools import permutations

from checks.history import History
from lab.casework.api import Object
from lab.casework.settling import State, is_true, owned


def handed_in(history: History, *, but: Collection[str] = ()) -> Mapping[str, int]:
    """The version of the cluster at which each Job came, by uid, but for those named.

    What nobody saw coming is not there.
    """
    first: dict[str, int] = {}
    for change in history.of("Job"):
        if change.version and not change.is_late and change.uid not in but:
            first.setdefault(change.uid, change.version)
    return first


def is_by_lot(state: State, came: Mapping[str, int]) -> bool:
    """A Job waits, and one that came after it, equal to it and in the same second, has its turn."""
    workloads = {
        job["metadata"]["uid"]: mine[0]
        for job in state["Job"]
        if (mine := owned(state["Workload"], job)) and job["metadata"]["uid"] in came
    }
    return any(
        came[first] < came[later]
        and _rank(workloads[first]) == _rank(workloads[later])
        and not is_true(workloads[first], "QuotaReserved")
        and is_true(workloads[later], "QuotaReserved")
        for first, later in permutations(workloads, 2)
    )


def _rank(workload: Object) -> tuple[object, ...]:
    """All that Kueue's order goes by before it goes by uid, and what is asked for."""
    spec = workload["spec"]
    return (
        workload["metadata"]["creationTimestamp"],
        spec.get("queueName"),
        spec.get("priority"),
        spec.get("active", True),
        [(_asked(pod_set), pod_set.get("count")) for pod_set in spec.get("podSets", [])],
    )


def _asked(pod_set: Object) -> list[object]:
    containers = pod_set["template"]["spec"].get("containers", [])
    return [container.get("resources") for container in containers]
