"""What stands in the cluster now, typed, read from the lists that a run has at hand."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from fractions import Fraction

from checks.asking import JobSetNow
from checks.history import History
from checks.kit.cluster import EVENT, JOB, NODE, POD, Cluster, Kind, Object
from checks.kit.paths import dig_text, dig_texts
from checks.serving import DEPLOYMENT, REPLICA_SET, DeploymentNow, read_deployment
from checks.things import Thing, owner_of
from checks.training import JOB_SET, TRAIN_JOB, TrainJobNow, read_train_job
from checks.watching import (
    JobNow,
    LocalQueueNow,
    PodNow,
    QueueNow,
    WorkloadNow,
    read_cluster_queue,
    read_job,
    read_local_queue,
    read_pod,
    read_workload,
)

_NAMESPACE = Kind("Namespace", "namespaces", "v1", is_namespaced=False)
_POD_PRIORITY = Kind("PriorityClass", "priorityclasses", "scheduling.k8s.io/v1", False)
_LIMIT_RANGE = Kind("LimitRange", "limitranges", "v1")
# What stands between an object and the pods that are made for it, from above to below.
_BETWEEN: Mapping[type[Thing], tuple[Kind, ...]] = {
    TrainJobNow: (JOB_SET, JOB),
    JobSetNow: (JOB,),
    DeploymentNow: (REPLICA_SET,),
}


@dataclass(frozen=True, slots=True)
class EventNow:
    """One event about an object; `time` is RFC 3339."""

    uid: str
    type: str
    reason: str
    message: str
    time: str


class Scene:
    """The cluster as a lab about Kueue sees it; every answer comes from the cluster's lists."""

    def __init__(
        self, cluster: Cluster, namespace: str, api_version: str, history: History | None = None
    ) -> None:
        """`api_version` is that of Kueue's kinds, such as kueue.x-k8s.io/v1beta2."""
        self.history = history or History(None)
        self.cluster = cluster
        self.namespace = namespace
        self._workload_kind = Kind("Workload", "workloads", api_version)
        self._local_queue_kind = Kind("LocalQueue", "localqueues", api_version)
        self.queue_kind = Kind("ClusterQueue", "clusterqueues", api_version, is_namespaced=False)
        self._flavor_kind = Kind("ResourceFlavor", "resourceflavors", api_version, False)
        self._priority_kind = Kind(
            "WorkloadPriorityClass", "workloadpriorityclasses", api_version, False
        )
        self._cohort_kind = Kind("Cohort", "cohorts", api_version, is_namespaced=False)

    def job(self, name: str) -> JobNow | None:
        """The Job of that name in the lab's namespace."""
        raw = self.cluster.one(JOB, name, self.namespace)
        return None if raw is None else read_job(raw)

    def jobs(self) -> tuple[JobNow, ...]:
        """All Jobs of the lab's namespace."""
        return tuple(read_job(raw) for raw in self.cluster.all(JOB, self.namespace))

    def pods(self) -> tuple[PodNow, ...]:
        """All pods of the lab's namespace."""
        return tuple(read_pod(raw) for raw in self.cluster.all(POD, self.namespace))

    def train_job(self, name: str) -> TrainJobNow | None:
        """The TrainJob of that name in the lab's namespace."""
        raw = self.cluster.one(TRAIN_JOB, name, self.namespace)
        return None if raw is None else read_train_job(raw)

    def train_jobs(self) -> tuple[TrainJobNow, ...]:
        """All TrainJobs of the lab's namespace."""
        return tuple(read_train_job(raw) for raw in self.cluster.all(TRAIN_JOB, self.namespace))

    def deployment(self, name: str) -> DeploymentNow | None:
        """The Deployment of that name in the lab's namespace."""
        raw = self.cluster.one(DEPLOYMENT, name, self.namespace)
        return None if raw is None else read_deployment(raw)

    def pods_of(self, owner: Thing) -> tuple[PodNow, ...]:
        """The pods of a Job, a TrainJob or a Deployment, through whatever stands between them."""
        owners = {owner.uid}
        for kind in _BETWEEN.get(type(owner), ()):
            between = self.cluster.all(kind, self.namespace)
            owners = {
                dig_text(raw, "metadata", "uid") for raw in between if owner_of(raw)[0] in owners
            }
        return tuple(pod for pod in self.pods() if pod.owner_uid in owners)

    def workloads(self) -> tuple[WorkloadNow, ...]:
        """All Workloads, in every namespace."""
        return tuple(read_workload(raw) for raw in self.cluster.all(self._workload_kind))

    def workload_of(self, owner: Thing) -> WorkloadNow | None:
        """The Workload that a Job, TrainJob or pod owns; the newest when there are several."""
        owned = [w for w in self.workloads() if w.owner_uid == owner.uid]
        return max(owned, key=lambda workload: workload.created, default=None)

    def local_queue(self, name: str) -> LocalQueueNow | None:
        """The LocalQueue of that name in the lab's namespace."""
        raw = self.cluster.one(self._local_queue_kind, name, self.namespace)
        return None if raw is None else read_local_queue(raw)

    def cluster_queue(self, name: str) -> QueueNow | None:
        """The ClusterQueue of that name."""
        raw = self.cluster.one(self.queue_kind, name)
        return None if raw is None else read_cluster_queue(raw)

    def local_queues(self) -> tuple[LocalQueueNow, ...]:
        """All LocalQueues, in every namespace."""
        return tuple(read_local_queue(raw) for raw in self.cluster.all(self._local_queue_kind))

    def cluster_queues(self) -> tuple[QueueNow, ...]:
        """All ClusterQueues."""
        return tuple(read_cluster_queue(raw) for raw in self.cluster.all(self.queue_kind))

    def has_cohort_object(self, name: str) -> bool:
        """A Cohort of that name exists as an object, and may bring quota of its own."""
        return self.cluster.one(self._cohort_kind, name) is not None

    def flavor(self, name: str) -> Object | None:
        """The ResourceFlavor of that name."""
        return self.cluster.one(self._flavor_kind, name)

    def flavor_names(self) -> tuple[str, ...]:
        """The names of all ResourceFlavors."""
        return tuple(dig_text(raw, "metadata", "name") for raw in self._all(self._flavor_kind))

    def priority_class(self, name: str) -> Object | None:
        """The WorkloadPriorityClass of that name."""
        return self.cluster.one(self._priority_kind, name)

    def priority_class_names(self) -> tuple[str, ...]:
        """The names of all WorkloadPriorityClasses."""
        return tuple(dig_text(raw, "metadata", "name") for raw in self._all(self._priority_kind))

    def pod_priority_names(self) -> tuple[str, ...]:
        """The names of all PriorityClasses, which pods name, not Workloads."""
        return tuple(dig_text(raw, "metadata", "name") for raw in self._all(_POD_PRIORITY))

    def namespace_labels(self, name: str) -> dict[str, str] | None:
        """The labels of a namespace, None when there is no such namespace."""
        raw = self.cluster.one(_NAMESPACE, name)
        return None if raw is None else dict(dig_texts(raw, "metadata", "labels"))

    def limit_ranges(self) -> tuple[Object, ...]:
        """The LimitRanges of the lab's namespace."""
        return self.cluster.all(_LIMIT_RANGE, self.namespace)

    def nodes(self) -> tuple[Object, ...]:
        """All nodes."""
        return self._all(NODE)

    def all_pods(self) -> tuple[Object, ...]:
        """All pods, in every namespace."""
        return self._all(POD)

    def flavor_labels(self, name: str) -> dict[str, str] | None:
        """The node labels of a ResourceFlavor, None when there is no such flavor."""
        raw = self.cluster.one(self._flavor_kind, name)
        return None if raw is None else dict(dig_texts(raw, "spec", "nodeLabels"))

    def node_labels(self) -> tuple[dict[str, str], ...]:
        """The labels of each node."""
        nodes = self.cluster.all(NODE)
        return tuple(dict(dig_texts(raw, "metadata", "labels")) for raw in nodes)

    def events_of(self, uid: str) -> tuple[EventNow, ...]:
        """The events about one object, oldest first; the API keeps them for about an hour."""
        found = [
            EventNow(
                uid,
                dig_text(raw, "type"),
                dig_text(raw, "reason"),
                dig_text(raw, "message"),
                dig_text(raw, "eventTime") or dig_text(raw, "firstTimestamp"),
            )
            for raw in self.cluster.all(EVENT, self.namespace)
            if dig_text(raw, "involvedObject", "uid") == uid
        ]
        return tuple(sorted(found, key=lambda event: event.time))

    def _all(self, kind: Kind) -> tuple[Object, ...]:
        return self.cluster.all(kind)

    def held(self, queue: str) -> tuple[WorkloadNow, ...]:
        """The Workloads that hold quota of a ClusterQueue."""
        return tuple(w for w in self.workloads() if w.holds_quota and w.cluster_queue == queue)


def amount_of(workloads: Iterable[WorkloadNow], resource: str) -> Fraction:
    """How much of a resource these Workloads hold or ask for together."""
    return sum((w.amounts.get(resource, Fraction(0)) for w in workloads), Fraction(0))
