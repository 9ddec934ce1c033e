"""Mutants of the answers: many, always the same, few set aside, and none that passes."""

from collections import Counter

import pytest

from checks.outcome import StepVerdict
from lab.casework.playbook import base_of
from lab.casework.playing import Player
from tests.grading.mutants import LAB, PROVEN, chosen, equivalents, play
from tests.grading.mutating import mutants

SAMPLE = 60  # of so many, one is played in every run of the tests


def test_mutants_are_many_and_always_the_same():
    first = mutants(base_of(LAB))
    assert len(first) >= 300
    assert mutants(base_of(LAB)) == first
    counts = Counter(mutant.step for mutant in first)
    assert all(counts[step] >= 20 for step in PROVEN)


def test_no_mutant_is_the_answer_itself():
    base = base_of(LAB)
    for mutant in mutants(base):
        if mutant.apply is None:
            texts = {name: (base / name).read_text(encoding="utf-8") for name in mutant.files}
            assert mutant.files != texts, mutant.id


def test_few_are_set_aside_and_each_has_its_reason():
    aside = equivalents()
    assert len(aside) <= len(mutants(base_of(LAB))) / 10
    assert all(len(mutant.reason) > 20 for mutant in aside)


def test_those_set_aside_are_not_played():
    assert not {mutant.id for mutant in chosen([])} & {mutant.id for mutant in equivalents()}


@pytest.mark.integration
@pytest.mark.timeout(150, func_only=True)
@pytest.mark.parametrize(
    "mutant",
    [
        pytest.param(
            mutant, id=mutant.id, marks=() if number % SAMPLE == 0 else (pytest.mark.full,)
        )
        for number, mutant in enumerate(chosen([]))
    ],
)
def test_a_mutant_does_not_pass(mutant, player: Player):
    played = play(player, mutant)
    assert played.result.verdict is StepVerdict.NOT_YET, str(played)
