"""The table of faults is believed only because it would see a false cell."""

from __future__ import annotations

import json

import pytest

from tests.faults.table import CANNOT_TELL, Cell, false_cells, false_lines, read
from tests.integration.cli import Said

TRUTH = {1: Cell("PASS", True), 2: Cell("NOT YET", False, ("queue",))}


def report(*verdicts: str, trouble: str | None = "no answer", code: int | None = None) -> Said:
    codes = {"PASS": 0, "NOT YET": 1, CANNOT_TELL: 3}
    steps = [
        {
            "step": number,
            "verdict": verdict,
            "true_now": None,
            "checks": [{"id": "a", "outcome": "error", "trouble": trouble}],
        }
        for number, verdict in enumerate(verdicts, start=1)
    ]
    worst = max(codes[verdict] for verdict in verdicts)
    return Said(worst if code is None else code, json.dumps({"steps": steps}), "")


def test_a_report_gives_a_cell_a_step() -> None:
    cells, odd = read(report("PASS", CANNOT_TELL), [1, 2])
    assert {step: cell.verdict for step, cell in cells.items()} == {1: "PASS", 2: CANNOT_TELL}
    assert odd == ()


@pytest.mark.parametrize(
    "said",
    [
        report("PASS", CANNOT_TELL, code=1),
        report("PASS"),
        report("PASS", CANNOT_TELL, trouble=""),
        Said(1, "", "Traceback"),
        Said(3, "", ""),
        Said(3, "", "Traceback (most recent call last):"),
        Said(0, "{", "what"),
    ],
    ids=["code", "too few", "no reason", "crash", "silent", "traceback", "torn"],
)
def test_what_is_odd_is_seen(said: Said) -> None:
    assert read(said, [1, 2])[1]


def test_a_refusal_with_words_is_no_report_and_not_odd() -> None:
    assert read(Said(3, "", "The record cannot be used"), [1, 2]) == ({}, ())


@pytest.mark.parametrize(
    ("cell", "is_false"),
    [
        (Cell("NOT YET", False, ("queue",)), False),
        (Cell(CANNOT_TELL), False),
        (Cell("NOT YET", False, ("other",)), True),
        (Cell("PASS", True), True),
    ],
)
def test_a_false_cell_is_seen(cell: Cell, is_false: bool) -> None:
    found = list(false_cells({1: TRUTH[1], 2: cell}, TRUTH))
    assert bool(found) is is_false


def test_a_false_record_is_seen() -> None:
    before, told = b'{"step":1}\n', {1: Cell(CANNOT_TELL), 2: TRUTH[2]}
    assert list(false_lines(before, before, told)) == []
    right = before + b'{"step":2,"verdict":"NOT YET"}\n'
    assert list(false_lines(before, right, told)) == []
    assert list(false_lines(before, right + b'{"step":1,"verdict":"NOT YET"}\n', told))
    assert list(false_lines(before, b"", told))
