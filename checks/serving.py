"""A Deployment as it is now: pods that are each a Workload of their own to Kueue (apps/v1)."""

from __future__ import annotations

from dataclasses import dataclass

from checks.kit.cluster import Kind
from checks.kit.paths import MISSING, dig, dig_count, dig_text
from checks.things import Object, Thing, common_facts

DEPLOYMENT = Kind("Deployment", "deployments", "apps/v1")
REPLICA_SET = Kind("ReplicaSet", "replicasets", "apps/v1")

_QUEUE_LABEL = "kueue.x-k8s.io/queue-name"
_PRIORITY_LABEL = "kueue.x-k8s.io/priority-class"
_TEMPLATE = ("spec", "template", "metadata", "labels")


@dataclass(frozen=True, slots=True)
class DeploymentNow(Thing):
    """A Deployment. `queue` and `priority`: what its labels name, else those of its template."""

    queue: str
    priority: str
    replicas: int
    ready: int


def read_deployment(raw: Object) -> DeploymentNow:
    """A Deployment from the API's JSON."""

    def label(name: str) -> str:
        return dig_text(raw, "metadata", "labels", name) or dig_text(raw, *_TEMPLATE, name)

    replicas = dig(raw, "spec", "replicas")
    return DeploymentNow(
        **common_facts(raw),
        queue=label(_QUEUE_LABEL),
        priority=label(_PRIORITY_LABEL),
        replicas=1 if replicas is MISSING else dig_count(raw, "spec", "replicas"),
        ready=dig_count(raw, "status", "readyReplicas"),
    )
