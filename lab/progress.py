"""Attempts, passes and hints, one JSON object a line: only ever appended, each line whole."""

from __future__ import annotations

import fcntl
import json
import os
import uuid
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import asdict, dataclass, field, replace
from datetime import UTC, datetime
from pathlib import Path

from checks.outcome import (
    CheckResult,
    Evidence,
    StepResult,
    StepVerdict,
    check_from_json,
    check_to_json,
    evidence_from_json,
    evidence_to_json,
)
from provision.errors import LabError
from provision.files import read_plain, require_plain
from provision.message import say

SCHEMA = 1


@dataclass(frozen=True, slots=True)
class HintUse:
    """A hint that was shown: for which check, about what (empty: no special case), which level."""

    check: str
    about: str
    level: int


@dataclass(frozen=True, slots=True)
class StepRecord:
    """What is on record of one step: `passed_at` is RFC 3339 UTC, empty when it never passed.

    `is_solved` tells that the first pass came from the answers and not from the learner;
    `evidence` is that of the newest pass, and `evidence_at` when that was. `graded_at`, `run` and
    `failure` are of the newest attempt: when, which command's it was (the same for all steps that
    were graded together), and the first check that failed (None when it passed).
    """

    attempts: int = 0
    passed_at: str = ""
    is_solved: bool = False
    evidence: tuple[Evidence, ...] = field(default=())
    evidence_at: str = ""
    hints: tuple[HintUse, ...] = field(default=())
    graded_at: str = ""
    run: str = ""
    failure: CheckResult | None = None

    def level_used(self, check: str, about: str) -> int:
        """The highest level of hint shown for this; 0 when none was."""
        levels = [h.level for h in self.hints if (h.check, h.about) == (check, about)]
        return max(levels, default=0)


class ProgressLog:
    """The record of one place; a folder that cannot be written is a LabError, never a lost line."""

    def __init__(self, file: Path) -> None:
        self._file = file
        self._run = uuid.uuid4().hex

    def records(self) -> Mapping[int, StepRecord]:
        """Steps by number, folded from all whole lines; a torn last line is passed over."""
        records: dict[int, StepRecord] = {}
        for entry in self._entries():
            number, fold = entry.get("step"), _FOLDS.get(str(entry.get("event")))
            if fold is not None and isinstance(number, int):
                records[number] = fold(records.get(number, StepRecord()), entry)
        return records

    def record_of(self, step: int) -> StepRecord:
        """What is on record of one step; an empty record when nothing is."""
        return self.records().get(step, StepRecord())

    def record(self, result: StepResult, *, by_answer: bool) -> None:
        """Append one graded attempt. CANNOT TELL says nothing of the learner and is not kept."""
        if result.verdict is StepVerdict.CANNOT_TELL:
            return
        passed = result.verdict is StepVerdict.PASS
        failure = result.first_failure
        self._append(
            "graded",
            result.step,
            {
                "verdict": str(result.verdict),
                "by": "answer" if by_answer else "learner",
                "run": self._run,
                "failed": [c.id for c in result.checks if c.outcome == "failed"],
                "first_failure": None if failure is None else check_to_json(failure),
                "evidence": [evidence_to_json(e) for c in result.checks for e in c.evidence]
                if passed
                else [],
            },
        )

    def record_hint(self, step: int, use: HintUse) -> None:
        """Append that a hint was shown."""
        self._append("hint", step, asdict(use))

    def archive(self, into: Path) -> None:
        """Start anew: the record so far moves into a folder of saved things."""
        if self._file.exists():
            into.mkdir(parents=True, exist_ok=True)
            self._file.replace(into / self._file.name)

    def _entries(self) -> Iterator[Mapping[str, object]]:
        try:
            text = read_plain(self._file).decode(errors="replace")
        except FileNotFoundError:
            return
        except OSError as error:
            raise _unusable(self._file, error) from error
        for line in text.splitlines():
            try:
                entry = json.loads(line)
            except (ValueError, RecursionError):
                continue  # torn by a crash or a full disk; whole lines before and after hold
            if isinstance(entry, dict):
                yield entry

    def _append(self, event: str, step: int, facts: Mapping[str, object]) -> None:
        entry = {
            "schema": SCHEMA,
            "id": uuid.uuid4().hex,
            "event": event,
            "time": datetime.now(UTC).isoformat(timespec="microseconds"),
            "step": step,
            **facts,
        }
        line = (json.dumps(entry, ensure_ascii=False, separators=(",", ":")) + "\n").encode()
        try:
            self._file.parent.mkdir(parents=True, exist_ok=True)
            require_plain(self._file)
            with _locked(self._file) as descriptor:
                size = os.fstat(descriptor).st_size
                if size and os.pread(descriptor, 1, size - 1) != b"\n":
                    line = b"\n" + line
                try:
                    if os.write(descriptor, line) != len(line):
                        raise OSError(28, os.strerror(28))
                    os.fsync(descriptor)
                except OSError:
                    os.ftruncate(descriptor, size)
                    raise
        except OSError as error:
            raise _unusable(self._file, error) from error


@contextmanager
def _locked(file: Path) -> Iterator[int]:
    descriptor = os.open(file, os.O_RDWR | os.O_APPEND | os.O_CREAT | os.O_CLOEXEC, 0o600)
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX)
        yield descriptor
    finally:
        os.close(descriptor)


def _fold_attempt(record: StepRecord, entry: Mapping[str, object]) -> StepRecord:
    record = replace(
        record,
        attempts=record.attempts + 1,
        graded_at=str(entry.get("time", "")),
        run=str(entry.get("run") or entry.get("id", "")),
        failure=_read_failure(entry.get("first_failure")),
    )
    if entry.get("verdict") != str(StepVerdict.PASS):
        return record
    return replace(
        record,
        passed_at=record.passed_at or str(entry.get("time", "")),
        evidence_at=str(entry.get("time", "")),
        is_solved=record.is_solved if record.passed_at else entry.get("by") == "answer",
        evidence=_read_evidence(entry.get("evidence")),
    )


def _fold_hint(record: StepRecord, entry: Mapping[str, object]) -> StepRecord:
    level = entry.get("level")
    if not isinstance(level, int):
        return record
    use = HintUse(str(entry.get("check", "")), str(entry.get("about", "")), level)
    return replace(record, hints=(*record.hints, use))


def _read_evidence(data: object) -> tuple[Evidence, ...]:
    """What cannot be read, since another version or another hand wrote it, proves nothing."""
    items = [item for item in data if isinstance(item, dict)] if isinstance(data, list) else []
    try:
        return tuple(evidence_from_json(item) for item in items)
    except (ValueError, KeyError, TypeError):
        return ()


def _read_failure(data: object) -> CheckResult | None:
    """None, too, for what another version wrote: then the step is graded again before a hint."""
    try:
        return None if data is None else check_from_json(data)
    except (ValueError, KeyError, TypeError):
        return None


_FOLDS = {"graded": _fold_attempt, "hint": _fold_hint}


def _unusable(file: Path, error: OSError) -> LabError:
    return LabError(
        say("The record of progress {file} cannot be used: {error}", file=file, error=error),
        next_move=say(
            "Make room or mend the permissions of {folder}, then check again.", folder=file.parent
        ),
    )
