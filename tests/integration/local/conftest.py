"""A provisioned place for the tests of the target itself, started once."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from lab.places import Places
from provision.settings import Settings
from tests.conftest import Surroundings
from tests.integration.local.why_world import World
from tests.integration.places import TestPlace

MakePlace = Callable[[str], TestPlace]


@pytest.fixture(scope="package")
def make_place(
    surroundings: Surroundings, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[MakePlace]:
    """Makes places that are not up yet; all of them are removed at the end."""
    made: list[TestPlace] = []

    def make(name: str) -> TestPlace:
        root: Path = tmp_path_factory.mktemp(name)
        place = TestPlace(root, Settings.from_environment(surroundings(root)))
        made.append(place)
        return place

    yield make
    for place in made:
        place.target.destroy(place.tell)


@pytest.fixture(scope="package")
def up_place(make_place: MakePlace) -> TestPlace:
    """One place that was brought up; tests leave it up, in whatever state."""
    place = make_place("up")
    place.target.up(place.tell)
    return place


@pytest.fixture
def place(up_place: TestPlace) -> TestPlace:
    """The same place, up and ready."""
    up_place.target.up(up_place.tell)
    return up_place


@pytest.fixture(scope="package")
def why_place(
    surroundings: Surroundings, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[World]:
    """One place for all questions why something waits, as the command line makes it."""
    root = tmp_path_factory.mktemp("why")
    variables = surroundings(root)
    target = Places(variables, is_root=False).open("kueue_quota").target
    place = TestPlace(root, Settings.from_environment(variables))
    try:
        target.up(place.tell)
        place.kubectl("create", "namespace", "team-b")
        yield World(place)
    finally:
        target.destroy(place.tell)


@pytest.fixture
def world(why_place: World) -> Iterator[World]:
    """The same place, empty, and cleaned afterwards."""
    yield why_place
    why_place.clean()
