"""The facts of this lab, as `lab/content/kueue_quota/lab.yaml` states them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from checks.kit.cluster import Kind


@dataclass(frozen=True, slots=True)
class FlavorFacts:
    """The ResourceFlavor of step 1 and the node label that it must carry."""

    name: str
    file: str
    label_key: str
    label_value: str


@dataclass(frozen=True, slots=True)
class ClusterQueueFacts:
    """The ClusterQueue of step 2; `quota` maps a resource to its nominal quota."""

    name: str
    file: str
    quota: Mapping[str, str]


@dataclass(frozen=True, slots=True)
class LocalQueueFacts:
    """The LocalQueue of step 3."""

    name: str
    file: str


@dataclass(frozen=True, slots=True)
class FirstJobFacts:
    """The Job of step 4, which has a file of its own."""

    name: str
    file: str
    gpus: int


@dataclass(frozen=True, slots=True)
class SecondJobFacts:
    """The Job of step 5 that fills the quota."""

    name: str
    gpus: int


@dataclass(frozen=True, slots=True)
class WaitingJobFacts:
    """The Job of step 5 that waits, and the file that holds its reason."""

    name: str
    gpus: int
    file: str


@dataclass(frozen=True, slots=True)
class BypassJobFacts:
    """The Job of step 6, and the file with its two keys; `none` stands for "no Workload"."""

    name: str
    gpus: int
    file: str
    suspended_key: str
    workload_key: str
    none: str


@dataclass(frozen=True, slots=True)
class UsageFacts:
    """The file of step 7 and its three keys."""

    file: str
    admitted_key: str
    pending_key: str
    gpu_key: str


@dataclass(frozen=True, slots=True)
class Facts:
    """All of them, and the kinds that Kueue serves in the version the lab is written for."""

    api_version: str
    namespace: str
    gpu: str
    queue_label: str
    flavor: FlavorFacts
    cluster_queue: ClusterQueueFacts
    local_queue: LocalQueueFacts
    first_job: FirstJobFacts
    second_job: SecondJobFacts
    waiting_job: WaitingJobFacts
    bypass_job: BypassJobFacts
    usage: UsageFacts

    @property
    def flavor_kind(self) -> Kind:
        """ResourceFlavor."""
        return Kind("ResourceFlavor", "resourceflavors", self.api_version, is_namespaced=False)

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
