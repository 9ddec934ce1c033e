"""The cases of this folder: where they lie, and what they must say beyond the format."""

from __future__ import annotations

import ast
from pathlib import Path

from lab.casework.cases import Case, CaseError, read_case
from lab.casework.playbook import BASE, BOOK
from lab.catalog import lab_slugs, load_lab

KIT = Path(__file__).parent
KINDS = ("right", "wrong", "broken")
# The labs that have a kit.
LABS = tuple(slug for slug in lab_slugs() if (BASE / slug / BOOK).is_file())
# Checks that no learner can fail first, by lab and step, with the reason.
NEVER_FIRST = {
    (
        "kueue_quota",
        3,
        "queue_active",
    ): "a LocalQueue is not Active for its stopPolicy or for its ClusterQueue, "
    "and both are judged before; what is left is a Kueue that does not act",
}


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
    """All cases of a lab: by step, those that share a world side by side, broken ones last."""
    steps = len(load_lab(lab).steps)
    folders = [path.parent for kind in KINDS for path in (KIT / kind / lab).glob("*/*/case.yaml")]
    return sorted((read_kit_case(folder, steps) for folder in folders), key=_order)


def _order(case: Case) -> tuple[bool, bool, int, bool, str]:
    is_broken, is_ruin = case.kind == "broken", case.rig == "crds-absent"
    return (is_broken, is_ruin, case.step, case.world == "answered", case.id)


def checks_of(lab: str, step: int) -> list[str]:
    """The ids of a step's checks, in their order, as their file spells them."""
    file = KIT.parents[1] / "checks" / lab / load_lab(lab).step(step).checks
    tree = ast.parse(file.read_text(encoding="utf-8"))
    return [
        node.name.removeprefix("test_")
        for node in tree.body
        if isinstance(node, ast.FunctionDef) and node.name.startswith("test_")
    ]
