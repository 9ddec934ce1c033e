"""What came of judging a step: outcomes, evidence, and their form as JSON."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum

from provision.message import Message

RESULT_SCHEMA = 1


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
    """The place does not answer or cannot be trusted now; `what` says why, `next_move` what helps."""

    def __init__(self, what: Message, *, next_move: Message) -> None:
        super().__init__(str(what))
        self.what = what
        self.next_move = next_move


@dataclass(frozen=True, slots=True)
class Evidence:
    """A fact that a passed check rests on.

    `kind`, `namespace`, `name`, `uid` and `resource_version` name the object as the API does (a file
    has kind "File" and only a name); `fact` is a short phrase such as "Admitted=True"; `time` is
    RFC 3339 UTC: since when it is so, or when it was read; `data` holds small values that later
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

    `finding` is set when it failed; `trouble` when it is an error (what) or skipped (which check it
    needs). `is_transient` says that a later step is meant to end its truth.
    """

    id: str
    title: Message
    outcome: Outcome
    evidence: tuple[Evidence, ...] = ()
    finding: Finding | None = None
    trouble: Message | None = None
    next_move: Message | None = None
    is_transient: bool = False


@dataclass(frozen=True, slots=True)
class StepResult:
    """One run of a step's checks; `requests` counts API requests, `seconds` the time of the run.

    `remarks` are sentences worth telling that change no verdict.
    """

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
