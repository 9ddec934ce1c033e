"""What came of judging a step: outcomes, evidence, and their form as JSON."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field
from enum import StrEnum
from math import isfinite

from checks.spoken import message_from_json as message_from_json
from checks.spoken import message_to_json as message_to_json
from provision.message import Message

RESULT_SCHEMA = 1
_EVIDENCE_TEXTS = ("kind", "name", "fact", "time", "namespace", "uid", "resource_version")
_FINDING_PARTS = ("looked_at", "expected", "found", "next_move")


class Outcome(StrEnum):
    """What one check came to."""

    PASSED = "passed"
    FAILED = "failed"
    SKIPPED = "skipped"
    ERROR = "error"


class StepVerdict(StrEnum):
    """What a whole step came to, in the words that people see."""

    PASS = "PASS"
    NOT_YET = "NOT YET"
    CANNOT_TELL = "CANNOT TELL"


@dataclass(frozen=True, slots=True)
class Finding:
    """The four parts of a failure: where was looked, what was expected, what is there, what next.

    `expected` and `found` hold the learner's own values cut to a readable length.
    """

    looked_at: Message
    expected: Message
    found: Message
    next_move: Message


class Mismatch(Exception):
    """The learner's work is not right yet. Nothing else is ever the learner's fault."""

    def __init__(self, finding: Finding) -> None:
        super().__init__(f"{finding.looked_at}: {finding.expected} / {finding.found}")
        self.finding = finding


class CannotTell(Exception):
    """The place does not answer or cannot be trusted: `what` says why, `next_move` what helps."""

    def __init__(self, what: Message, *, next_move: Message) -> None:
        super().__init__(str(what))
        self.what = what
        self.next_move = next_move


@dataclass(frozen=True, slots=True)
class Evidence:
    """A fact that a passed check rests on.

    `kind`, `namespace`, `name`, `uid` and `resource_version` name the object as the API does (a
    file has kind "File" and only a name); `fact` is a short phrase such as "Admitted=True"; `time`
    is RFC 3339 UTC: since when it is so, or when it was read; `data` holds small values that later
    steps compare with.
    """

    kind: str
    name: str
    fact: str
    time: str
    namespace: str = ""
    uid: str = ""
    resource_version: str = ""
    data: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class CheckResult:
    """One check: `id` is the test function's name without `test_`, `title` its docstring.

    `finding` is set when it failed, `trouble` when it is an error (what) or skipped (its need).
    `is_transient`: a later step is meant to end it; `is_past`: it passed for a moment before that.
    """

    id: str
    title: Message
    outcome: Outcome
    evidence: tuple[Evidence, ...] = ()
    finding: Finding | None = None
    trouble: Message | None = None
    next_move: Message | None = None
    is_transient: bool = False
    is_past: bool = False


@dataclass(frozen=True, slots=True)
class StepResult:
    """One run of a step's checks; `requests` are those to the API, `remarks` change no verdict."""

    step: int
    checks: tuple[CheckResult, ...]
    requests: int
    seconds: float
    remarks: tuple[Message, ...] = ()

    @property
    def verdict(self) -> StepVerdict:
        """CANNOT TELL if any check is an error or there is none; PASS if all passed."""
        outcomes = {check.outcome for check in self.checks}
        if not outcomes or Outcome.ERROR in outcomes:
            return StepVerdict.CANNOT_TELL
        return StepVerdict.PASS if outcomes == {Outcome.PASSED} else StepVerdict.NOT_YET

    @property
    def first_failure(self) -> CheckResult | None:
        """The first check that failed: the first cause."""
        return next((c for c in self.checks if c.outcome is Outcome.FAILED), None)


def evidence_to_json(evidence: Evidence) -> dict[str, object]:
    """All fields of an Evidence by name."""
    return asdict(evidence) | {"data": dict(evidence.data)}


def evidence_from_json(data: object) -> Evidence:
    """The Evidence written by `evidence_to_json`; ValueError when a field is missing or no text."""
    shape = _mapping(data, "evidence")
    values = _mapping(shape.get("data", {}), "data")
    texts = {key: _text(shape, key) for key in _EVIDENCE_TEXTS}
    return Evidence(**texts, data={key: _text(values, key) for key in values})


def result_to_json(result: StepResult) -> dict[str, object]:
    """A StepResult as plain JSON values, with the number of its schema."""
    return {
        "schema": RESULT_SCHEMA,
        "step": result.step,
        "requests": result.requests,
        "seconds": result.seconds,
        "remarks": [message_to_json(remark) for remark in result.remarks],
        "checks": [check_to_json(check) for check in result.checks],
    }


def result_from_json(data: object) -> StepResult:
    """The StepResult written by `result_to_json`; ValueError when it is not one of this schema."""
    shape = _mapping(data, "result")
    if shape.get("schema") != RESULT_SCHEMA:
        raise ValueError(f"result: schema {shape.get('schema')!r} is not {RESULT_SCHEMA}")
    return StepResult(
        step=int(_number(shape, "step")),
        checks=tuple(check_from_json(item) for item in _items(shape, "checks")),
        requests=int(_number(shape, "requests")),
        seconds=_number(shape, "seconds"),
        remarks=tuple(message_from_json(item) for item in _items(shape, "remarks")),
    )


def check_to_json(check: CheckResult) -> dict[str, object]:
    """All that came of one check, as plain JSON values."""
    finding = check.finding
    return {
        "id": check.id,
        "title": message_to_json(check.title),
        "outcome": check.outcome.value,
        "evidence": [evidence_to_json(item) for item in check.evidence],
        "finding": finding
        and {part: message_to_json(getattr(finding, part)) for part in _FINDING_PARTS},
        "trouble": message_to_json(check.trouble),
        "next_move": message_to_json(check.next_move),
        "is_transient": check.is_transient,
        "is_past": check.is_past,
    }


def check_from_json(data: object) -> CheckResult:
    """The CheckResult written by `check_to_json`; ValueError when it is none."""
    shape = _mapping(data, "check")
    finding, trouble, move = (shape.get(key) for key in ("finding", "trouble", "next_move"))
    return CheckResult(
        id=_text(shape, "id"),
        title=message_from_json(shape.get("title")),
        outcome=Outcome(_text(shape, "outcome")),
        evidence=tuple(evidence_from_json(item) for item in _items(shape, "evidence")),
        finding=None if finding is None else _finding_from_json(finding),
        trouble=None if trouble is None else message_from_json(trouble),
        next_move=None if move is None else message_from_json(move),
        is_transient=shape.get("is_transient") is True,
        is_past=shape.get("is_past") is True,
    )


def _finding_from_json(data: object) -> Finding:
    shape = _mapping(data, "finding")
    return Finding(**{part: message_from_json(shape.get(part)) for part in _FINDING_PARTS})


def _mapping(data: object, what: str) -> Mapping[str, object]:
    if not isinstance(data, dict) or not all(isinstance(key, str) for key in data):
        raise ValueError(f"{what} must be an object")
    return data


def _items(shape: Mapping[str, object], key: str) -> Sequence[object]:
    items = shape.get(key)
    if not isinstance(items, list):
        raise ValueError(f"{key} must be a list")
    return items


def _text(shape: Mapping[str, object], key: str) -> str:
    value = shape.get(key)
    if not isinstance(value, str):
        raise ValueError(f"{key} must be a text")
    return value


def _number(shape: Mapping[str, object], key: str) -> float:
    value = shape.get(key)
    if not isinstance(value, int | float) or isinstance(value, bool) or not isfinite(value):
        raise ValueError(f"{key} must be a number")
    return value
