"""Which Workload a pod belongs to, whatever stands between them."""

from __future__ import annotations

from collections.abc import Iterable

from checks.watching import PodNow, WorkloadNow


class Belonging:
    """Finds Workloads by what they own; those that hold quota are found before others."""

    def __init__(self, workloads: Iterable[WorkloadNow]) -> None:
        ordered = sorted(workloads, key=lambda one: (one.holds_quota, one.created))
        self._by_owner = {one.owner_uid: one for one in ordered if one.owner_uid}
        self._by_name = {(one.namespace, one.name): one for one in ordered}
        self._by_uid = {one.uid: one for one in ordered}

    def workload_of(self, pod: PodNow) -> WorkloadNow | None:
        """The Workload of the pod itself, of its Job, or the one that Kueue noted on the pod.

        Kueue notes it on the pods of what it lets in through other objects, such as a JobSet's
        (kueue.x-k8s.io/workload, pkg/controller/jobframework).
        """
        for uid in (pod.uid, pod.owner_uid):
            if uid in self._by_owner:
                return self._by_owner[uid]
        return self._by_name.get((pod.namespace, pod.workload)) if pod.workload else None

    def preemptor_of(self, workload: WorkloadNow) -> WorkloadNow | None:
        """For whom a Workload had to leave that has not come back: Kueue's message has its uid."""
        evicted = workload.conditions.get("Evicted")
        if evicted is None or not evicted.is_true:
            return None
        known = (uid for uid in self._by_uid if uid and uid in evicted.message)
        return next((self._by_uid[uid] for uid in known), None)
