"""While a place is broken, each step is told truly or not at all; nothing false is recorded."""

from __future__ import annotations

import pytest

from tests.faults import acting
from tests.faults.faults import FAULTS
from tests.faults.own_place import own_place
from tests.faults.table import run

pytestmark = pytest.mark.integration


@pytest.mark.full
@pytest.mark.timeout(3000, func_only=True)
def test_no_fault_makes_a_false_verdict() -> None:
    told: list[str] = []
    with own_place("gql-faults-") as site:
        rows = (*run(site, FAULTS, told.append), *acting.run(site, FAULTS, told.append))
    assert {fault.name for fault in FAULTS} <= {row.fault for row in rows}
    assert sum(len(row.cells) for row in rows if row.world != acting.WORLD) >= 16 * len(FAULTS)
    assert not [row for row in rows if row.wrong], "\n".join(told)
