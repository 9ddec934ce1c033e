"""Waiting until custom resource definitions are served, and waking those that never would be."""

from __future__ import annotations

import time
from collections.abc import Container, Iterable, Mapping
from typing import Any

from provision.local.api import Api, object_path
from provision.message import Message, say
from provision.waiting import wait_until

WAKE_AFTER = 2.0
WAKE_ANNOTATION = "gpu-queue-lab/woken"


class DefinitionWait:
    """Waits for a group of CRDs.

    An API server that was killed between accepting the names of a CRD and establishing it never
    establishes it later: after its restart it waits for an update of the CRD (the handler in
    apiextensions-apiserver queues it on updates alone). So one that is late is given an update.
    Those in `fresh` were made by this very server, which is at work on them: they are left alone,
    as an update of a large one costs it seconds.
    """

    def __init__(
        self, api: Api, documents: Iterable[Mapping[str, Any]], fresh: Container[str] = ()
    ) -> None:
        self._api = api
        self._wanted: dict[str, dict[str, str]] = {}
        for document in documents:
            spec = document["spec"]
            for version in spec["versions"]:
                if version["served"]:
                    path = f"/apis/{spec['group']}/{version['name']}"
                    names = self._wanted.setdefault(path, {})
                    names[spec["names"]["plural"]] = object_path(document)
        self._fresh = fresh
        self._pause = WAKE_AFTER
        self._wake_at = time.monotonic() + self._pause

    def run(self, *, within: float) -> None:
        """Return when all are served; TimedOut naming those that are not after `within` seconds."""
        wait_until(self._missing, within=within, every=0.05)

    def _missing(self) -> Message | None:
        for path, names in self._wanted.items():
            reply = self._api.get(path)
            served = {r["name"] for r in reply.body.get("resources", ())}
            if late := sorted(names.keys() - served):
                self._wake([names[name] for name in late])
                return say("{path} does not serve {names} yet", path=path, names=", ".join(late))
        return None

    def _wake(self, definitions: Iterable[str]) -> None:
        if time.monotonic() >= self._wake_at:
            self._pause *= 2  # an API server that is merely slow has work enough
            self._wake_at = time.monotonic() + self._pause
            for path in (p for p in definitions if p not in self._fresh):
                self._api.annotate(path, WAKE_ANNOTATION, f"{time.time():.3f}")
