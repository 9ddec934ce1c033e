"""What a run of checks tells while it goes on: one JSON line for each check begun or ended."""

from __future__ import annotations

import contextlib
import json
import os
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from checks.outcome import Outcome, message_from_json, message_to_json
from provision.message import Message


@dataclass(frozen=True, slots=True)
class CheckNews:
    """A check that has begun (`outcome` None) or ended, the `index`th `of` all from 1.

    `seconds` is the time since the run began.
    """

    id: str
    title: Message
    index: int
    of: int
    outcome: Outcome | None
    seconds: float


def news_to_json(news: CheckNews) -> dict[str, object]:
    """It as plain JSON values."""
    return {
        "id": news.id,
        "title": message_to_json(news.title),
        "index": news.index,
        "of": news.of,
        "outcome": None if news.outcome is None else news.outcome.value,
        "seconds": round(news.seconds, 3),
    }


def news_from_json(data: Mapping[str, object]) -> CheckNews:
    """What `news_to_json` wrote; ValueError, KeyError or TypeError when it is no such thing."""
    outcome, index, of, seconds = (data[key] for key in ("outcome", "index", "of", "seconds"))
    if not isinstance(index, int) or not isinstance(of, int):
        raise ValueError("index and of must be whole numbers")
    if not isinstance(seconds, int | float):
        raise ValueError("seconds must be a number")
    return CheckNews(
        id=str(data["id"]),
        title=message_from_json(data["title"]),
        index=index,
        of=of,
        outcome=None if outcome is None else Outcome(str(outcome)),
        seconds=float(seconds),
    )


def append_line(file: Path, data: Mapping[str, object]) -> None:
    """Put one object at the end of a file; that it can't be written disturbs nobody."""
    line = (json.dumps(data) + "\n").encode()
    with contextlib.suppress(OSError):
        handle = os.open(file, os.O_WRONLY | os.O_APPEND | os.O_CREAT | os.O_CLOEXEC, 0o600)
        try:
            os.write(handle, line)
        finally:
            os.close(handle)


class LineReader:
    """Reads the whole lines that came since the last time; a file not there yet holds none."""

    def __init__(self, file: Path) -> None:
        self._file, self._at = file, 0

    def read(self) -> list[Mapping[str, object]]:
        """The new objects; lines that are none are passed over."""
        try:
            with self._file.open("rb") as lines:
                lines.seek(self._at)
                content = lines.read()
        except OSError:
            return []
        whole = content[: content.rfind(b"\n") + 1]
        self._at += len(whole)
        found: list[Mapping[str, object]] = []
        for line in whole.splitlines():
            with contextlib.suppress(ValueError):
                if isinstance(data := json.loads(line), dict):
                    found.append(data)
        return found
