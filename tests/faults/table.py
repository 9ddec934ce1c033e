"""Plays every fault in every world, grades all steps, and says which cells are false."""

from __future__ import annotations

import json
import subprocess
import time
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from provision.errors import LabError
from tests.faults.faults import Bites, Fault
from tests.faults.site import Site, Way
from tests.integration.cli import STEPS, Said, said_by

CANNOT_TELL = "CANNOT TELL"
EXIT_CODES = {"PASS": 0, "NOT YET": 1, CANNOT_TELL: 3}
SIGNS = {"PASS": "P", "NOT YET": "N", CANNOT_TELL: "?"}
WITHIN = 300.0
NO_FAULT = "(none)"


@dataclass(frozen=True, slots=True)
class Cell:
    """What was said of one step: the verdict, whether it is true now, which checks failed."""

    verdict: str
    true_now: bool | None = None
    failed: tuple[str, ...] = ()

    @property
    def is_cannot_tell(self) -> bool:
        """Nothing was said of the learner's work."""
        return self.verdict == CANNOT_TELL


Cells = Mapping[int, Cell]


@dataclass(frozen=True, slots=True)
class Row:
    """One fault in one world. `wrong` names what must not be; empty when all is as it should."""

    world: str
    fault: str
    cells: Cells
    wrong: tuple[str, ...]
    seconds: float

    @property
    def untold(self) -> int:
        """How many steps could not be told."""
        return sum(cell.is_cannot_tell for cell in self.cells.values())

    def __str__(self) -> str:
        signs = "  ".join(SIGNS.get(cell.verdict, "!") for cell in self.cells.values())
        text = f"{self.world:12} {self.fault:37} {signs}  {self.seconds:5.1f} s"
        return "\n".join([text, *(f"    FALSE: {why}" for why in self.wrong)])


def call(site: Site, way: Way, *arguments: str) -> Said:
    """Run `lab` as the fault demands."""
    variables = {**site.lab.variables, **way.variables}
    return said_by([*way.program, *arguments], variables, WITHIN)


def grade(site: Site, way: Way) -> tuple[Cells, tuple[str, ...]]:
    """All steps graded, at once if that gives eight verdicts, else one by one; and what is odd."""
    cells, wrong = read(call(site, way, "check", "all", "--json"), STEPS)
    if set(cells) == set(STEPS):
        return cells, wrong
    for step in STEPS:
        one, odd = read(call(site, way, "check", str(step), "--json"), [step])
        cells, wrong = {**cells, **one}, (*wrong, *odd)
        if step not in cells:
            cells[step] = Cell(CANNOT_TELL)
    return {step: cells[step] for step in STEPS}, wrong


def read(said: Said, steps: Iterable[int]) -> tuple[dict[int, Cell], tuple[str, ...]]:
    """The cells of a report, none when it was not given (exit code 3, and why); what is odd."""
    try:
        report = json.loads(said.out)
    except ValueError:
        is_told = said.code == 3 and said.err.strip() and "Traceback" not in said.err
        wrong = () if is_told and not said.out else (f"no report, {said}",)
        return {}, wrong
    cells = {one["step"]: _cell(one) for one in report["steps"]}
    wrong = tuple(
        f"step {one['step']} is {CANNOT_TELL} and says not why"
        for one in report["steps"]
        if one["verdict"] == CANNOT_TELL
        and not any(check["outcome"] == "error" and check["trouble"] for check in one["checks"])
    )
    code = max((EXIT_CODES[cell.verdict] for cell in cells.values()), default=-1)
    if (said.code, set(cells)) != (code, set(steps)):
        wrong = (*wrong, f"exit {said.code} for steps {sorted(cells)}: {said.err}")
    return cells, wrong


def _cell(step: Mapping[str, Any]) -> Cell:
    failed = tuple(check["id"] for check in step["checks"] if check["outcome"] == "failed")
    is_untold = step["verdict"] == CANNOT_TELL
    return Cell(step["verdict"], step["true_now"], () if is_untold else failed)


