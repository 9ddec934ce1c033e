"""Typed live facts about Jobs, pods and Kueue's objects, read from the API's own JSON.

What a field means stands in Kueue's API types (apis/kueue/v1beta2: workload_types.go,
clusterqueue_types.go, localqueue_types.go) and in batch/v1.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from fractions import Fraction
from typing import ClassVar

from checks.kit.paths import dig, dig_count, dig_list, dig_map, dig_text, dig_texts
from checks.kit.quantities import sum_amounts
from checks.reasons.amounts import pod_amounts, pod_set_amounts
from checks.things import Condition, Object, Thing, common_facts, owner_of

__all__ = ["Condition", "Object", "Thing"]

QUEUE_LABEL = "kueue.x-k8s.io/queue-name"
ADMISSION_GATE = "kueue.x-k8s.io/admission"  # on pods that Kueue lets in one by one
JOB_SET_LABEL = "jobset.sigs.k8s.io/jobset-name"
_WORKLOAD_NOTE = "kueue.x-k8s.io/workload"


@dataclass(frozen=True, slots=True)
class JobNow(Thing):
    """A batch/v1 Job. `queue` is its queue label, empty without one."""

    kind: ClassVar[str] = "Job"

    queue: str
    is_suspended: bool
    ready: int
    node_selector: Mapping[str, str]

    @property
    def ended_as(self) -> str:
        """Complete or Failed when it has ended, else empty."""
        return next((kind for kind in ("Complete", "Failed") if self.is_true(kind)), "")


@dataclass(frozen=True, slots=True)
class PodNow(Thing):
    """A pod. `trouble` names why its containers do not run (CrashLoopBackOff, ErrImagePull).

    `node` is where it was placed (empty: nowhere yet), `placed` since when; `asked`: what it takes.
    `job_name` is who it was made for: its JobSet's name, its Job's, or its Deployment's. `workload`
    is the Workload that Kueue noted on it; `gates` keep the scheduler from looking at it.
    """

    owner_uid: str
    job_name: str
    workload: str
    gates: tuple[str, ...]
    phase: str
    trouble: str
    is_ready: bool
    node_selector: Mapping[str, str]
    node: str
    placed: str
    asked: Mapping[str, Fraction]

    @property
    def has_ended(self) -> bool:
        """It takes nothing of its node any more."""
        return self.phase in ("Succeeded", "Failed")


@dataclass(frozen=True, slots=True)
class WorkloadNow(Thing):
    """A Kueue Workload. `is_active`: its switch, spec.active; `amounts`: what it holds or asks."""

    owner_uid: str
    owner_name: str
    queue: str
    cluster_queue: str
    is_active: bool
    amounts: Mapping[str, Fraction]

    @property
    def priority(self) -> int:
        """The priority that Kueue orders and preempts by."""
        return dig_count(self.raw, "spec", "priority")

    @property
    def priority_class(self) -> str:
        """The class that its priority comes from, empty without one."""
        return dig_text(self.raw, "spec", "priorityClassRef", "name")

    @property
    def is_finished(self) -> bool:
        """It has ended; its reservation no longer counts, though its conditions stay True."""
        return self.is_true("Finished")

    @property
    def holds_quota(self) -> bool:
        """Quota is reserved for it and it has not ended."""
        return self.is_true("QuotaReserved") and not self.is_finished

    @property
    def is_waiting(self) -> bool:
        """It is switched on, has no quota and has not ended."""
        return self.is_active and not self.is_finished and not self.holds_quota

    @property
    def is_admitted(self) -> bool:
        """It is admitted and has not ended."""
        return self.is_true("Admitted") and not self.is_finished


@dataclass(frozen=True, slots=True)
class QueueNow(Thing):
    """A ClusterQueue. `quota`: nominal, all flavors together; `reserved`: by its own ledger."""

    stop_policy: str
    cohort: str
    flavors: tuple[str, ...]
    quota: Mapping[str, Fraction]
    reserved: Mapping[str, Fraction]
    admitted: int
    pending: int


@dataclass(frozen=True, slots=True)
class LocalQueueNow(Thing):
    """A LocalQueue and the ClusterQueue that it leads to."""

    cluster_queue: str
    stop_policy: str


@dataclass(frozen=True, slots=True)
class NodeNow(Thing):
    """A node and what it has for pods."""

    allocatable: Mapping[str, Fraction]


def read_job(raw: Object) -> JobNow:
    """A Job from the API's JSON."""
    return JobNow(
        **common_facts(raw),
        queue=dig_text(raw, "metadata", "labels", QUEUE_LABEL),
        is_suspended=dig(raw, "spec", "suspend") is True,
        ready=dig_count(raw, "status", "ready"),
        node_selector=dig_texts(raw, "spec", "template", "spec", "nodeSelector"),
    )


