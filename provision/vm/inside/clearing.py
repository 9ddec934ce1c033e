"""The cluster part of a reset inside the machine: everything that a learner may have made goes.

ClusterQueues go before the namespaces with their LocalQueues: Kueue before 0.20.7 never lets go of
a ClusterQueue whose LocalQueue went first (kueue #18975). Pods end at once: a bare `sleep` as the
first process of a container would hear no SIGTERM and take 30 s.
"""

from __future__ import annotations

import json
import time
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from functools import partial

from provision.errors import TargetError, TimedOut
from provision.message import Message, say
from provision.target import Progress, Tell
from provision.vm.kubectl import Kubectl
from provision.waiting import wait_until

# Namespaces of the cluster and of its parts; all others are the lab's or the learner's.
KEPT = frozenset(
    {"default", "kube-system", "kube-public", "kube-node-lease", "kueue-system", "gpu-operator"}
) | {"jobset-system", "kubeflow-system"}
# Of labs with parts: what makes Jobs anew while it is there, and what a controller has to let go.
ENDED_FIRST = (
    *("trainjobs.trainer.kubeflow.org", "jobsets.jobset.x-k8s.io"),
    "customworkloadpriorityclasses.kakaocloud.io",
)
OWNERS = "cronjobs,jobs,deployments,statefulsets,daemonsets,replicasets,replicationcontrollers"
# What Kueue keeps for a whole cluster, in the order in which nothing waits for anything.
QUEUES = (
    *("clusterqueues", "cohorts", "resourceflavors", "admissionchecks", "topologies"),
    "workloadpriorityclasses",
)
KUEUE = "kueue.x-k8s.io"
CLEAR_SECONDS = 120.0
QUEUE_SECONDS = 60.0


@dataclass(frozen=True, slots=True)
class Clearing:
    """One reset of a cluster; `namespaces` are the lab's, made anew and empty.

    `kinds` of objects go before Jobs do.
    """

    kubectl: Kubectl
    namespaces: tuple[str, ...]
    tell: Tell
    started: float
    kinds: tuple[str, ...] = ()

    def run(self) -> None:
        """Take out what was made; TargetError when something does not go in time."""
        self._delete(f"clusterqueues.{KUEUE}")  # they admit nobody from now on
        self._stage(say("taking out Jobs and pods"), self._end_work)
        self._stage(say("taking out queues"), self._end_queues)
        self._stage(say("making namespaces anew"), self._renew_namespaces)
        self._open_nodes()

    def _stage(self, what: Message, work: Callable[[], None]) -> None:
        self.tell(Progress(what, time.monotonic() - self.started))
        work()
        self.tell(Progress(what, time.monotonic() - self.started, is_done=True))

    def _end_work(self) -> None:
        for namespace in self._touched():
            here = f"--namespace={namespace}"
            for kind in self.kinds:
                self._delete(kind, here)
            # Pods that go with their owners would have their own 30 s, which nothing shortens.
            for kinds, how in ((OWNERS, "--cascade=orphan"), ("pods", "--grace-period=1")):
                self._delete(kinds, here, how)
        self._wait(self._work_left)

    def _work_left(self) -> Message | None:
        for namespace in self._touched():
            for kind in ("pods", f"workloads.{KUEUE}"):
                names = self._names(kind, f"--namespace={namespace}")
                if names:
                    self._delete(kind, f"--namespace={namespace}", "--grace-period=1")
                    return say("{kind} {name} is still there", kind=kind, name=names[0])
        return None

    def _end_queues(self) -> None:
        try:
            wait_until(partial(self._queues_left, QUEUES[:1]), within=QUEUE_SECONDS, every=0.3)
        except TimedOut:
            self._free(QUEUES[0])
        for kind in QUEUES[1:]:
            self._delete(f"{kind}.{KUEUE}")
        self._wait(partial(self._queues_left, QUEUES))

    def _free(self, kind: str) -> None:
        """Nothing is in these queues any more, so that what holds them is only forgotten."""
        self.tell(Progress(say("freeing ClusterQueues that Kueue does not let go"), 0.0))
        for name in self._names(f"{kind}.{KUEUE}"):
            freed = '{"metadata":{"finalizers":null}}'
            self.kubectl.text("patch", f"{kind}.{KUEUE}", name, "--type=merge", f"--patch={freed}")

    def _queues_left(self, kinds: Iterable[str]) -> Message | None:
        for kind in kinds:
            names = self._names(f"{kind}.{KUEUE}")
            if names:
                return say("{kind} {name} is still there", kind=kind, name=names[0])
        return None

    def _renew_namespaces(self) -> None:
        self._delete(f"localqueues.{KUEUE}", "--namespace=default")
        gone = self._made()
        if gone:
            self.kubectl.text("delete", "namespace", *gone, "--ignore-not-found", "--wait=false")
        self._wait(lambda: self._still(gone))
        for namespace in self.namespaces:
            self._make(namespace)

    def _still(self, gone: Iterable[str]) -> Message | None:
        left = sorted(set(gone) & set(self._names("namespaces")))
        return say("namespace {name} is still there", name=left[0]) if left else None

    def _make(self, namespace: str) -> None:
        manifest = {"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": namespace}}
        self.kubectl.text(
            *("apply", "--server-side", "--force-conflicts", "--field-manager=gpu-queue-lab"),
            *("-f", "-"),
            stdin=json.dumps(manifest),
        )

    def _open_nodes(self) -> None:
        """A node that the learner has cordoned takes pods again."""
        for node in self._names("nodes", "--field-selector=spec.unschedulable=true"):
            self.kubectl.text("uncordon", node)

    def _made(self) -> tuple[str, ...]:
        return tuple(name for name in self._names("namespaces") if name not in KEPT)

    def _touched(self) -> tuple[str, ...]:
        return ("default", *self._made())

    def _names(self, kind: str, *arguments: str) -> tuple[str, ...]:
        """Names of a kind; none where this Kueue does not know the kind."""
        try:
            return self.kubectl.names(kind, *arguments)
        except TargetError as error:
            if _is_unknown(error):
                return ()
            raise

    def _delete(self, kinds: str, *arguments: str) -> None:
        try:
            self.kubectl.text(
                *("delete", kinds, "--all", "--ignore-not-found", "--wait=false"),
                *arguments,
                within=60.0,
            )
        except TargetError as error:
            if not _is_unknown(error):
                raise

    def _wait(self, missing: Callable[[], Message | None]) -> None:
        try:
            wait_until(missing, within=CLEAR_SECONDS, every=0.3)
        except TimedOut as error:
            raise TargetError(
                say("The cluster could not be cleared: {reason}", reason=error.what),
                next_move=say("Look at that object with kubectl describe, then reset again."),
            ) from error


def _is_unknown(error: TargetError) -> bool:
    return "the server doesn't have a resource type" in str(error.what)
