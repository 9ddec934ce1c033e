"""Bringing names to rest, one after the other: read, decide, do, until there is nothing to do.

A name is looked at when something of it changed, and all are at the start and once a minute: what a
watch missed is made up for.
"""

from __future__ import annotations

import asyncio
import contextlib
import logging
import time
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from functools import partial
from typing import Protocol

import aiohttp

from provision.operators.platform.cluster import Refused
from provision.operators.platform.deciding import Deed, Drop, Make, Mend, Report, decide
from provision.operators.platform.objects import CLASS_KIND, Claim, PriorityClass

ROUNDS = 8
AGAIN_AT_ONCE, AGAIN_LATER = 0.2, 5.0  # seconds
RESYNC_SECONDS = 60.0
LOG = logging.getLogger("platform")
Trouble = (Refused, aiohttp.ClientError, TimeoutError, OSError)


class Reads(Protocol):
    """What the reconciler needs of a cluster; see `cluster.Cluster`."""

    async def names(self) -> frozenset[str]:
        """All names that may want something."""

    async def read(self, name: str) -> tuple[tuple[Claim, ...], PriorityClass | None]:
        """All that there is of a name."""

    async def perform(self, deed: Deed) -> None:
        """Do one deed."""


@dataclass(slots=True)
class _Due:
    at: float
    failures: int = 0


class Reconciler:
    """The names that are due, and the work on them; for one event loop."""

    def __init__(self, cluster: Reads) -> None:
        self._cluster = cluster
        self._due: dict[str, _Due] = {}
        self._resync_at = 0.0
        self._news = asyncio.Event()
        self._trouble = ""

    def notice(self, name: str) -> None:
        """Something of this name changed: look at it soon, even if it was to wait."""
        failures = self._due[name].failures if name in self._due else 0
        self._due[name] = _Due(time.monotonic(), failures)
        self._news.set()

    async def begin(self) -> None:
        """Return when the cluster serves both kinds and all names were looked at once."""
        while not await self._resync():
            await self._rest(AGAIN_AT_ONCE)
        await self._settle_due()

    async def run(self) -> None:
        """Work until cancelled."""
        while True:
            now = time.monotonic()
            if now >= self._resync_at:
                await self._resync()
            await self._settle_due()
            next_at = min((d.at for d in self._due.values()), default=self._resync_at)
            await self._rest(min(next_at, self._resync_at) - time.monotonic())

    async def _rest(self, seconds: float) -> None:
        # No task of its own, as `wait_for` makes: kopf would wait for its end when it exits.
        with contextlib.suppress(TimeoutError):
            async with asyncio.timeout(max(0.0, seconds)):
                await self._news.wait()
        self._news.clear()

    async def _resync(self) -> bool:
        async def look() -> None:
            for name in await self._cluster.names():
                self.notice(name)

        is_done = await self._try("looking for names", look)
        self._resync_at = time.monotonic() + (RESYNC_SECONDS if is_done else AGAIN_LATER)
        return is_done

    async def _settle_due(self) -> None:
        now = time.monotonic()
        for name, due in [(n, d) for n, d in self._due.items() if d.at <= now]:
            del self._due[name]
            if not await self._try(name, partial(self._settle, name)):
                wait = min(AGAIN_LATER, AGAIN_AT_ONCE * 2**due.failures)
                self._due.setdefault(name, _Due(time.monotonic() + wait, due.failures + 1))

    async def _settle(self, name: str) -> None:
        for _ in range(ROUNDS):
            claims, found = await self._cluster.read(name)
            deeds = decide(claims, found)
            if not deeds:
                return
            for deed in deeds:
                await self._cluster.perform(deed)
                _log(deed)
        self._due.setdefault(name, _Due(time.monotonic() + AGAIN_AT_ONCE))

    async def _try(self, what: str, work: Callable[[], Awaitable[None]]) -> bool:
        """Do it; False when it is to be tried again. The same trouble is told once."""
        try:
            await work()
        except Trouble as error:
            is_late = isinstance(error, Refused) and error.is_late
            trouble = f"{type(error).__name__}: {error}"
            if not is_late and trouble != self._trouble:
                LOG.warning("%s: %s", what, trouble)
                self._trouble = trouble
            return False
        self._trouble = ""
        return True


def _log(deed: Deed) -> None:
    match deed:
        case Make(claim):
            LOG.info("made %s %s for %s", CLASS_KIND, claim.name, claim.namespace)
        case Mend(claim, found):
            LOG.info("mended %s %s, whose value was %d", CLASS_KIND, claim.name, found.value)
        case Drop(found):
            LOG.info("deleted %s %s", CLASS_KIND, found.name)
        case Report(claim, standing):
            LOG.info("%s/%s: %s", claim.namespace, claim.name, standing.reason)
        case _:
            pass
