"""A cluster for the tests of `lab why`: manifests by keyword, a place to ask, and fast cleaning."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from checks.inquiry import Answer, inquire
from checks.reasons.cause import Cause
from provision.message import Message, say
from provision.waiting import wait_until
from tests.integration.places import TestPlace

KUEUE = "kueue.x-k8s.io/v1beta2"
LABEL = "kueue.x-k8s.io/queue-name"
GPU = "nvidia.com/gpu"
PRESENT = {"nvidia.com/gpu.present": "true"}
IN_NAMESPACES = "jobs,deployments,pods,limitranges,resourcequotas,localqueues.kueue.x-k8s.io"
AT_LARGE = ",".join(
    f"{kind}.kueue.x-k8s.io"
    for kind in (
        *("clusterqueues", "resourceflavors", "workloadpriorityclasses"),
        *("cohorts", "admissionchecks"),
    )
)
Manifest = dict[str, Any]


def thing(kind: str, name: str, spec: Any, version: str = KUEUE, **metadata: Any) -> Manifest:
    found = {"apiVersion": version, "kind": kind, "metadata": {"name": name, **metadata}}
    return found if spec is None else {**found, "spec": spec}


def flavor(
    name: str = "fake-gpu", labels: Mapping[str, str] | None = None, **spec: Any
) -> Manifest:
    return thing("ResourceFlavor", name, {"nodeLabels": labels or PRESENT, **spec})


def cluster_queue(
    name: str = "team-a",
    quota: Mapping[str, str] | None = None,
    flavors: Mapping[str, Mapping[str, str]] | None = None,
    **spec: Any,
) -> Manifest:
    amounts = quota or {"cpu": "2", "memory": "2Gi", GPU: "2"}
    chosen = flavors or {"fake-gpu": amounts}
    group = {
        "coveredResources": list(next(iter(chosen.values()))),
        "flavors": [
            {
                "name": one,
                "resources": [{"name": r, "nominalQuota": q} for r, q in limits.items()],
            }
            for one, limits in chosen.items()
        ],
    }
    return thing("ClusterQueue", name, {"namespaceSelector": {}, "resourceGroups": [group], **spec})


def local_queue(name: str = "lq", to: str = "team-a", namespace: str = "team-a", **spec: Any):
    return thing("LocalQueue", name, {"clusterQueue": to, **spec}, namespace=namespace)


def job(
    name: str = "train-1",
    gpus: int | str = 1,
    *,
    labels: Mapping[str, str] | None = None,
    namespace: str = "team-a",
    amounts: Mapping[str, Any] | None = None,
    command: str = "sleep 99999",
    job_spec: Mapping[str, Any] | None = None,
    pod_labels: Mapping[str, str] | None = None,
    metadata: Mapping[str, Any] | None = None,
    **pod_spec: Any,
) -> Manifest:
    """A Job of one pod; `labels` replace the queue label, other keywords go into its pod's spec."""
    asked = {GPU: gpus, "cpu": "100m", "memory": "64Mi"} if amounts is None else amounts
    container = {
        "name": "main",
        "image": "busybox:1.36",
        "command": ["sh", "-c", command],
        "resources": {"limits": asked},
    }
    template = {"spec": {"restartPolicy": "Never", "containers": [container], **pod_spec}}
    if pod_labels:
        template["metadata"] = {"labels": pod_labels}
    spec = {"backoffLimit": 0, "template": template, **(job_spec or {})}
    own = {LABEL: "lq"} if labels is None else dict(labels)
    more = {"namespace": namespace, "labels": own, **(metadata or {})}
    return thing("Job", name, spec, "batch/v1", **more)


QUEUES = (flavor(), cluster_queue(), local_queue())


@dataclass
class World:
    """One place that is up; each test starts from an empty cluster with one open node."""

    place: TestPlace
    frozen: list[tuple[str, str]] = field(default_factory=list)

    def apply(self, *manifests: Manifest) -> None:
        """Submit manifests in their order."""
        items = {"apiVersion": "v1", "kind": "List", "items": list(manifests)}
        self.place.kubectl("apply", "-f", "-", stdin=json.dumps(items))

    def run(self, command: str) -> str:
        """kubectl in the lab's namespace; its words are separated by spaces."""
        return self.place.kubectl("-n", "team-a", *command.split())

    def patch(self, what: str, patch: object, *more: str) -> None:
        kind, _, name = what.partition("/")
        text = json.dumps(patch)
        self.place.kubectl(
            *("-n", "team-a", "patch", kind, name, "--type=merge", "-p", text), *more
        )

    def freeze(self, kind: str, name: str) -> None:
        """A finalizer that keeps an object from going; cleaning takes it off."""
        self.frozen.append((kind, name))
        self.patch(f"{kind}/{name}", {"metadata": {"finalizers": ["lab.test/kept"]}})

    def ask(self, name: str, namespace: str = "") -> Answer:
        """Why, through the account that cannot write."""
        return inquire(
            self.place.home / "grader.kubeconfig",
            name,
            namespaces=(namespace,) if namespace else ("team-a",),
            api_version=KUEUE,
            only=bool(namespace),
        )

    def why(self, name: str, cause: Cause, namespace: str = "") -> str:
        """All that is told once the cause is the one named, twice in a row."""
        told: list[Answer] = []

        def missing() -> Message | None:
            answer = self.ask(name, namespace)
            if answer.why.cause is not cause:
                told.clear()
                return say("{cause}: {what}", cause=answer.why.cause, what=answer.why.what)
            told.append(answer)
            return None if len(told) > 1 else say("once only")

        wait_until(missing, within=15, every=0.4)
        why = told[-1].why
        details = [f"{one.key}: {one.text}" for one in why.details]
        return "\n".join([str(why.what), *details, f"next: {why.next_move}"])

    def wait(self, name: str, *causes: Cause) -> None:
        """Until a Job is where one of these causes says."""

        def missing() -> Message | None:
            found = self.ask(name).why
            return None if found.cause in causes else say("{what}", what=found.what)

        wait_until(missing, within=15, every=0.2)

    def clean(self) -> None:
        """Everything that tests make goes; the node is opened again."""
        for kind, name in self.frozen:
            self.place.run("-n", "team-a", "patch", kind, name, "--type=json", "-p", _FREE)
        self.frozen.clear()
        node = "gpu-node-0"
        self.place.kubectl("uncordon", node)
        self.place.run("taint", "nodes", node, "lab-test-")
        self.place.kubectl("label", "node", node, "nvidia.com/gpu.present=true", "--overwrite")
        gone = ("--all", "--ignore-not-found", "--timeout=30s")
        self.place.kubectl("delete", IN_NAMESPACES, "-A", "--grace-period=1", *gone)
        self.place.run("delete", "workloads.kueue.x-k8s.io", "-A", *gone)
        self.place.kubectl("delete", AT_LARGE, *gone)


_FREE = json.dumps([{"op": "remove", "path": "/metadata/finalizers"}])
