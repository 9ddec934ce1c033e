"""Which objects a place's cluster is given, and in what order."""

from __future__ import annotations

import base64
from collections.abc import Iterable, Mapping
from typing import Any

from provision.local import cluster
from provision.local.api import Api, Refused
from provision.local.components import ControllerSpec
from provision.local.definitions import DefinitionWait
from provision.local.manifests import Endpoint, rewrite_manifests
from provision.local.parts import Parts
from provision.local.plan import Folders
from provision.local.preparing import Preparation
from provision.message import Message, say
from provision.target import PlaceSpec
from provision.waiting import wait_until

DEFINITION_SECONDS = 90.0
NODE_SECONDS = 60.0
LATE_SECONDS = 30.0
SERVER_ERROR = 500
DEFINITION = "CustomResourceDefinition"
Document = dict[str, Any]


def lay_out(
    api: Api,
    spec: PlaceSpec,
    folders: Folders,
    parts: Parts,
    ports: Mapping[str, int],
    controllers: Iterable[ControllerSpec],
    own: Iterable[Document],
) -> Preparation:
    """Apply what is new or changed and wait until all CRDs are served; `own` are our manifests.

    What it returns goes on with what waits until all is ready, and is finished then.
    """
    chosen = tuple(c for c in controllers if c.name in parts.manifests)
    work = Preparation(api)
    spaces = (*spec.namespaces, *(c.namespace for c in chosen))
    work.apply((*cluster.namespaces(spaces), *cluster.nodes(spec.nodes), *cluster.grader_access()))
    statuses = cluster.node_statuses(spec.nodes, ports["kwok"], parts.versions["kube-apiserver"])
    work.apply(statuses, subresource="status")
    shipped = [d for c in chosen for d in _rewritten(c, folders, parts, ports)]
    ours = tuple(own)
    definitions = [d for d in (*shipped, *ours) if d["kind"] == DEFINITION]
    shipped += [d for d in ours if d["kind"] == DEFINITION]
    work.apply(
        (*cluster.default_accounts(spec.namespaces), cluster.kueue_secret(folders.pki), *shipped)
    )
    DefinitionWait(api, definitions, work.made).run(within=DEFINITION_SECONDS)
    if ours:
        work.await_system()
        work.apply(d for d in ours if d["kind"] != DEFINITION)
    work.note()
    return work


def lay_late(work: Preparation, documents: Iterable[Document]) -> None:
    """Apply what waits until all is ready, and finish the work.

    A controller that is ready may still refuse for a moment: its handlers come after its port.
    """
    late = tuple(documents)

    def missing() -> Message | None:
        try:
            work.apply(late)
        except Refused as error:
            if error.status < SERVER_ERROR:
                raise
            return error.what
        return None

    wait_until(missing, within=LATE_SECONDS, every=0.1)
    work.finish()


def await_nodes(api: Api, spec: PlaceSpec) -> None:
    """Wait until every node of the lab is Ready."""
    wait_until(lambda: _not_ready(api, spec), within=NODE_SECONDS, every=0.05)


def _rewritten(
    controller: ControllerSpec, folders: Folders, parts: Parts, ports: Mapping[str, int]
) -> tuple[Document, ...]:
    certificate = (folders.pki / f"{controller.authority}.crt").read_bytes()
    authority = base64.b64encode(certificate).decode()
    endpoint = Endpoint(ports[controller.webhook_port], authority)
    return rewrite_manifests(parts.manifests[controller.name], controller, endpoint)


def _not_ready(api: Api, spec: PlaceSpec) -> Message | None:
    for node in spec.nodes:
        reply = api.get(f"/api/v1/nodes/{node.name}")
        conditions = reply.body.get("status", {}).get("conditions", ())
        if not any(c["type"] == "Ready" and c["status"] == "True" for c in conditions):
            return say("node {name} is not Ready", name=node.name)
    return None
