"""Every case, played on a real place: right passes, wrong is named, broken cannot be told."""

import pytest

from lab.casework.cases import Case
from lab.casework.playing import Player
from tests.grading.conftest import LAB, Players
from tests.grading.judging import VERDICTS, problem
from tests.grading.kit import LABS, read_cases

pytestmark = [pytest.mark.integration, pytest.mark.timeout(150, func_only=True)]


def params(*kinds: str) -> list[object]:
    return [
        pytest.param(
            case, id=f"{lab}/{case.id}", marks=() if case.is_smoke else (pytest.mark.full,)
        )
        for lab in LABS
        for case in read_cases(lab)
        if case.kind in kinds
    ]


MADE_AGAIN = "wrong/8/train-3-made-again"


def str_id(case: Case) -> str:
    return case.id


@pytest.mark.parametrize("case", params("right", "wrong", "broken"))
def test_answer_is_judged(case: Case, players: Players) -> None:
    played = players(case.lab).play(case)
    assert problem(played) == "", str(played)


def needs_no_credit(case: Case) -> bool:
    """Cases of the step that compares with earlier evidence, and can be told without it."""
    return case.step == 8 and case.kind in ("right", "wrong") and case.id != MADE_AGAIN


@pytest.mark.full
@pytest.mark.parametrize("case", [c for c in read_cases(LAB) if needs_no_credit(c)], ids=str_id)
def test_order_of_events_is_told_without_evidence(case: Case, player: Player) -> None:
    played = player.play(case, has_credit=False)
    assert played.result.verdict is VERDICTS[case.kind], str(played)


@pytest.mark.full
def test_a_job_made_again_that_waited_is_right_when_no_pass_names_another(player: Player) -> None:
    [case] = [case for case in read_cases(LAB) if case.id == MADE_AGAIN]
    played = player.play(case, has_credit=False)
    assert played.result.verdict is VERDICTS["right"], str(played)
