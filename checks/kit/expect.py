"""The words of a failure, and patience for what is on its way."""

from __future__ import annotations

import json
import time
from collections.abc import Callable
from dataclasses import dataclass
from typing import TypeVar

from checks.outcome import CannotTell, Finding, Mismatch
from provision.errors import TimedOut
from provision.message import Message, say
from provision.waiting import wait_until

T = TypeVar("T")
Path = tuple[str | int, ...]

_SHOWN = 160


class OnItsWay(Mismatch):
    """Not right yet, but it can become so by itself within seconds: worth another look.

    `overdue` says what it means when it does not come in the time there is; without it the finding
    stands as any other mismatch.
    """

    def __init__(self, finding: Finding, *, overdue: CannotTell | None = None) -> None:
        super().__init__(finding)
        self.overdue = overdue


@dataclass(frozen=True, slots=True)
class Fault:
    """What is off in one manifest, wherever it was read: at `path`, with the learner's next move.

    `is_fixed` says that the API lets nobody change this field: delete and create again. `remedy` is
    the next move when the object in the cluster has it, where applying the file again is no help.
    """

    path: Path
    expected: Message
    found: Message
    next_move: Message
    is_fixed: bool = False
    remedy: Message | None = None


def mismatch(looked_at: Message, expected: Message, found: Message, next_move: Message) -> Mismatch:
    """The exception for work that is not right yet."""
    return Mismatch(Finding(looked_at, expected, found, next_move))


def plain(text: object) -> Message:
    """Text that is the same in every language: a path, a name, a value."""
    return say("{text}", text=text)


def spell_path(path: Path) -> str:
    """A field path as people write it: `spec.nodeLabels["nvidia.com/gpu.present"]`."""
    text = ""
    for part in path:
        if isinstance(part, int):
            text += f"[{part}]"
        elif part.replace("-", "").replace("_", "").isalnum():
            text += f".{part}" if text else part
        else:
            text += f'["{part}"]'
    return text


def show(value: object) -> str:
    """A learner's value as JSON, cut to a readable length, on one line."""
    try:
        text = json.dumps(value, ensure_ascii=False)
    except (TypeError, ValueError):
        text = repr(value)
    return cut(text)


def cut(text: str, limit: int = _SHOWN) -> str:
    """Text on one line, what cannot be shown as U+FFFD, at most `limit` characters and a mark."""
    line = "".join(c if c.isprintable() else "\ufffd" for c in " ".join(text[: limit * 4].split()))
    return line if len(line) <= limit else f"{line[:limit]}[...]"


class Patience:
    """The seconds that all checks of a step may spend waiting, together."""

    def __init__(self, seconds: float, *, every: float = 0.2) -> None:
        self._left = seconds
        self._every = every

    def watch(self, judge: Callable[[], T], *, afresh: Callable[[], None]) -> T:
        """What `judge` returns, asked again while it raises OnItsWay and there is time left.

        `afresh` is called before each further look. When the time is over, the last OnItsWay is
        raised, or what it says about being overdue.
        """
        seen: list[T] = []
        last: list[OnItsWay] = []
        start = time.monotonic()

        def missing() -> Message | None:
            if last:
                afresh()
            try:
                seen.append(judge())
            except OnItsWay as way:
                last.append(way)
                return way.finding.found
            return None

        try:
            wait_until(missing, within=self._left, every=self._every)
        except TimedOut:
            raise last[-1].overdue or last[-1] from None
        finally:
            self._left = max(0.0, self._left - (time.monotonic() - start))
        return seen[-1]
