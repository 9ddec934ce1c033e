"""Who listens to the page's events, and what is still to be told to each of them."""

from __future__ import annotations

import asyncio
import itertools
from collections.abc import Callable, Mapping
from dataclasses import dataclass

from lab.text import Speech

Data = Mapping[str, object]
_numbers = itertools.count(1)


@dataclass(frozen=True, slots=True)
class Event:
    """Something that happened, said in a language when it is sent.

    An event takes the place of an untold one of the same `key`; with an empty key each is told.
    """

    kind: str
    key: str
    tell: Callable[[Speech], Data]


class Listener:
    """One open stream. A slow one misses nothing but what was overtaken."""

    def __init__(self) -> None:
        self._waiting: dict[tuple[str, str | int], Event] = {}
        self._news = asyncio.Event()
        self.is_gone = False

    def put(self, event: Event) -> None:
        """Queue an event, behind all others."""
        key = (event.kind, event.key or next(_numbers))
        self._waiting.pop(key, None)
        self._waiting[key] = event
        self._news.set()

    def leave(self) -> None:
        """The other side has gone: wake up whoever waits."""
        self.is_gone = True
        self._news.set()

    async def next(self, within: float) -> list[Event]:
        """What there is to tell; empty after `within` seconds of silence."""
        try:
            await asyncio.wait_for(self._news.wait(), within)
        except TimeoutError:
            return []
        self._news.clear()
        events = list(self._waiting.values())
        self._waiting.clear()
        return events
