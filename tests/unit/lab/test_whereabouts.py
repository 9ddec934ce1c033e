"""What is told where the reader stands: only verbs that are to be had there."""

import re
from types import SimpleNamespace

import pytest

from lab.catalog import load_lab
from lab.commands.opening import _end_of
from lab.commands.placing import _following
from lab.places import Place
from lab.starters import VERBS
from provision.state import new_state, save_state


@pytest.fixture
def place(tmp_path):
    (tmp_path / "home").mkdir()
    return Place(load_lab("kueue_quota"), tmp_path / "home", tmp_path, SimpleNamespace())  # type: ignore[arg-type]


def test_in_a_machine_only_its_own_verbs_are_named(place):
    save_state(place.home, new_state("kueue_quota", "inside"))
    told = f"{_following(place, {})} {_end_of(place)}"
    assert set(re.findall(r"make (\w+)", told)) == {"open", "step", "check"} <= set(VERBS.split())


def test_where_the_place_is_here_it_is_closed_by_down(place):
    save_state(place.home, new_state("kueue_quota", "local"))
    assert "make shell" in str(_following(place, {}))
    assert "make shell" not in str(_following(place, {"LAB_SHELL": "1"}))
    assert "make down" in str(_end_of(place))
