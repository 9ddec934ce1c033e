"""A controller's own manifests, rewritten to work with a process beside the cluster.

A controller is shipped as a Deployment behind a Service. Here it listens on a loopback port, so
every `service` becomes a `url`, and CRDs stop serving the versions that the lab's release no longer
has. The table `REWRITES` says what happens to each kind; a kind that it does not list is an error,
so that a new version cannot bring something in unseen.
"""

from __future__ import annotations

import copy
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from typing import Any

from provision.errors import TargetError
from provision.local.components import ControllerSpec
from provision.message import say


@dataclass(frozen=True, slots=True)
class Endpoint:
    """Where the webhooks of a controller listen, and the base64 of the CA that signed for them."""

    port: int
    authority: str

    def client_config(self, path: str) -> dict[str, str]:
        """What Kubernetes wants to know in order to call `path`."""
        return {"url": f"https://127.0.0.1:{self.port}{path}", "caBundle": self.authority}


Document = dict[str, Any]
Rewrite = Callable[[Document, ControllerSpec, Endpoint], None]


def rewrite_manifests(
    documents: Iterable[Mapping[str, Any]], controller: ControllerSpec, endpoint: Endpoint
) -> tuple[Document, ...]:
    """Copies of the documents, rewritten; TargetError for a kind that `REWRITES` does not list."""
    result = []
    for original in documents:
        kind = str(original.get("kind", ""))
        if kind not in REWRITES:
            raise TargetError(
                say("{name} ships a {kind}, which has no rule.", name=controller.name, kind=kind)
            )
        document = copy.deepcopy(dict(original))
        REWRITES[kind](document, controller, endpoint)
        result.append(document)
    return tuple(result)


def _rewrite_definition(document: Document, controller: ControllerSpec, endpoint: Endpoint) -> None:
    spec = document["spec"]
    document.pop("status", None)
    for version in spec["versions"]:
        if version["name"] in controller.not_served:
            version["served"] = False
    if spec["names"]["plural"] in controller.conversion:
        spec["conversion"] = {
            "strategy": "Webhook",
            "webhook": {
                "conversionReviewVersions": ["v1"],
                "clientConfig": endpoint.client_config("/convert"),
            },
        }


def _rewrite_webhooks(document: Document, controller: ControllerSpec, endpoint: Endpoint) -> None:
    document["metadata"]["name"] = controller.name_prefix + document["metadata"]["name"]
    for webhook in document["webhooks"]:
        service = webhook["clientConfig"]["service"]
        webhook["clientConfig"] = endpoint.client_config(service.get("path", "/"))
        if label := controller.only.get(webhook["name"]):
            has_label = {"key": label, "operator": "Exists"}
            webhook["objectSelector"] = {"matchExpressions": [has_label]}


REWRITES: Mapping[str, Rewrite] = {
    "CustomResourceDefinition": _rewrite_definition,
    "MutatingWebhookConfiguration": _rewrite_webhooks,
    "ValidatingWebhookConfiguration": _rewrite_webhooks,
}
