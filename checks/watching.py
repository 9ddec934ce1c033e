"""Typed live facts about Jobs, pods and Kueue's objects, read from the API's own JSON.

What a field means stands in Kueue's API types (apis/kueue/v1beta2: workload_types.go,
clusterqueue_types.go, localqueue_types.go) and in batch/v1.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from fractions import Fraction
from typing import Any

from checks.kit.paths import dig, dig_count, dig_list, dig_map, dig_text, dig_texts
from checks.kit.quantities import sum_amounts
from checks.reasons.amounts import pod_set_amounts

Object = Mapping[str, object]

QUEUE_LABEL = "kueue.x-k8s.io/queue-name"


@dataclass(frozen=True, slots=True)
class Condition:
    """One condition of an object; `since` is its last transition, RFC 3339."""

    type: str
    status: str
    reason: str
    message: str
    since: str
    generation: int

    @property
    def is_true(self) -> bool:
        """Its status is True."""
        return self.status == "True"


@dataclass(frozen=True, slots=True)
class Thing:
    """What every live object has. `raw` is the API's JSON, for evidence."""

    name: str
    namespace: str
    uid: str
    created: str
    generation: int
    is_deleting: bool
    conditions: Mapping[str, Condition]
    raw: Object = field(repr=False, compare=False)

    def is_true(self, condition: str) -> bool:
        """It has that condition, and it is True."""
        return condition in self.conditions and self.conditions[condition].is_true


@dataclass(frozen=True, slots=True)
class JobNow(Thing):
    """A batch/v1 Job. `queue` is its queue label, empty without one."""

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
    """A pod. `trouble` names why its containers do not run (CrashLoopBackOff, ErrImagePull)."""

    owner_uid: str
    job_name: str
    phase: str
    trouble: str
    is_ready: bool
    node_selector: Mapping[str, str]


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
    def is_finished(self) -> bool:
        """It has ended; its reservation no longer counts, though its conditions stay True."""
        return self.is_true("Finished")

    @property
    def holds_quota(self) -> bool:
        """Quota is reserved for it and it has not ended."""
        return self.is_true("QuotaReserved") and not self.is_finished

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


def read_job(raw: Object) -> JobNow:
    """A Job from the API's JSON."""
    return JobNow(
        **_common(raw),
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
    common = _common(raw)
    ready = common["conditions"].get("Ready")
    return PodNow(
        **common,
        owner_uid=_owner(raw)[0],
        job_name=dig_text(raw, "metadata", "labels", "batch.kubernetes.io/job-name"),
        phase=dig_text(raw, "status", "phase"),
        trouble=waiting,
        is_ready=ready is not None and ready.is_true,
        node_selector=dig_texts(raw, "spec", "nodeSelector"),
    )


def read_workload(raw: Object) -> WorkloadNow:
    """A Workload from the API's JSON."""
    uid, name = _owner(raw)
    held = [
        dig_map(item, "resourceUsage")
        for item in dig_list(raw, "status", "admission", "podSetAssignments")
    ]
    asked = [dig_map(item, "resources") for item in dig_list(raw, "status", "resourceRequests")]
    return WorkloadNow(
        **_common(raw),
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
        **_common(raw),
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
        **_common(raw),
        cluster_queue=dig_text(raw, "spec", "clusterQueue"),
        stop_policy=dig_text(raw, "spec", "stopPolicy") or "None",
    )


def _common(raw: Object) -> Any:  # noqa: ANN401
    conditions = [
        Condition(
            type=dig_text(item, "type"),
            status=dig_text(item, "status"),
            reason=dig_text(item, "reason"),
            message=dig_text(item, "message"),
            since=dig_text(item, "lastTransitionTime"),
            generation=dig_count(item, "observedGeneration"),
        )
        for item in dig_list(raw, "status", "conditions")
    ]
    return {
        "name": dig_text(raw, "metadata", "name"),
        "namespace": dig_text(raw, "metadata", "namespace"),
        "uid": dig_text(raw, "metadata", "uid"),
        "created": dig_text(raw, "metadata", "creationTimestamp"),
        "generation": dig_count(raw, "metadata", "generation"),
        "is_deleting": bool(dig_text(raw, "metadata", "deletionTimestamp")),
        "conditions": {condition.type: condition for condition in conditions},
        "raw": raw,
    }


def _owner(raw: Object) -> tuple[str, str]:
    for reference in dig_list(raw, "metadata", "ownerReferences"):
        if dig(reference, "controller") is True:
            return dig_text(reference, "uid"), dig_text(reference, "name")
    return "", ""
