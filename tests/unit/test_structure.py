"""The rules of the layout that can be read off the tree."""

import ast
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
MODULES = sorted(
    file for folder in ("lab", "checks", "provision") for file in (ROOT / folder).rglob("*.py")
)
DATA = (ROOT / "lab" / "content", ROOT / "solutions", ROOT / "provision" / "local" / "data")
MAX_MODULE, MAX_FUNCTION = 250, 40


def name(file: Path) -> str:
    return str(file.relative_to(ROOT))


@pytest.mark.parametrize("file", MODULES, ids=name)
def test_module_and_its_functions_stay_small(file):
    text = file.read_text(encoding="utf-8")
    assert len(text.splitlines()) < MAX_MODULE
    for node in ast.walk(ast.parse(text)):
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
            length = (node.end_lineno or 0) - node.lineno + 1
            assert length <= MAX_FUNCTION, f"{node.name} has {length} lines"


@pytest.mark.parametrize("file", MODULES, ids=name)
def test_no_bare_sleep_and_no_assert(file):
    for node in ast.walk(ast.parse(file.read_text(encoding="utf-8"))):
        assert not isinstance(node, ast.Assert), f"assert in line {node.lineno}"
        if isinstance(node, ast.Attribute) and node.attr == "sleep":
            assert name(file) == "provision/waiting.py", f"sleep in line {node.lineno}"


@pytest.mark.parametrize("folder", DATA, ids=name)
def test_data_folders_hold_no_python(folder):
    assert list(folder.rglob("*")), "the folder is empty"
    assert not list(folder.rglob("*.py"))
