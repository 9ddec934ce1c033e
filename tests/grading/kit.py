"""The cases of this folder: where they lie, and what they must say beyond the format."""

from __future__ import annotations

from pathlib import Path

from lab.casework.cases import Case, CaseError, read_case
from lab.catalog import load_lab

KIT = Path(__file__).parent
KINDS = ("right", "wrong", "broken")


def read_kit_case(folder: Path, steps: int = 8) -> Case:
    """A case that lies at `<kind>/<lab>/<step>/<name>`; CaseError when the two do not agree."""
    case = read_case(folder, folder.parent.parent.name, steps)
    where = folder / "case.yaml"
    kind, step = folder.parents[2].name, folder.parent.name
    if case.kind != kind:
        raise CaseError(f"{where}: kind: {case.kind!r}, but it lies in the folder {kind}")
    if str(case.step) != step:
        raise CaseError(f"{where}: step: {case.step}, but it lies in the folder {step}")
    if not case.why or not case.source:
        raise CaseError(f"{where}: why: a text is wanted, and a source")
    if (case.kind == "wrong") != bool(case.check):
        raise CaseError(f"{where}: check: wrong cases name one, others do not")
    if case.kind == "broken" and not case.rig:
        raise CaseError(f"{where}: rig: broken cases name one")
    if (case.kind == "right") == bool(case.names):
        raise CaseError(f"{where}: names: right cases have none, others have some")
    return case


def read_cases(lab: str) -> list[Case]:
    """All cases of a lab, step by step; within a step those that begin alike stand together."""
    steps = len(load_lab(lab).steps)
    folders = [path.parent for kind in KINDS for path in (KIT / kind / lab).glob("*/*/case.yaml")]
    cases = [read_kit_case(folder, steps) for folder in folders]
    return sorted(cases, key=lambda case: (case.step, case.world, bool(case.scripts), case.id))
