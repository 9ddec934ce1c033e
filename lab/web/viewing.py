"""The picture of the queue as the page has it: drawn when watches tell of a change, as data."""

from __future__ import annotations

import re
import time
from collections.abc import Mapping, Sequence
from dataclasses import fields, is_dataclass
from datetime import UTC, datetime

from checks.live import LiveCluster, Painter
from checks.picture import Picture, Seen
from lab.text import Speech
from provision.message import Message, say

# A watch that is cut is open again within this; only what lasts longer is worth a word.
PATIENCE_SECONDS = 1.5
# Nothing else is served while pictures are drawn: of many in a crowded queue only the end is shown.
DRAW_SECONDS = 0.1


class View:
    """What was seen last. `is_known` is False until every kind was listed once."""

    def __init__(self, live: LiveCluster, painter: Painter) -> None:
        self._live, self._painter = live, painter
        self._picture = Picture()
        self._seen_at = 0.0
        self._broken_at = 0.0
        self.is_known = False
        self.trouble: Message | None = None

    def look(self) -> list[Picture]:
        """The pictures since the last look that show something else than the one before.

        Of those in between only the ones where somebody has another place; none without news.
        """
        trouble, now = _why(self._live.trouble), time.monotonic()
        self._broken_at = (self._broken_at or now) if trouble else 0.0
        if trouble and now - self._broken_at < PATIENCE_SECONDS:
            return []
        was_trouble, was_known, self.trouble = self.trouble, self.is_known, trouble
        if trouble:
            return [] if trouble == was_trouble else [self._picture]
        pictures = self._drawn(self._live.look())
        self._seen_at, self.is_known = time.time(), True
        told, last = [], self._picture if was_known else None
        for picture in pictures:
            is_end = picture is pictures[-1]
            is_told = (
                picture != last if is_end else last is None or _places(picture) != _places(last)
            )
            if is_told and (is_end or was_known):
                told.append(picture)
                last = picture
        self._picture = pictures[-1]
        return told or ([self._picture] if was_trouble else [])

    def _drawn(self, all_seen: Sequence[Seen]) -> list[Picture]:
        *between, end = all_seen
        until, pictures = time.monotonic() + DRAW_SECONDS, []
        for seen in between:
            if time.monotonic() > until:
                break
            pictures.append(self._painter.draw(seen))
        return [*pictures, self._painter.draw(end)]

    @property
    def is_waiting(self) -> bool:
        """Something is in the way and may last: it is worth another look."""
        return bool(self._broken_at) and not self.trouble

    @property
    def newest(self) -> Picture:
        """The picture that was drawn last."""
        return self._picture

    def picture(self, picture: Picture, speech: Speech) -> Mapping[str, object]:
        """The `picture` of the page."""
        as_of = time.time() if not self.trouble and self.is_known else self._seen_at
        return {
            "as_of": datetime.fromtimestamp(as_of, UTC).isoformat(timespec="seconds"),
            "is_live": not self.trouble and self.is_known,
            "trouble": self._told(speech),
            **_plain(picture, speech),  # type: ignore[dict-item]
        }

    def place(self, speech: Speech) -> Mapping[str, object]:
        """The `place` of the page."""
        return {"is_ready": not self.trouble, "text": self._told(speech)}

    def _told(self, speech: Speech) -> str | None:
        if self.trouble is None:
            return None
        what = say("The cluster cannot be seen right now: {why}.", why=self.trouble)
        return f"{speech.of(what)} {speech.of(_STATUS)}"


_STATUS = say("lab status says more.")


def _why(trouble: str) -> Message | None:
    """What keeps the watches from seeing, in few words that stay while it lasts."""
    if not trouble:
        return None
    if status := re.search(r"HTTP (\d+)$", trouble):
        return say("the API server answers {status}", status=status[1])
    return say("the API server does not answer")


def _places(picture: Picture) -> object:
    """Who stands in which line, who holds quota, and who sits on which GPU."""
    queues = [
        (
            queue.name,
            sorted(one.uid for one in queue.holding),
            [one.uid for one in queue.waiting],
        )
        for queue in picture.queues
    ]
    slots = [(node.name, [slot.pod for slot in node.slots]) for node in picture.nodes]
    return queues, slots


def _plain(value: object, speech: Speech) -> object:
    """Data classes as mappings by the names of their fields, Messages as sentences."""
    if isinstance(value, Message):
        return speech.of(value)
    if is_dataclass(value) and not isinstance(value, type):
        return {one.name: _plain(getattr(value, one.name), speech) for one in fields(value)}
    if isinstance(value, tuple):
        return [_plain(one, speech) for one in value]
    return dict(value) if isinstance(value, Mapping) else value
