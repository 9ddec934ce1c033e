"""The facts of this lab, as `lab/content/gpu_preemption/lab.yaml` states them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from checks.kit.cluster import Kind


@dataclass(frozen=True, slots=True)
class FlavorFacts:
    """The ResourceFlavor that lies there from the start."""

    name: str
    label_key: str
    label_value: str


@dataclass(frozen=True, slots=True)
class TenantFacts:
    """The ClusterQueue and the LocalQueue of step 1; `gpus` is the quota, `weight` a quantity."""

    file: str
    cluster_queue: str
    gpus: int
    within: str
    reclaim: str
    strategy: str
    mode: str
    local_queue: str
    weight: str


@dataclass(frozen=True, slots=True)
class ClassesFacts:
    """The file of step 2 and the platform's classes with their values."""

    file: str
    values: Mapping[str, int]


@dataclass(frozen=True, slots=True)
class UrgentFacts:
    """The CustomWorkloadPriorityClass of step 2."""

    name: str
    value: int
    file: str


@dataclass(frozen=True, slots=True)
class BatchFacts:
    """The CustomWorkloadPriorityClass of step 3 and what is written down about it.

    Its name is taken: by the class of the scene, whose value is `taken`.
    """

    name: str
    value: int
    taken: int
    manifest: str
    file: str
    ready_key: str
    reason_key: str


@dataclass(frozen=True, slots=True)
class LowJobFacts:
    """The TrainJob of step 4; each of its `nodes` asks `gpus` GPUs."""

    name: str
    priority: str
    nodes: int
    gpus: int
    manifest: str


@dataclass(frozen=True, slots=True)
class HighJobFacts:
    """The TrainJob of step 5, and the two files about whom it preempts, with their keys."""

    name: str
    priority: str
    nodes: int
    gpus: int
    manifest: str
    evicted: str
    evicted_key: str
    preempted_key: str
    message_key: str
    preemptor: str
    job_uid_key: str
    workload_key: str


@dataclass(frozen=True, slots=True)
class OtherJobFacts:
    """A TrainJob of step 6 or 7, and the file that holds its reason."""

    name: str
    priority: str
    nodes: int
    gpus: int
    file: str


@dataclass(frozen=True, slots=True)
class ServiceFacts:
    """The Deployment of step 8, and the file about its pods with its keys."""

    name: str
    priority: str
    replicas: int
    gpus: int
    manifest: str
    file: str
    gate_key: str
    pods_key: str


@dataclass(frozen=True, slots=True)
class RefusedFacts:
    """The TrainJob that the API refuses in step 9: by which annotation or label."""

    name: str
    file: str
    annotation: str
    label: str


@dataclass(frozen=True, slots=True)
class OrphanFacts:
    """The Job of step 9 whose class is gone."""

    name: str
    gpus: int


@dataclass(frozen=True, slots=True)
class ResearchFacts:
    """The second LocalQueue, of step 10."""

    name: str
    weight: str
    manifest: str


@dataclass(frozen=True, slots=True)
class OrderFacts:
    """The two equal Jobs of step 10, and the file about who came first, with its keys.

    `half_life` is Kueue's usageHalfLifeTime in seconds.
    """

    file: str
    training_job: str
    research_job: str
    gpus: int
    priority: str
    first_key: str
    consumed_key: str
    weight_key: str
    half_life: int


@dataclass(frozen=True, slots=True)
class Facts:
    """All of them, and the kinds that are served in the versions the lab is written for."""

    api_version: str
    namespace: str
    gpu: str
    queue_label: str
    priority_label: str
    job_uid_label: str
    runtime: str
    flavor: FlavorFacts
    tenant: TenantFacts
    classes: ClassesFacts
    custom_api_version: str
    urgent: UrgentFacts
    batch: BatchFacts
    low_job: LowJobFacts
    high_job: HighJobFacts
    rival_job: OtherJobFacts
    big_job: OtherJobFacts
    service: ServiceFacts
    refused: RefusedFacts
    orphan: OrphanFacts
    research: ResearchFacts
    order: OrderFacts

    @property
    def cluster_queue_kind(self) -> Kind:
        """ClusterQueue."""
        return Kind("ClusterQueue", "clusterqueues", self.api_version, is_namespaced=False)

    @property
    def local_queue_kind(self) -> Kind:
        """LocalQueue."""
        return Kind("LocalQueue", "localqueues", self.api_version)

    @property
    def workload_kind(self) -> Kind:
        """Kueue's Workload (Kubernetes has a kind of that name in another group)."""
        return Kind("Workload", "workloads", self.api_version)

    @property
    def class_kind(self) -> Kind:
        """Kueue's WorkloadPriorityClass."""
        return Kind("WorkloadPriorityClass", "workloadpriorityclasses", self.api_version, False)

    @property
    def custom_class_kind(self) -> Kind:
        """The platform's CustomWorkloadPriorityClass."""
        return Kind(
            "CustomWorkloadPriorityClass", "customworkloadpriorityclasses", self.custom_api_version
        )
