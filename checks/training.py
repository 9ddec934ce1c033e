"""A TrainJob as it is now: a training of several nodes, each a pod, made through a JobSet.

What a field means stands in Kubeflow Trainer's API types (trainer.kubeflow.org/v1alpha1,
trainjob_types.go). Trainer makes a JobSet of the TrainJob's name, JobSet a Job for each of its
parts, and the Job the pods.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from fractions import Fraction
from typing import ClassVar

from checks.asking import JobSetNow, PodAsking
from checks.kit.cluster import Kind
from checks.kit.paths import dig, dig_count, dig_map, dig_text
from checks.kit.quantities import sum_amounts
from checks.things import Object, Thing, common_facts
from checks.watching import JobNow

TRAIN_JOB = Kind("TrainJob", "trainjobs", "trainer.kubeflow.org/v1alpha1")
JOB_SET = Kind("JobSet", "jobsets", "jobset.x-k8s.io/v1alpha2")

_QUEUE_LABEL = "kueue.x-k8s.io/queue-name"
_PRIORITY_LABEL = "kueue.x-k8s.io/priority-class"


@dataclass(frozen=True, slots=True)
class TrainJobNow(Thing):
    """A TrainJob. `queue` and `priority`: what its labels name, empty without one.

    `nodes` is how many pods it has (spec.trainer.numNodes, 1 when it says nothing), `per_node` what
    each of them asks.
    """

    kind: ClassVar[str] = "TrainJob"

    queue: str
    priority: str
    is_suspended: bool
    nodes: int
    per_node: Mapping[str, Fraction]

    @property
    def node_selector(self) -> Mapping[str, str]:
        """What its pods ask of a node: the runtime says it, not the TrainJob."""
        return {}

    @property
    def ended_as(self) -> str:
        """Complete or Failed when it has ended, else empty."""
        return next((kind for kind in ("Complete", "Failed") if self.is_true(kind)), "")


# What Kueue lets in as a whole, by spec.suspend or a pod's gate.
Submitted = JobNow | TrainJobNow | JobSetNow | PodAsking


def read_train_job(raw: Object) -> TrainJobNow:
    """A TrainJob from the API's JSON."""
    asked = dig_map(raw, "spec", "trainer", "resourcesPerNode")
    return TrainJobNow(
        **common_facts(raw),
        queue=dig_text(raw, "metadata", "labels", _QUEUE_LABEL),
        priority=dig_text(raw, "metadata", "labels", _PRIORITY_LABEL),
        is_suspended=dig(raw, "spec", "suspend") is True,
        nodes=dig_count(raw, "spec", "trainer", "numNodes") or 1,
        per_node=sum_amounts([{**dig_map(asked, "limits"), **dig_map(asked, "requests")}]),
    )