def play(site: Site, world: str, fault: Fault, truth: Cells) -> Row:
    """One fault: put in, all steps graded, taken out; record of progress and place as before."""
    record = site.lab.progress
    kept, began = record.read_bytes(), time.monotonic()
    with fault.inject(site) as way:
        before = record.read_bytes()
        cells, wrong = grade(site, way)
        after = record.read_bytes()
    record.write_bytes(kept)
    seconds = time.monotonic() - began
    if not fault.is_ruin:
        site.await_ready()
    wrong += tuple(false_cells(cells, truth))
    wrong += tuple(false_lines(before, after, cells))
    wrong += tuple(_bite(fault, cells))
    return Row(world, fault.name, cells, wrong, seconds)


def false_cells(cells: Cells, truth: Cells) -> Iterator[str]:
    """Verdicts that are neither true nor CANNOT TELL."""
    for step, cell in cells.items():
        if not cell.is_cannot_tell and cell != truth[step]:
            yield f"step {step}: {cell}, and the truth is {truth[step]}"


def false_lines(before: bytes, after: bytes, cells: Cells) -> Iterator[str]:
    """The record holds what was told and nothing of what could not be told."""
    if not after.startswith(before):
        yield "the record of progress was rewritten"
        return
    for line in after[len(before) :].splitlines():
        entry = json.loads(line)
        if entry["verdict"] != cells[entry["step"]].verdict:
            yield f"recorded {entry['verdict']} for step {entry['step']}"


def _bite(fault: Fault, cells: Cells) -> Iterator[str]:
    """A fault that does not do what it must was not put in, and proves nothing."""
    untold = sum(cell.is_cannot_tell for cell in cells.values())
    wanted = {Bites.ALL: untold == len(cells), Bites.SOME: untold > 0, Bites.NONE: untold == 0}
    if not wanted.get(fault.bites, True):
        yield f"{untold} of {len(cells)} steps cannot be told, expected: {fault.bites}"


def _half_done(site: Site) -> None:
    site.lab.done("reset", "--yes")
    for step in range(1, 5):
        site.lab.done("solve", str(step), "--yes")


def _solved(site: Site) -> None:
    site.lab.done("reset", "--yes")
    site.lab.done("solve", "all", "--yes")


WORLDS: Mapping[str, Callable[[Site], None]] = {"steps 1-4": _half_done, "solved": _solved}


def run(
    site: Site,
    faults: Iterable[Fault],
    tell: Callable[[str], None],
    worlds: Iterable[str] = tuple(WORLDS),
) -> tuple[Row, ...]:
    """All faults in all worlds; `tell` gets each row as it comes."""
    rows: list[Row] = []

    def add(row: Row) -> None:
        rows.append(row)
        tell(str(row))

    chosen = tuple(faults)
    for world in worlds:
        WORLDS[world](site)
        truth, odd = grade(site, Way())
        add(Row(world, NO_FAULT, truth, odd, 0.0))
        for fault in chosen:
            if not fault.is_ruin:
                add(_row(site, world, fault, truth))
        add(Row(world, "(none, after all of these)", *_healed(site, truth), 0.0))
        for fault in chosen:
            if fault.is_ruin:
                add(_row(site, world, fault, truth))
    return tuple(rows)


def _row(site: Site, world: str, fault: Fault, truth: Cells) -> Row:
    """One fault; what fails in playing it is told, and ends no table."""
    try:
        return play(site, world, fault, truth)
    except (AssertionError, LabError, subprocess.TimeoutExpired) as error:
        site.lab.done("provision")
        return Row(world, fault.name, {}, (f"{type(error).__name__}: {error}",), 0.0)


def _healed(site: Site, truth: Cells) -> tuple[Cells, tuple[str, ...]]:
    """All steps again, and what is not as it was before the faults."""
    cells, odd = grade(site, Way())
    untold = (f"step {n} is untold" for n, cell in cells.items() if cell.is_cannot_tell)
    return cells, (*odd, *untold, *false_cells(cells, truth))
