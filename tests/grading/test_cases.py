"""Every case, played on a real place: right passes, wrong is named, broken cannot be told."""

import re

import pytest

from checks.outcome import Outcome, StepVerdict
from lab.casework.cases import Case
from lab.casework.playing import Player
from tests.grading.conftest import LAB
from tests.grading.kit import read_cases

VERDICTS = {
    "right": StepVerdict.PASS,
    "wrong": StepVerdict.NOT_YET,
    "broken": StepVerdict.CANNOT_TELL,
}
pytestmark = [pytest.mark.integration, pytest.mark.timeout(150, func_only=True)]


def params(*kinds: str) -> list[object]:
    return [
        pytest.param(case, id=case.id, marks=() if case.is_smoke else (pytest.mark.full,))
        for case in read_cases(LAB)
        if case.kind in kinds
    ]


def str_id(case: Case) -> str:
    return case.id


def names(text: str, name: str) -> bool:
    """Whether a text names something: not merely as a part of another word or number."""
    before = r"(?<![0-9A-Za-z])" if name[0].isalnum() else ""
    after = r"(?![0-9A-Za-z])" if name[-1].isalnum() else ""
    return re.search(before + re.escape(name) + after, text) is not None


@pytest.mark.parametrize("case", params("right", "wrong"))
def test_answer_is_judged(case: Case, player: Player) -> None:
    played = player.play(case)
    assert played.result.verdict is VERDICTS[case.kind], str(played)
    if case.kind == "wrong":
        first = played.result.first_failure
        assert first is not None
        assert first.id == case.check, str(played)
        missing = [name for name in case.names if not names(played.finding(), name)]
        assert not missing, str(played)


@pytest.mark.parametrize("case", params("broken"))
def test_broken_place_is_told(case: Case, player: Player) -> None:
    played = player.play(case)
    assert played.result.verdict is VERDICTS[case.kind], str(played)
    outcomes = {check.outcome for check in played.result.checks}
    assert outcomes <= {Outcome.ERROR, Outcome.SKIPPED}, str(played)
    assert not [name for name in case.names if not names(played.troubles(), name)], str(played)


def needs_no_credit(case: Case) -> bool:
    """Cases of the step that compares with earlier evidence, and can be told without it."""
    return case.step == 8 and case.kind in ("right", "wrong")


@pytest.mark.full
@pytest.mark.parametrize("case", [c for c in read_cases(LAB) if needs_no_credit(c)], ids=str_id)
def test_order_of_events_is_told_without_evidence(case: Case, player: Player) -> None:
    played = player.play(case, has_credit=False)
    assert played.result.verdict is VERDICTS[case.kind], str(played)
