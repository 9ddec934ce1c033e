"""The newest verdict on each step, in no language, for whoever wants to show it later.

The record of progress counts; these files only repeat in full what was said last. So they may be
lost at any time, and nothing fails when they cannot be written.
"""

from __future__ import annotations

import contextlib
import json
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path

from checks.outcome import (
    StepResult,
    StepVerdict,
    message_from_json,
    message_to_json,
    result_from_json,
    result_to_json,
)
from lab.model import Step
from lab.progress import StepRecord
from lab.standing import Standing
from provision.files import read_plain, write_atomically
from provision.message import Message

SCHEMA = 1
TERMINAL, PAGE = "terminal", "page"


@dataclass(frozen=True, slots=True)
class StoredVerdict:
    """What was said of one step at `graded_at` (RFC 3339 UTC), asked for `by` terminal or page.

    The other fields are those of the Standing.
    """

    verdict: StepVerdict
    is_true_now: bool | None
    cause: Message | None
    ended_by: int
    result: StepResult
    graded_at: str
    by: str

    def standing(self, step: Step, record: StepRecord) -> Standing:
        """The same beside what is on record now."""
        return Standing(
            step,
            self.verdict,
            self.is_true_now,
            self.cause,
            self.result,
            record,
            self.ended_by,
        )


class VerdictStore:
    """The verdicts of one place, a file for each step."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder

    def put(self, standing: Standing, *, by: str) -> None:
        """Keep a verdict in place of the one before; a disk that refuses is no reason to fail."""
        entry = {
            "schema": SCHEMA,
            "graded_at": datetime.now(UTC).isoformat(timespec="milliseconds"),
            "by": by,
            "verdict": str(standing.verdict),
            "true_now": standing.is_true_now,
            "cause": message_to_json(standing.cause),
            "ended_by": standing.ended_by,
            "result": result_to_json(standing.result),
        }
        with contextlib.suppress(OSError):
            write_atomically(self._file(standing.step.number), json.dumps(entry))

    def get(self, step: int) -> StoredVerdict | None:
        """The newest verdict on a step; None when there is none that can be read."""
        try:
            return _read(json.loads(read_plain(self._file(step))))
        except (OSError, ValueError, KeyError, TypeError, RecursionError):
            return None

    def mark(self, steps: Iterable[int]) -> tuple[tuple[int, int, int], ...]:
        """Something that differs whenever a verdict was put or taken away; cheap to ask for."""
        return tuple(mark_of(self._file(step)) for step in steps)

    def archive(self, into: Path) -> None:
        """Start anew: the verdicts so far move into a folder of saved things."""
        if self._folder.is_dir():
            into.mkdir(parents=True, exist_ok=True)
            self._folder.replace(into / self._folder.name)

    def _file(self, step: int) -> Path:
        return self._folder / f"step_{step}.json"


def mark_of(file: Path) -> tuple[int, int, int]:
    """Inode, time and size of a file; zeros when there is none."""
    try:
        status = file.stat()
    except OSError:
        return 0, 0, 0
    return status.st_ino, status.st_mtime_ns, status.st_size


def _read(entry: Mapping[str, object]) -> StoredVerdict:
    if entry["schema"] != SCHEMA:
        raise ValueError("schema")
    is_true_now, cause, ended_by = entry["true_now"], entry["cause"], entry["ended_by"]
    return StoredVerdict(
        verdict=StepVerdict(str(entry["verdict"])),
        is_true_now=is_true_now if isinstance(is_true_now, bool) else None,
        cause=None if cause is None else message_from_json(cause),
        ended_by=ended_by if isinstance(ended_by, int) else 0,
        result=result_from_json(entry["result"]),
        graded_at=str(entry["graded_at"]),
        by=str(entry["by"]),
    )
