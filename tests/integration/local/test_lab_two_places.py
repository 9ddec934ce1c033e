"""Two places at once on one machine: what is done in one is not seen in the other."""

import pytest

from tests.conftest import Surroundings
from tests.integration.cli import STEPS, Lab

pytestmark = [pytest.mark.integration, pytest.mark.timeout(300, func_only=True)]


@pytest.mark.full
def test_two_places_do_not_touch_each_other(
    solved: Lab, surroundings: Surroundings, tmp_path_factory: pytest.TempPathFactory
) -> None:
    other = Lab(surroundings(tmp_path_factory.mktemp("two")))
    try:
        other.done("provision")
        report = other.run("check", "all", "--json")
        assert report.code == 1, str(report)
        steps = report.json()["steps"]
        assert [step["verdict"] for step in steps] == ["NOT YET"] * len(STEPS)
        assert solved.run("check", "all").code == 0
        other.done("solve", "1", "--yes")
        assert other.run("check", "1").code == 0
        status = [lab.status()["components"] for lab in (solved, other)]
        pids = [{one["pid"] for one in components if one["running"]} for components in status]
        assert not pids[0] & pids[1]
        other.done("reset", "--yes")
        assert solved.run("check", "all").code == 0
    finally:
        other.done("destroy", "--yes")
    assert not (other.workspace.parent).exists()
    assert solved.status()["ready"]