def read_pod(raw: Object) -> PodNow:
    """A pod from the API's JSON."""
    waiting = ""
    for status in dig_list(raw, "status", "containerStatuses"):
        reason = dig_text(status, "state", "waiting", "reason")
        if reason and reason != "ContainerCreating":
            waiting = waiting or reason
    common = common_facts(raw)
    ready, placed = (common["conditions"].get(kind) for kind in ("Ready", "PodScheduled"))
    return PodNow(
        **common,
        owner_uid=owner_of(raw)[0],
        job_name=_made_for(raw),
        workload=dig_text(raw, "metadata", "annotations", _WORKLOAD_NOTE),
        gates=tuple(dig_text(one, "name") for one in dig_list(raw, "spec", "schedulingGates")),
        phase=dig_text(raw, "status", "phase"),
        trouble=waiting,
        is_ready=ready is not None and ready.is_true,
        node_selector=dig_texts(raw, "spec", "nodeSelector"),
        node=dig_text(raw, "spec", "nodeName"),
        placed=placed.since if placed is not None and placed.is_true else "",
        asked=pod_amounts(dig_map(raw, "spec")),
    )


def _made_for(raw: Object) -> str:
    labels = dig_map(raw, "metadata", "labels")
    if name := dig_text(labels, JOB_SET_LABEL) or dig_text(labels, "batch.kubernetes.io/job-name"):
        return name
    # A Deployment names its ReplicaSets after itself and this label.
    revision = dig_text(labels, "pod-template-hash")
    return owner_of(raw)[1].removesuffix(f"-{revision}") if revision else ""


def read_node(raw: Object) -> NodeNow:
    """A node from the API's JSON."""
    return NodeNow(
        **common_facts(raw),
        allocatable=sum_amounts([dig_map(raw, "status", "allocatable")]),
    )


def read_workload(raw: Object) -> WorkloadNow:
    """A Workload from the API's JSON."""
    uid, name = owner_of(raw)
    held = [
        dig_map(item, "resourceUsage")
        for item in dig_list(raw, "status", "admission", "podSetAssignments")
    ]
    asked = [dig_map(item, "resources") for item in dig_list(raw, "status", "resourceRequests")]
    return WorkloadNow(
        **common_facts(raw),
        owner_uid=uid,
        owner_name=name,
        queue=dig_text(raw, "spec", "queueName"),
        cluster_queue=dig_text(raw, "status", "admission", "clusterQueue"),
        is_active=dig(raw, "spec", "active") is not False,
        amounts=sum_amounts(held or asked) or pod_set_amounts(dig_list(raw, "spec", "podSets")),
    )


def read_cluster_queue(raw: Object) -> QueueNow:
    """A ClusterQueue from the API's JSON."""
    flavors = [
        flavor
        for group in dig_list(raw, "spec", "resourceGroups")
        for flavor in dig_list(group, "flavors")
    ]
    quotas = [
        {dig_text(item, "name"): dig(item, "nominalQuota")}
        for flavor in flavors
        for item in dig_list(flavor, "resources")
    ]
    reserved = [
        {dig_text(item, "name"): dig(item, "total")}
        for flavor in dig_list(raw, "status", "flavorsReservation")
        for item in dig_list(flavor, "resources")
    ]
    return QueueNow(
        **common_facts(raw),
        stop_policy=dig_text(raw, "spec", "stopPolicy") or "None",
        cohort=dig_text(raw, "spec", "cohortName"),
        flavors=tuple(dig_text(flavor, "name") for flavor in flavors),
        quota=sum_amounts(quotas),
        reserved=sum_amounts(reserved),
        admitted=dig_count(raw, "status", "admittedWorkloads"),
        pending=dig_count(raw, "status", "pendingWorkloads"),
    )


def read_local_queue(raw: Object) -> LocalQueueNow:
    """A LocalQueue from the API's JSON."""
    return LocalQueueNow(
        **common_facts(raw),
        cluster_queue=dig_text(raw, "spec", "clusterQueue"),
        stop_policy=dig_text(raw, "spec", "stopPolicy") or "None",
    )
