"""A small client of the API server, for preparing a cluster without any Kubernetes package."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from types import TracebackType
from typing import Any

import urllib3

from provision.errors import TargetError
from provision.local.plan import Probe
from provision.message import Message, say

FIELD_MANAGER = "gpu-queue-lab"
CREATED = 201
TIMEOUT = urllib3.Timeout(connect=2.0, read=20.0)
PROBE_TIMEOUT = urllib3.Timeout(connect=1.0, read=1.0)

Manifest = Mapping[str, Any]


class Refused(TargetError):
    """The API server did not take an object; `status` is that of its answer."""

    def __init__(self, what: Message, status: int) -> None:
        super().__init__(what)
        self.status = status


def make_pool(probe: Probe, *, size: int = 1) -> urllib3.PoolManager:
    """An HTTP pool that shows the probe's client certificate and trusts only its authority."""
    files = {
        "ca_certs": probe.authority,
        "cert_file": probe.certificate,
        "key_file": probe.key,
    }
    given = {name: str(path) for name, path in files.items() if path is not None}
    return urllib3.PoolManager(maxsize=size, retries=False, timeout=TIMEOUT, **given)  # type: ignore[arg-type]


def why_not_ready(pool: urllib3.PoolManager, probe: Probe) -> Message | None:
    """None when the probe answers 200, else what it said."""
    try:
        reply = pool.request("GET", probe.url, timeout=PROBE_TIMEOUT)
    except (urllib3.exceptions.HTTPError, OSError) as error:
        reason = root_cause(error)
        return say("{url} does not answer: {reason}", url=probe.url, reason=reason)
    if reply.status == 200:
        return None
    failed = [x for x in reply.data.decode(errors="replace").splitlines() if x.startswith("[-]")]
    detail = (failed or [f"HTTP {reply.status}"])[0]
    return say("{url} is not ready: {reason}", url=probe.url, reason=detail)


def root_cause(error: BaseException) -> str:
    """The last words of what urllib3 says, which are what happened."""
    text = str(error.args[-1] if error.args else error)
    return text.rpartition(": ")[2] or type(error).__name__


# The plural and whether the kind lives in a namespace, for the kinds that a lab prepares.
KINDS: Mapping[str, tuple[str, bool]] = {
    "Namespace": ("namespaces", False),
    "Node": ("nodes", False),
    "Secret": ("secrets", True),
    "ConfigMap": ("configmaps", True),
    "ServiceAccount": ("serviceaccounts", True),
    "ClusterRole": ("clusterroles", False),
    "ClusterRoleBinding": ("clusterrolebindings", False),
    "CustomResourceDefinition": ("customresourcedefinitions", False),
    "MutatingWebhookConfiguration": ("mutatingwebhookconfigurations", False),
    "ValidatingWebhookConfiguration": ("validatingwebhookconfigurations", False),
}


def object_path(manifest: Manifest, where: tuple[str, bool] | None = None) -> str:
    """The API path of an object; `where` is its plural and scope, that of `KINDS` if not given.

    TargetError when neither is known, or the object names no namespace and must have one.
    """
    kind, meta = manifest["kind"], manifest["metadata"]
    where = where or KINDS.get(kind)
    if where is None:
        raise TargetError(say("There is no rule for preparing a {kind}.", kind=kind))
    plural, is_namespaced = where
    if is_namespaced and not meta.get("namespace"):
        raise TargetError(
            say("{kind} {name} names no namespace.", kind=kind, name=meta.get("name", "-"))
        )
    scope = f"/namespaces/{meta['namespace']}" if is_namespaced else ""
    return f"{version_path(manifest['apiVersion'])}{scope}/{plural}/{meta['name']}"


def version_path(version: str) -> str:
    """The API path of a group and version such as "apps/v1" or "v1"."""
    return f"/apis/{version}" if "/" in version else f"/api/{version}"


@dataclass(frozen=True, slots=True)
class Reply:
    """An answer of the API server: HTTP status and parsed body."""

    status: int
    body: Any


class Api:
    """The API server as an administrator; close it after use (`with`)."""

    def __init__(self, probe: Probe, *, connections: int = 8) -> None:
        self._base = probe.url.removesuffix("/readyz")
        self._pool = make_pool(probe, size=connections)
        self._found: dict[tuple[str, str], tuple[str, bool]] = {}

    def __enter__(self) -> Api:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        tb: TracebackType | None,
    ) -> None:
        self._pool.clear()

    def get(self, path: str) -> Reply:
        """GET a path; TargetError when the server does not answer, any HTTP status is returned."""
        return self._send("GET", path)

    def apply(self, manifest: Manifest, *, subresource: str = "") -> bool:
        """Server-side apply with our field manager, taking over conflicting fields.

        True when the object was not there before; Refused when the server does not take it.
        """
        path = self.path(manifest) + (f"/{subresource}" if subresource else "")
        reply = self._send(
            "PATCH",
            f"{path}?fieldManager={FIELD_MANAGER}&force=true",
            body=json.dumps(manifest, separators=(",", ":")).encode(),
            kind="application/apply-patch+yaml",
        )
        if reply.status not in (200, CREATED):
            name = f"{manifest['kind']} {manifest['metadata']['name']}"
            reason = reply.body.get("message", "") if isinstance(reply.body, dict) else ""
            what = say(
                "The API server refused {name} with {status}: {reason}",
                name=name,
                status=reply.status,
                reason=reason,
            )
            raise Refused(what, reply.status)
        return reply.status == CREATED

    def path(self, manifest: Manifest) -> str:
        """The API path of an object; of a kind that `KINDS` does not list, the server is asked."""
        kind, version = str(manifest["kind"]), str(manifest["apiVersion"])
        if kind in KINDS:
            return object_path(manifest)
        if (version, kind) not in self._found:
            resources = self.get(version_path(version)).body.get("resources", ())
            for one in resources:
                if "/" not in one["name"]:
                    self._found[version, one["kind"]] = (one["name"], one["namespaced"])
        return object_path(manifest, self._found.get((version, kind)))

    def annotate(self, path: str, key: str, value: str) -> None:
        """Set one annotation of the object at `path`, if it is there."""
        body = json.dumps({"metadata": {"annotations": {key: value}}}).encode()
        self._send("PATCH", path, body=body, kind="application/merge-patch+json")

    def _send(self, method: str, path: str, *, body: bytes | None = None, kind: str = "") -> Reply:
        headers = {"Accept": "application/json"} | ({"Content-Type": kind} if kind else {})
        try:
            reply = self._pool.request(method, self._base + path, body=body, headers=headers)
        except (urllib3.exceptions.HTTPError, OSError) as error:
            raise TargetError(
                say("The API server does not answer: {reason}.", reason=root_cause(error)),
                next_move=say("Run `make status`, then `make provision`."),
            ) from error
        try:
            return Reply(reply.status, json.loads(reply.data))
        except ValueError:
            return Reply(reply.status, {"message": reply.data.decode(errors="replace")[:500]})
