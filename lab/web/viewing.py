"""The picture of the queue as the page has it: drawn when watches tell of a change, as data."""

from __future__ import annotations

import time
from collections.abc import Mapping
from dataclasses import fields, is_dataclass
from datetime import UTC, datetime

from checks.live import LiveCluster, Painter
from checks.picture import Picture
from lab.text import Speech
from provision.message import Message, say

# A watch that is cut is open again within this; only what lasts longer is worth a word.
PATIENCE_SECONDS = 1.5


class View:
    """What was seen last. `is_known` is False until every kind was listed once."""

    def __init__(self, live: LiveCluster, painter: Painter) -> None:
        self._live, self._painter = live, painter
        self._picture = Picture()
        self._seen_at = 0.0
        self._broken_at = 0.0
        self.is_known = False
        self.trouble = ""

    def look(self) -> bool:
        """Draw afresh; whether anything is different now."""
        trouble, now = self._live.trouble, time.monotonic()
        self._broken_at = (self._broken_at or now) if trouble else 0.0
        if trouble and now - self._broken_at < PATIENCE_SECONDS:
            return False
        before = (self._picture, self.trouble, self.is_known)
        self.trouble = trouble
        if not trouble:
            self._picture = self._painter.draw(self._live.look())
            self._seen_at, self.is_known = time.time(), True
        return (self._picture, self.trouble, self.is_known) != before

    @property
    def is_waiting(self) -> bool:
        """Something is in the way and may last: it is worth another look."""
        return bool(self._broken_at) and not self.trouble

    def picture(self, speech: Speech) -> Mapping[str, object]:
        """The `picture` of the page."""
        as_of = time.time() if not self.trouble and self.is_known else self._seen_at
        return {
            "as_of": datetime.fromtimestamp(as_of, UTC).isoformat(timespec="seconds"),
            "is_live": not self.trouble and self.is_known,
            "trouble": self._told(speech),
            **_plain(self._picture, speech),  # type: ignore[dict-item]
        }

    def place(self, speech: Speech) -> Mapping[str, object]:
        """The `place` of the page."""
        return {"is_ready": not self.trouble, "text": self._told(speech)}

    def _told(self, speech: Speech) -> str | None:
        if not self.trouble:
            return None
        what = say(
            "The cluster cannot be seen right now ({why}). lab status says more.", why=self.trouble
        )
        return speech.of(what)


def _plain(value: object, speech: Speech) -> object:
    """Data classes as mappings by the names of their fields, Messages as sentences."""
    if isinstance(value, Message):
        return speech.of(value)
    if is_dataclass(value) and not isinstance(value, type):
        return {one.name: _plain(getattr(value, one.name), speech) for one in fields(value)}
    if isinstance(value, tuple):
        return [_plain(one, speech) for one in value]
    return dict(value) if isinstance(value, Mapping) else value
