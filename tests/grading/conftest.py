"""One place for all cases of a run, started when the first case asks for it."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from lab.casework.desk import Desk
from lab.casework.memory import Memory
from lab.casework.playing import Player
from lab.places import Places
from lab.solving import environment
from tests.conftest import Surroundings

LAB = "kueue_quota"


@pytest.fixture(scope="package")
def player(
    surroundings: Surroundings, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[Player]:
    """The kit's own place, warm for the whole run, and whoever plays cases on it."""
    variables = surroundings(tmp_path_factory.mktemp("kit"))
    place = Places(variables, is_root=False).open(LAB)
    place.target.up(lambda _: None)
    try:
        desk = Desk(place.workspace, environment(place, variables))
        yield Player(place, desk, Memory(place.home / "cases.json"))
    finally:
        place.target.down(lambda _: None)
