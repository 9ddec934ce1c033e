"""Filters for Kueue's manifest (what the lab applies of it) and for what is live of it."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from typing import Any

import yaml

LOADER: Any = getattr(yaml, "CSafeLoader", yaml.SafeLoader)
DUMPER: Any = getattr(yaml, "CSafeDumper", yaml.SafeDumper)
WEBHOOKS = ("MutatingWebhookConfiguration", "ValidatingWebhookConfiguration")
NAMESPACE_NAME = "kubernetes.io/metadata.name"


def kueue_text(manifest: str, spared: list[str]) -> str:
    """The manifest as the lab applies it.

    Images are pulled only where they are missing: the lab brings them along, and `Always` would ask
    a registry. Webhooks that spare namespaces by name (kube-system, kueue-system) spare `spared`,
    too: the pods that bring the GPUs must start while Kueue is down.
    All other documents stay as they are, byte by byte.
    """
    names = tuple(str(name) for name in spared)  # plain text: Ansible's own type is no YAML
    return "---\n".join(_rewritten(text, names) for text in _documents(manifest))


def kueue_facts(manifest: str) -> dict[str, Any]:
    """What stands in the manifest.

    `objects`: "kind/namespace/name" of each; `images`; `webhooks`: names by "kind/name" of their
    configuration; `unconverted`: CRDs that name no conversion and serve a single version.
    """
    documents = [yaml.load(text, Loader=LOADER) for text in _documents(manifest)]
    found = [document for document in documents if isinstance(document, Mapping)]
    return {
        "objects": sorted(_identity(document) for document in found),
        "images": sorted({image for document in found for image in _images(document)}),
        "webhooks": {
            f"{document['kind']}/{document['metadata']['name']}": sorted(
                hook["name"] for hook in document.get("webhooks", [])
            )
            for document in found
            if document["kind"] in WEBHOOKS
        },
        "unconverted": sorted(
            document["metadata"]["name"] for document in found if _is_unconverted(document)
        ),
    }


def kueue_outdated(there: list[str], wanted: Mapping[str, list[str]]) -> list[list[str]]:
    """Webhook configurations, as [kind, name], that hold a webhook which the manifest does not.

    `there` has lines "kind/name=webhook webhook". Server-side apply leaves such a webhook half
    there, since Kueue itself owns its CA bundle; the API server would refuse the rest.
    """
    found = []
    for line in there:
        name, _, hooks = line.partition("=")
        if name in wanted and set(hooks.split()) - set(wanted[name]):
            found.append(name.split("/"))
    return found


def kueue_ready(pods: list[Mapping[str, Any]]) -> list[Mapping[str, Any]]:
    """Of `pods`, those that are Ready."""
    return [
        pod
        for pod in pods
        if any(
            condition["type"] == "Ready" and condition["status"] == "True"
            for condition in pod.get("status", {}).get("conditions", [])
        )
    ]


def kueue_served(slices: list[Mapping[str, Any]], service: str) -> list[str]:
    """The ready addresses in the EndpointSlices of a Service."""
    return [
        address
        for part in slices
        if part["metadata"].get("labels", {}).get("kubernetes.io/service-name") == service
        for endpoint in part.get("endpoints") or []
        if endpoint.get("conditions", {}).get("ready")
        for address in endpoint["addresses"]
    ]


def _documents(manifest: str) -> list[str]:
    texts = ("\n" + manifest).split("\n---")
    return [text.strip("\n") + "\n" for text in texts if text.strip()]


def _rewritten(text: str, spared: tuple[str, ...]) -> str:
    if not any(mark in text for mark in ("imagePullPolicy: Always", *WEBHOOKS)):
        return text
    document = yaml.load(text, Loader=LOADER)
    if document["kind"] == "CustomResourceDefinition":
        return text
    for container in _containers(document):
        container["imagePullPolicy"] = "IfNotPresent"
    for hook in document.get("webhooks", []) if document["kind"] in WEBHOOKS else []:
        _spare(hook, spared)
    return str(yaml.dump(document, Dumper=DUMPER, sort_keys=False, width=200))


def _spare(hook: Mapping[str, Any], spared: tuple[str, ...]) -> None:
    for rule in hook.get("namespaceSelector", {}).get("matchExpressions", []):
        if rule["key"] == NAMESPACE_NAME and rule["operator"] == "NotIn":
            rule["values"] += [name for name in spared if name not in rule["values"]]


def _identity(document: Mapping[str, Any]) -> str:
    metadata = document["metadata"]
    return f"{document['kind']}/{metadata.get('namespace', '')}/{metadata['name']}"


def _containers(document: Mapping[str, Any]) -> Iterator[dict[str, Any]]:
    pod = document.get("spec", {}).get("template", {}).get("spec", {})
    for key in ("initContainers", "containers"):
        yield from pod.get(key, [])


def _images(document: Mapping[str, Any]) -> Iterator[str]:
    for container in _containers(document):
        yield container["image"]


def _is_unconverted(document: Mapping[str, Any]) -> bool:
    if document["kind"] != "CustomResourceDefinition":
        return False
    spec = document["spec"]
    served = [version for version in spec["versions"] if version["served"]]
    return len(served) == 1 and spec.get("conversion", {}).get("strategy", "None") == "None"


class FilterModule:
    """How Ansible finds the filters."""

    def filters(self) -> dict[str, Callable[..., object]]:
        """The filters by name."""
        return {
            "kueue_text": kueue_text,
            "kueue_facts": kueue_facts,
            "kueue_outdated": kueue_outdated,
            "kueue_ready": kueue_ready,
            "kueue_served": kueue_served,
        }
