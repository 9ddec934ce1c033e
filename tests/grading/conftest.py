"""One place for all cases of a lab in a run, started when the first of them asks for it."""

from __future__ import annotations

from collections.abc import Callable, Iterator

import pytest

from lab.casework.desk import Desk
from lab.casework.memory import Memory
from lab.casework.playing import Player
from lab.places import Places
from lab.solving import environment
from tests.conftest import Surroundings

LAB = "kueue_quota"


Players = Callable[[str], Player]


@pytest.fixture(scope="package")
def players(
    surroundings: Surroundings, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[Players]:
    """Whoever plays the cases of a lab, on a place of the kit's own; one lab's is up at a time."""
    variables = surroundings(tmp_path_factory.mktemp("kit"))
    up: dict[str, Player] = {}

    def player_of(lab: str) -> Player:
        if lab not in up:
            while up:
                up.popitem()[1].place.target.down(lambda _: None)
            place = Places(variables, is_root=False).open(lab)
            place.target.up(lambda _: None)
            desk = Desk(place.workspace, environment(place, variables))
            up[lab] = Player(place, desk, Memory(place.home / "cases.json"))
        return up[lab]

    try:
        yield player_of
    finally:
        for player in up.values():
            player.place.target.down(lambda _: None)


@pytest.fixture
def player(players: Players) -> Player:
    """Whoever plays the cases of the first lab."""
    return players(LAB)
