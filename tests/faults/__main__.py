"""Prints the table of faults: `make faults`; `FAULT=webhook,disk make faults` for some of them."""

from __future__ import annotations

import os
import sys
from collections import defaultdict
from collections.abc import Iterable

from tests.faults import acting
from tests.faults.faults import FAULTS
from tests.faults.own_place import own_place
from tests.faults.table import WORLDS, Row, run
from tests.integration.cli import STEPS


def summary(rows: Iterable[Row]) -> str:
    """One line a fault over all worlds: how many steps could not be told, were true, were false."""
    counts: dict[str, list[int]] = defaultdict(lambda: [0, 0, 0])
    for row in rows:
        count = counts[row.fault]
        count[0] += row.untold
        count[1] += len(row.cells) - row.untold
        count[2] += len(row.wrong)
    lines = [f"{name:40} {a:11} {b:4} {c:5}" for name, (a, b, c) in counts.items()]
    return "\n".join([f"{'fault':40} {'cannot tell':>11} {'true':>4} {'false':>5}", *lines])


def main() -> int:
    only = os.environ.get("WORLD", "")
    wanted = os.environ.get("FAULT", "").lower().split(",")
    chosen = [fault for fault in FAULTS if any(word in fault.name.lower() for word in wanted)]

    def tell(text: str) -> None:
        print(text, flush=True)  # noqa: T201

    with own_place("gql-faults-") as site:
        steps = "  ".join(str(step) for step in STEPS)
        tell(f"{'world':12} {'fault':37} {steps}   P pass, N not yet, ? cannot tell")
        rows = run(site, chosen, tell, [world for world in WORLDS if only in world])
        if only in acting.WORLD:
            rows += acting.run(site, chosen, tell)
    tell(f"\n{summary(rows)}")
    wrong = sum(bool(row.wrong) for row in rows)
    tell(f"{len(chosen)} faults, {sum(len(r.cells) for r in rows)} verdicts, {wrong} rows wrong")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
