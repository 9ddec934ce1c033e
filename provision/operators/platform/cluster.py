"""The API server, as the controller uses it: fresh reads, and writes that fail when it was late.

Every write names the version or the uid that was read, or creates. So it does not matter who else
writes, or that this process may be killed between two of them.
"""

from __future__ import annotations

import datetime as dt
from collections.abc import Mapping
from types import TracebackType
from typing import Any

import aiohttp
import kopf

from provision.operators.platform.bodies import class_for, event_of, status_of
from provision.operators.platform.deciding import (
    Deed,
    Drop,
    Hold,
    Make,
    Mend,
    Release,
    Report,
)
from provision.operators.platform.objects import (
    CLASS_PLURAL,
    FINALIZER,
    GROUP,
    KUEUE_GROUP,
    KUEUE_VERSION,
    MANAGER,
    PLURAL,
    VERSION,
    Claim,
    PriorityClass,
    read_claim,
    read_class,
)

CLAIMS = f"/apis/{GROUP}/{VERSION}"
CLASSES = f"/apis/{KUEUE_GROUP}/{KUEUE_VERSION}/{CLASS_PLURAL}"
REQUEST_SECONDS = 10.0
MERGE = "application/merge-patch+json"
GONE_OR_CHANGED = (404, 409)
WRITING = ("POST", "PATCH")


class Refused(Exception):
    """The API server answered with an error; `status` is that of HTTP."""

    def __init__(self, status: int, message: str) -> None:
        super().__init__(f"{status}: {message}")
        self.status = status

    @property
    def is_late(self) -> bool:
        """Whether what was read is no longer so, and reading it again helps."""
        return self.status in GONE_OR_CHANGED


class Cluster:
    """A connection to the API server; raises Refused, aiohttp.ClientError or TimeoutError."""

    def __init__(self, connection: kopf.ConnectionInfo) -> None:
        self._server = connection.server.rstrip("/")
        connector = aiohttp.TCPConnector(ssl=connection.as_ssl_context())
        self._session = aiohttp.ClientSession(
            connector=connector,
            headers=connection.as_http_headers(),
            timeout=aiohttp.ClientTimeout(total=REQUEST_SECONDS),
        )

    async def __aenter__(self) -> Cluster:
        return self

    async def __aexit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        tb: TracebackType | None,
    ) -> None:
        await self._session.close()

    async def names(self) -> frozenset[str]:
        """The names of all claims, and of all classes that were made for one."""
        claims = await self._ask("GET", f"{CLAIMS}/{PLURAL}")
        classes = await self._ask("GET", CLASSES)
        made = (c for c in map(read_class, classes["items"]) if c.is_marked)
        return frozenset(c["metadata"]["name"] for c in claims["items"]) | {c.name for c in made}

    async def read(self, name: str) -> tuple[tuple[Claim, ...], PriorityClass | None]:
        """The claims to a name in all namespaces, and the class of that name."""
        selector = {"fieldSelector": f"metadata.name={name}"}
        claims = await self._ask("GET", f"{CLAIMS}/{PLURAL}", query=selector)
        try:
            found = read_class(await self._ask("GET", f"{CLASSES}/{name}"))
        except Refused as error:
            if error.status != 404:
                raise
            found = None
        return tuple(map(read_claim, claims["items"])), found

    async def perform(self, deed: Deed) -> None:
        """Do one deed; Refused with `is_late` when the cluster is no longer as it was read."""
        match deed:
            case Hold(claim):
                await self._patch_claim(claim, {"finalizers": [*claim.finalizers, FINALIZER]})
            case Release(claim):
                rest = [f for f in claim.finalizers if f != FINALIZER]
                await self._patch_claim(claim, {"finalizers": rest})
            case Make(claim):
                await self._ask("POST", CLASSES, body=class_for(claim))
            case Mend(claim, found):
                body = class_for(claim)
                body["metadata"]["resourceVersion"] = found.version
                body["description"] = claim.description or None
                await self._ask("PATCH", f"{CLASSES}/{found.name}", body=body)
            case Drop(found):
                condition = {"uid": found.uid, "resourceVersion": found.version}
                body = {"apiVersion": "v1", "kind": "DeleteOptions", "preconditions": condition}
                await self._ask("DELETE", f"{CLASSES}/{found.name}", body=body)
            case Report():
                await self._tell(deed)

    async def _tell(self, report: Report) -> None:
        """The event first: killed before the status is written, it is found to be there."""
        claim = report.claim
        if claim.standing is None or claim.standing.reason != report.standing.reason:
            await self._event(report)
        await self._patch_claim(claim, {}, status=status_of(report, _now()))

    async def _patch_claim(
        self, claim: Claim, metadata: Mapping[str, Any], *, status: Mapping[str, Any] | None = None
    ) -> None:
        body: dict[str, Any] = {"metadata": {**metadata, "resourceVersion": claim.version}}
        path = f"{CLAIMS}/namespaces/{claim.namespace}/{PLURAL}/{claim.name}"
        if status is not None:
            body["status"], path = status, f"{path}/status"
        await self._ask("PATCH", path, body=body)

    async def _event(self, report: Report) -> None:
        try:
            path = f"/api/v1/namespaces/{report.claim.namespace}/events"
            await self._ask("POST", path, body=event_of(report, _now()))
        except Refused as error:
            # It is there (409), or its namespace takes no new objects as it goes (403).
            if error.status not in (403, 409):
                raise

    async def _ask(
        self,
        method: str,
        path: str,
        *,
        query: Mapping[str, str] | None = None,
        body: Mapping[str, Any] | None = None,
    ) -> dict[str, Any]:
        headers = {"Content-Type": MERGE} if method == "PATCH" else {}
        params = dict(query or {}) | ({"fieldManager": MANAGER} if method in WRITING else {})
        async with self._session.request(
            method, self._server + path, params=params, json=body, headers=headers
        ) as reply:
            if reply.status >= 400:
                raise Refused(reply.status, (await reply.text())[:500])
            answer: dict[str, Any] = await reply.json()
            return answer


def _now() -> str:
    return dt.datetime.now(dt.UTC).strftime("%Y-%m-%dT%H:%M:%SZ")
