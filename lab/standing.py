"""Credit and truth of a step: what was earned, what holds now, and why they differ."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass

from checks.outcome import Evidence, Outcome, StepResult, StepVerdict
from lab.model import Lab, Step
from lab.progress import StepRecord
from lab.text import DATED, clock
from provision.message import Message, say


@dataclass(frozen=True, slots=True)
class Standing:
    """One step as it is shown: the fresh result and what is on record beside it.

    `verdict` is the one that counts; `is_true_now` is None when it could not be told; `cause` says
    why credit and truth differ; `ended_by` is the later step that ended what this one asks for, 0
    for none.
    """

    step: Step
    verdict: StepVerdict
    is_true_now: bool | None
    cause: Message | None
    result: StepResult
    record: StepRecord
    ended_by: int = 0

    @property
    def evidence(self) -> tuple[Evidence, ...]:
        """What the verdict rests on: the fresh evidence, or that of the pass on record."""
        fresh = tuple(e for check in self.result.checks for e in check.evidence)
        return self.record.evidence if self.is_credit_only else fresh

    @property
    def is_credit_only(self) -> bool:
        """The checks do not pass now, but did once, and a later step has ended that since."""
        return self.verdict is StepVerdict.PASS and self.result.verdict is not StepVerdict.PASS

    @property
    def has_passed(self) -> bool:
        """It counts as passed: by its verdict, or on record where there is no verdict now."""
        if self.verdict is StepVerdict.CANNOT_TELL:
            return bool(self.record.passed_at)
        return self.verdict is StepVerdict.PASS


def stand(
    lab: Lab,
    step: Step,
    result: StepResult,
    records: Mapping[int, StepRecord],
    grade_later: Callable[[Step], StepResult],
) -> Standing:
    """Weigh a fresh result against the record; `grade_later` judges the step that undoes it."""
    record = records.get(step.number, StepRecord())
    if result.verdict is StepVerdict.CANNOT_TELL:
        return _untold(step, result, record)
    if _is_past(result) and step.undone_by:
        cause = say(
            "Step {later} ended it, as it is meant to; that it was so before is proven.",
            later=step.undone_by,
        )
        return Standing(step, StepVerdict.PASS, False, cause, result, record, step.undone_by)
    if result.verdict is StepVerdict.PASS:
        return Standing(step, StepVerdict.PASS, True, None, result, record)
    if not step.undone_by or not _only_transient(result):
        return _not_yet(step, result, record)
    later = grade_later(lab.step(step.undone_by))
    if later.verdict is StepVerdict.CANNOT_TELL:
        return _untold(step, later, record)
    if later.verdict is not StepVerdict.PASS:
        return _not_yet(step, result, record)
    if record.passed_at:
        cause = say("Step {later} ended it, as it is meant to.", later=step.undone_by)
        return Standing(step, StepVerdict.PASS, False, cause, result, record, step.undone_by)
    cause = say(
        "Step {later} is done and has ended what this step asks for; make reset starts anew.",
        later=step.undone_by,
    )
    return Standing(step, StepVerdict.NOT_YET, False, cause, result, record, step.undone_by)


def _is_past(result: StepResult) -> bool:
    """All passed, but some check for a moment before the later step: proven, and no longer so."""
    return result.verdict is StepVerdict.PASS and any(check.is_past for check in result.checks)


def _only_transient(result: StepResult) -> bool:
    """Nothing failed but what a later step is meant to end (and what waits for such a check)."""
    failed = [c for c in result.checks if c.outcome is Outcome.FAILED]
    return bool(failed) and all(c.is_transient for c in failed)


def _untold(step: Step, result: StepResult, record: StepRecord) -> Standing:
    cause = None
    if record.passed_at:
        passed = clock(record.passed_at, DATED)
        cause = say("It passed at {time}; whether it is true now cannot be told.", time=passed)
    return Standing(step, StepVerdict.CANNOT_TELL, None, cause, result, record)


def _not_yet(step: Step, result: StepResult, record: StepRecord) -> Standing:
    cause = None
    if record.passed_at:
        cause = say("It passed at {time} and is not true now.", time=clock(record.passed_at, DATED))
    return Standing(step, StepVerdict.NOT_YET, False, cause, result, record)
