"""Laying out the cluster: what is new or changed is applied, what is there costs nothing.

A ConfigMap in kube-system remembers a hash of each object that was applied, so that a warm start
applies nothing, and a start on other ports applies just the objects that name them.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable, Iterable, Mapping
from concurrent.futures import ThreadPoolExecutor
from typing import Any

from provision.local.api import FIELD_MANAGER, Api, object_path
from provision.message import Message, say
from provision.waiting import wait_until

RECORD = {"name": FIELD_MANAGER, "namespace": "kube-system"}
PARALLEL = 8
Document = dict[str, Any]


class Preparation:
    """One pass over the objects of a cluster; `finish` writes down what was applied.

    `made` are the API paths of objects that were not there before.
    """

    def __init__(self, api: Api) -> None:
        self._api = api
        self._before = self._written = self._recorded()
        self._now: dict[str, str] = {}
        self.applied = 0
        self.made: set[str] = set()

    def apply(self, documents: Iterable[Document], *, subresource: str = "") -> None:
        """Apply those of the documents that are new or changed, side by side."""
        todo: list[Document] = []
        for document in documents:
            key = _key(document, subresource)
            self._now[key] = _hash(document)
            if self._before.get(key) != self._now[key]:
                todo.append(document)
        self._each(lambda d: self._apply(d, subresource), todo)
        self.applied += len(todo)

    def await_system(self) -> None:
        """Wait for kube-system, which the API server makes by itself after it began to serve."""
        wait_until(self._no_namespace, within=30.0, every=0.05)

    def note(self) -> None:
        """Record what is applied up to now, beside all that was before: more is to come."""
        self._record({**self._before, **self._now})

    def finish(self) -> None:
        """Record what is applied now; what was before and is no more is forgotten."""
        self._record(self._now)

    def _record(self, content: Mapping[str, str]) -> None:
        if content != self._written:
            self.await_system()
            record = {"apiVersion": "v1", "kind": "ConfigMap", "metadata": RECORD}
            self._api.apply({**record, "data": dict(content)})
            self._written = dict(content)

    def _recorded(self) -> Mapping[str, str]:
        path = object_path({"apiVersion": "v1", "kind": "ConfigMap", "metadata": RECORD})
        reply = self._api.get(path)
        return dict(reply.body.get("data") or {}) if reply.status == 200 else {}

    def _no_namespace(self) -> Message | None:
        name = RECORD["namespace"]
        if self._api.get(f"/api/v1/namespaces/{name}").status == 200:
            return None
        return say("namespace {name} is not there yet", name=name)

    def _apply(self, document: Document, subresource: str) -> None:
        if self._api.apply(document, subresource=subresource):
            self.made.add(self._api.path(document))

    @staticmethod
    def _each(work: Callable[[Document], None], documents: list[Document]) -> None:
        if documents:
            with ThreadPoolExecutor(max_workers=PARALLEL) as pool:
                tuple(pool.map(work, documents))


def _key(document: Document, subresource: str) -> str:
    """A ConfigMap key: letters, digits, dots, dashes and underscores."""
    meta = document["metadata"]
    parts = (document["kind"], meta.get("namespace", ""), meta["name"], subresource)
    return "_".join(p for p in parts if p)


def _hash(document: Document) -> str:
    text = json.dumps(document, sort_keys=True, separators=(",", ":"))
    return hashlib.sha256(text.encode()).hexdigest()[:20]
