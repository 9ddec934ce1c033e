"""A lab made from docs/add-a-lab.md alone, in a copy of the project: from nothing to graded."""

from __future__ import annotations

import hashlib
from pathlib import Path

import pytest

from tests.conftest import Surroundings
from tests.guide import SLUG, Copy, Move, copy_project, guide_walk, lay_files
from tests.integration.cli import BUILDING, Said, said_by

# The rules that hold for every lab, as `make test` asks them.
RULES = (
    *("tests/unit/test_docs.py", "tests/unit/test_structure.py", "tests/grading/test_kit.py"),
    *("tests/unit/lab/test_catalog_reading.py", "tests/unit/lab/test_hints.py"),
    *("tests/unit/lab/test_cluster.py", "tests/unit/lab/test_doctor.py"),
)
# By the names of the lab and of its step; how many cases a whole lab has is asked of whole labs.
CHOSEN = f"({SLUG} or counter) and not enough"

pytestmark = [pytest.mark.integration, pytest.mark.timeout(900, func_only=True)]


def fingerprints(root: Path) -> dict[str, str]:
    files = [file for file in root.rglob("*") if file.is_file() and file.suffix != ".pyc"]
    return {
        str(file.relative_to(root)): hashlib.sha256(file.read_bytes()).hexdigest() for file in files
    }


@pytest.fixture
def copy(tmp_path: Path) -> Copy:
    """The project with the guide's lab in it."""
    made = copy_project(tmp_path)
    lay_files(made.root)
    return made


def said_of(copy: Copy, move: Move, variables: dict[str, str]) -> Said:
    module = ["-m", "lab"] if move.program == "lab" else []
    command = [str(copy.python), *module, *move.arguments]
    within = BUILDING if "provision" in move.arguments else 120
    return said_by(command, variables | dict(move.variables), within, copy.root)


def words_of(said: Said) -> str:
    return " ".join((said.out + said.err).replace("`", "").split())


def test_the_guide_walks(copy: Copy, surroundings: Surroundings, tmp_path: Path) -> None:
    variables = dict(surroundings(tmp_path / "home"))
    before = fingerprints(copy.root)
    try:
        for move in guide_walk():
            said = said_of(copy, move, variables)
            assert said.code == move.code, f"{move}: {said}"
            for word in move.words:
                assert word in words_of(said), f"{move} does not say {word!r}: {said}"
        after = fingerprints(copy.root)
        assert set(before) <= set(after)
        changed = {path for path, print_ in after.items() if before.get(path) != print_}
        assert changed == {f"checks/{SLUG}/selftest/answers.json"}
        rules = [str(copy.python), "-m", "pytest", "-q", "-p", "no:cacheprovider", "-k", CHOSEN]
        held = said_by([*rules, *RULES], variables, 240, copy.root)
        assert held.code == 0, str(held)
    finally:
        for more in (("grade-case", "--down"), ("destroy", "--yes")):
            end = Move("lab", (*more, "--lab", SLUG), {})
            said_of(copy, end, variables)
