"""While a place is broken, each step is told truly or not at all; nothing false is recorded."""

from __future__ import annotations

import pytest

from tests.faults import acting
from tests.faults.faults import FAULTS, Fault
from tests.faults.own_place import own_place
from tests.faults.site import Site, Way
from tests.faults.table import Cells, grade, play, run
from tests.integration.cli import STEPS, Lab

pytestmark = pytest.mark.integration

QUICK = [fault for fault in FAULTS if fault.is_quick]


@pytest.fixture(scope="module")
def truth(solved: Lab) -> Cells:
    """What is said of the solved lab when nothing is broken."""
    cells, odd = grade(Site.of(solved), Way())
    assert odd == ()
    assert {cell.verdict for cell in cells.values()} == {"PASS"}
    return cells


@pytest.mark.parametrize("fault", QUICK, ids=lambda fault: fault.name)
def test_a_quick_fault_makes_no_false_verdict(solved: Lab, truth: Cells, fault: Fault) -> None:
    row = play(Site.of(solved), "solved", fault, truth)
    assert set(row.cells) == set(STEPS)
    assert row.wrong == (), str(row)


@pytest.mark.full
@pytest.mark.timeout(3000, func_only=True)
def test_no_fault_makes_a_false_verdict() -> None:
    told: list[str] = []
    with own_place("gql-faults-") as site:
        rows = (*run(site, FAULTS, told.append), *acting.run(site, FAULTS, told.append))
    assert {fault.name for fault in FAULTS} <= {row.fault for row in rows}
    assert sum(len(row.cells) for row in rows if row.world != acting.WORLD) >= 16 * len(FAULTS)
    assert not [row for row in rows if row.wrong], "\n".join(told)
