"""Credit and truth are two things: every pairing of them, by the rules of the design."""

from dataclasses import replace

import pytest

from checks.outcome import CheckResult, Evidence, Finding, Outcome, StepResult, StepVerdict
from lab.catalog import load_lab
from lab.progress import StepRecord
from lab.standing import stand
from provision.message import say

LAB = load_lab("kueue_quota")
OLD = Evidence(kind="Job", name="train-1", uid="old", fact="Running", time="2026-01-02T03:04:05Z")
NEW = Evidence(kind="Job", name="train-1", uid="new", fact="Running", time="2026-01-02T03:09:05Z")
CREDIT = {4: StepRecord(attempts=1, passed_at="2026-01-02T03:04:05+00:00", evidence=(OLD,))}


def result(step: int, outcome: Outcome, *, is_transient: bool = False) -> StepResult:
    finding = Finding(say("a"), say("b"), say("c"), say("d"))
    check = CheckResult(
        id="one",
        title=say("One"),
        outcome=outcome,
        evidence=(NEW,) if outcome is Outcome.PASSED else (),
        finding=finding if outcome is Outcome.FAILED else None,
        is_transient=is_transient,
    )
    return StepResult(step, (check,), 1, 0.1)


def standing(outcome, *, is_transient=False, later=Outcome.PASSED, records=CREDIT, step=4):
    return stand(
        LAB,
        LAB.step(step),
        result(step, outcome, is_transient=is_transient),
        records,
        lambda other: result(other.number, later),
    )


def test_true_now():
    it = standing(Outcome.PASSED)
    assert (it.verdict, it.is_true_now, it.cause) == (StepVerdict.PASS, True, None)
    assert it.evidence == (NEW,)


def test_proven_for_the_past_passes_and_is_not_true_now():
    past = result(4, Outcome.PASSED)
    past = replace(past, checks=(replace(past.checks[0], is_past=True),))
    it = stand(LAB, LAB.step(4), past, {}, lambda other: past)
    assert (it.verdict, it.is_true_now, it.is_credit_only) == (StepVerdict.PASS, False, False)
    assert "8" in str(it.cause)
    assert it.evidence == (NEW,)


def test_undone_by_the_later_step_keeps_its_credit():
    it = standing(Outcome.FAILED, is_transient=True)
    assert (it.verdict, it.is_true_now) == (StepVerdict.PASS, False)
    assert "8" in str(it.cause)
    assert it.ended_by == 8
    assert it.evidence == (OLD,)


@pytest.mark.parametrize(
    ("is_transient", "later"), [(False, Outcome.PASSED), (True, Outcome.FAILED)]
)
def test_undone_by_anything_else_is_not_yet(is_transient, later):
    it = standing(Outcome.FAILED, is_transient=is_transient, later=later)
    assert (it.verdict, it.is_true_now, it.ended_by) == (StepVerdict.NOT_YET, False, 0)
    assert "not true now" in str(it.cause)
    assert not it.has_passed


def test_without_credit_the_later_step_is_named():
    it = standing(Outcome.FAILED, is_transient=True, records={})
    assert it.verdict is StepVerdict.NOT_YET
    assert "8" in str(it.cause)
    assert "make reset" in str(it.cause)


def test_without_credit_and_without_the_later_step_nothing_is_added():
    it = standing(Outcome.FAILED, is_transient=True, later=Outcome.FAILED, records={})
    assert (it.verdict, it.cause) == (StepVerdict.NOT_YET, None)


def test_later_step_that_cannot_be_told_is_not_guessed():
    assert standing(Outcome.FAILED, is_transient=True, later=Outcome.ERROR).verdict is (
        StepVerdict.CANNOT_TELL
    )


def test_cannot_tell_stays_so_with_credit():
    it = standing(Outcome.ERROR)
    assert (it.verdict, it.is_true_now) == (StepVerdict.CANNOT_TELL, None)
    assert it.has_passed
    assert "2026-01-02" in str(it.cause)
    assert "cannot be told" in str(it.cause)


def test_cannot_tell_without_credit_has_not_passed():
    it = standing(Outcome.ERROR, records={})
    assert (it.verdict, it.has_passed, it.cause) == (StepVerdict.CANNOT_TELL, False, None)


def test_a_time_that_nobody_can_read_is_shown_as_it_is():
    odd = {4: replace(CREDIT[4], passed_at="yesterday")}
    assert "yesterday" in str(standing(Outcome.FAILED, records=odd).cause)


def test_step_that_nothing_undoes_never_asks_for_a_later_one():
    def never(step):
        raise AssertionError(step)

    it = stand(LAB, LAB.step(1), result(1, Outcome.FAILED, is_transient=True), {}, never)
    assert it.verdict is StepVerdict.NOT_YET


def test_verdict_of_no_checks_is_cannot_tell():
    assert StepResult(1, (), 0, 0.0).verdict is StepVerdict.CANNOT_TELL
