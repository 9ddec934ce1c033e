"""A small client of the API server for the kit: what it reads is a witness beside the checks'."""

from __future__ import annotations

import base64
import ssl
import tempfile
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import urllib3
import yaml

from provision.errors import LabError
from provision.message import Message, say
from provision.waiting import wait_until

Object = dict[str, Any]

KUEUE = "/apis/kueue.x-k8s.io/v1beta2"
# What a learner can make, in an order in which it can be taken away again.
LISTS = {
    "CronJob": "/apis/batch/v1/cronjobs",
    "Job": "/apis/batch/v1/jobs",
    "Deployment": "/apis/apps/v1/deployments",
    "StatefulSet": "/apis/apps/v1/statefulsets",
    "DaemonSet": "/apis/apps/v1/daemonsets",
    "ReplicaSet": "/apis/apps/v1/replicasets",
    "Pod": "/api/v1/pods",
    "Workload": f"{KUEUE}/workloads",
    "LimitRange": "/api/v1/limitranges",
    "ResourceQuota": "/api/v1/resourcequotas",
    "LocalQueue": f"{KUEUE}/localqueues",
    "ClusterQueue": f"{KUEUE}/clusterqueues",
    "Cohort": f"{KUEUE}/cohorts",
    "AdmissionCheck": f"{KUEUE}/admissionchecks",
    "ResourceFlavor": f"{KUEUE}/resourceflavors",
    "Topology": f"{KUEUE}/topologies",
    "WorkloadPriorityClass": f"{KUEUE}/workloadpriorityclasses",
    "PriorityClass": "/apis/scheduling.k8s.io/v1/priorityclasses",
    "RuntimeClass": "/apis/node.k8s.io/v1/runtimeclasses",
    "Namespace": "/api/v1/namespaces",
    "Node": "/api/v1/nodes",
}
BUSY = 429
BACKGROUND = {"propagationPolicy": "Background"}
AT_ONCE = {"propagationPolicy": "Background", "gracePeriodSeconds": 0}


class Refused(LabError):
    """The API server answered, but not with a success; `status` is the HTTP code."""

    def __init__(self, method: str, path: str, status: int, body: bytes) -> None:
        super().__init__(say("{problem}", problem=f"{method} {path}: {status} {body[:300]!r}"))
        self.status = status


def _tls(cluster: Mapping[str, str], user: Mapping[str, str], beside: Path) -> ssl.SSLContext:
    """The context of a kubeconfig entry, whose parts may be in it or in files named by it."""

    def part(entry: Mapping[str, str], key: str) -> bytes:
        if f"{key}-data" in entry:
            return base64.b64decode(entry[f"{key}-data"])
        return (beside / entry[key]).read_bytes()

    context = ssl.create_default_context(
        cadata=part(cluster, "certificate-authority").decode("ascii")
    )
    with tempfile.TemporaryDirectory() as folder:
        pair = Path(folder) / "pair.pem"
        pair.touch(mode=0o600)
        pair.write_bytes(part(user, "client-certificate") + b"\n" + part(user, "client-key"))
        context.load_cert_chain(pair)
    return context


class Api:
    """Plain calls; `kubeconfig` must hold a client certificate that may do everything."""

    def __init__(self, kubeconfig: Path, kinds: Mapping[str, str] | None = None) -> None:
        """`kinds` are others than the usual ones, with the paths of their lists; they run first."""
        self.lists = {**(kinds or {}), **LISTS}
        config = yaml.safe_load(kubeconfig.read_text(encoding="utf-8"))
        cluster, user = config["clusters"][0]["cluster"], config["users"][0]["user"]
        self._server = str(cluster["server"])
        self._pool = urllib3.PoolManager(
            ssl_context=_tls(cluster, user, kubeconfig.parent),
            timeout=urllib3.Timeout(connect=2, read=15),
            retries=False,
        )

    def call(self, method: str, path: str, body: object = None) -> Object:
        """The answer as an object; Refused for anything but a success.

        While a kind's storage is made ready, right after a reset, the question is asked again.
        """
        answer = self._pool.request(method, self._server + path, json=body)

        def busy() -> Message | None:
            nonlocal answer
            if answer.status == BUSY:
                answer = self._pool.request(method, self._server + path, json=body)
            return say("the API server is busy") if answer.status == BUSY else None

        wait_until(busy, within=20, every=0.5)
        if answer.status >= 300:
            raise Refused(method, path, answer.status, answer.data)
        reply = answer.json()
        if not isinstance(reply, dict):
            raise TypeError(f"{method} {path}: an object is wanted, found {type(reply).__name__}")
        return reply

    def items(self, kind: str) -> list[Object]:
        """All objects of a kind, in all namespaces; their `kind` is filled in."""
        reply = self.call("GET", self.lists[kind])
        return [{"kind": kind, **item} for item in reply.get("items") or []]

    def path(self, thing: Object) -> str:
        """Where one object lies."""
        meta = thing["metadata"]
        base, plural = self.lists[thing["kind"]].rsplit("/", 1)
        inner = f"/namespaces/{meta['namespace']}" if meta.get("namespace") else ""
        return f"{base}{inner}/{plural}/{meta['name']}"

    def delete(self, thing: Object, options: Mapping[str, object] = BACKGROUND) -> None:
        """Ask for one object to go; gone already is fine."""
        try:
            self.call("DELETE", self.path(thing), dict(options))
        except Refused as error:
            if error.status != 404:
                raise

    def free(self, thing: Object) -> None:
        """Take the finalizers off an object that waits for a controller which forgot it."""
        patch = [{"op": "replace", "path": "/metadata/finalizers", "value": []}]
        headers = {"Content-Type": "application/json-patch+json"}
        path = self._server + self.path(thing)
        answer = self._pool.request("PATCH", path, json=patch, headers=headers)
        if answer.status not in (200, 404, 422):
            raise Refused("PATCH", path, answer.status, answer.data)
