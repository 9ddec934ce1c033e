"""One place for the tests of the command line, started once; each test says in what state."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from tests.conftest import Surroundings
from tests.integration.cli import BUILDING, Lab


@pytest.fixture(scope="session")
def lab(surroundings: Surroundings, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Lab]:
    """A provisioned lab, in whatever state the test before left it."""
    place = Lab(surroundings(tmp_path_factory.mktemp("cli")))
    place.done("provision", within=BUILDING)
    try:
        yield place
    finally:
        place.run("down")


@pytest.fixture
def untouched(lab: Lab) -> Lab:
    """The same lab as a learner finds it."""
    lab.done("reset", "--yes")
    return lab


def is_solved(lab: Lab) -> bool:
    """Whether all steps stand and the last one is true now."""
    report = lab.check("all")
    return report["verdict"] == "PASS" and bool(report["steps"][-1]["true_now"])


@pytest.fixture(scope="module")
def solved(lab: Lab) -> Lab:
    """The same lab with all steps solved, for tests that leave it so."""
    if not is_solved(lab):
        lab.done("reset", "--yes")
        lab.done("solve", "all", "--yes")
    return lab
