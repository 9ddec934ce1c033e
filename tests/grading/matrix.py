"""The kill matrix: per check, the wrong cases that it caught. `python -m tests.grading.matrix`.

Plays the whole kit, or only the cases whose ids begin with one of the arguments, step by step on as
many places as $N says (2): a case mostly waits for its cluster.
Fails when a check catches none, when a case is caught by another check than its own or does not
name what it must, and when a right case does not pass.
"""

from __future__ import annotations

import os
import queue
import sys
import time
from collections import Counter
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path

from click import echo

from lab.casework.cases import Case
from lab.casework.kit import FOLDER, open_player, remove_kit
from lab.casework.playing import Player
from lab.places import Places
from provision.errors import LabError
from tests.grading.judging import killer, problem
from tests.grading.kit import KINDS, NEVER_FIRST, checks_of, read_cases

LAB = os.environ.get("LAB", "kueue_quota")
PLACES = int(os.environ.get("N") or 2)


@dataclass(frozen=True, slots=True)
class Row:
    """What came of one case: who caught it, what is off, and how long it took."""

    case: Case
    killer: str
    problem: str
    seconds: float


def play(player: Player, case: Case) -> Row:
    """One case; trouble of the place counts as a problem of the case."""
    began = time.monotonic()
    try:
        played = player.play(case)
    except LabError as error:
        return Row(case, "", f"could not be played: {error}", time.monotonic() - began)
    row = Row(case, killer(played), problem(played), time.monotonic() - began)
    if row.problem:
        echo(f"{played}\n  !! {row.problem}")
    echo(f"{row.seconds:5.1f} s  {case.id}  {row.killer}")
    return row


def work(root: Path, lots: queue.SimpleQueue[list[Case]]) -> list[Row]:
    """Play lots on the kit's place below a folder while there are any."""
    rows: list[Row] = []
    with open_player(os.environ, root, LAB) as player:
        while True:
            try:
                lot = lots.get_nowait()
            except queue.Empty:
                return rows
            rows += [play(player, case) for case in lot]


def draw(rows: Sequence[Row], *, is_whole: bool) -> list[str]:
    """The matrix as lines; those that begin with !! are failures."""
    lines = []
    for step in sorted({row.case.step for row in rows}):
        mine = [row for row in rows if row.case.step == step]
        counts = Counter(row.case.kind for row in mine)
        lines.append(f"step {step}: " + ", ".join(f"{counts[kind]} {kind}" for kind in KINDS))
        for check in checks_of(LAB, step):
            caught = [
                row.case.folder.name
                for row in mine
                if row.case.kind == "wrong" and row.killer == check
            ]
            never = NEVER_FIRST.get((LAB, step, check))
            lines.append(f"  {check:22} {len(caught):3}  {', '.join(caught) or never or '-'}")
            if is_whole and not caught and never is None:
                lines.append(f"!! step {step}: {check} catches no wrong case")
    return lines + [f"!! {row.case.id} {row.problem}" for row in rows if row.problem]


def main(prefixes: Sequence[str]) -> int:
    """Play, print, and return 1 when anything is not as it must be."""
    cases = [
        case
        for case in read_cases(LAB)
        if not prefixes or any(case.id.startswith(prefix) for prefix in prefixes)
    ]
    root = Places(os.environ, is_root=os.geteuid() == 0).root
    began = time.monotonic()
    lots: queue.SimpleQueue[list[Case]] = queue.SimpleQueue()
    for step, _ in Counter(case.step for case in cases).most_common():  # the long ones first
        lots.put([case for case in cases if case.step == step])
    roots = [root, *(root / FOLDER / str(n) for n in range(2, PLACES + 1))]
    with ThreadPoolExecutor(PLACES) as pool:
        rows = [row for done in pool.map(lambda one: work(one, lots), roots) for row in done]
    seconds = time.monotonic() - began
    for one in roots[1:]:
        remove_kit(os.environ, one, LAB)
    lines = draw(rows, is_whole=not prefixes)
    echo("\n".join(lines))
    refused = sum(row.case.kind == "right" and bool(row.problem) for row in rows)
    survivors = sum(row.case.kind == "wrong" and not row.killer for row in rows)
    others = sum(
        row.case.kind == "wrong" and row.killer not in ("", row.case.check) for row in rows
    )
    echo(
        f"{len(rows)} cases in {seconds:.0f} s, {seconds / max(len(rows), 1):.1f} s each: "
        f"{survivors} survivors, {others} wrong killers, {refused} right cases refused"
    )
    return 1 if any(line.startswith("!!") for line in lines) else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
