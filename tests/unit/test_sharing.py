"""Which tests stay with one worker."""

from pathlib import Path

import pytest

from tests.sharing import LOTS, UNIT, lot_of, number_of

ROOT = Path(__file__).parents[2]
FILES = [str(file.relative_to(ROOT)) for file in (ROOT / "tests").rglob("test_*.py")]
HEADS = [head for heads in LOTS for head in heads]


@pytest.mark.parametrize("head", HEADS)
def test_each_head_of_a_lot_names_files_that_no_other_names(head):
    named = [file for file in FILES if file.startswith(head.partition("::")[0])]
    assert named
    # A part of a file stands before the lot that has the rest of it.
    before = HEADS[: HEADS.index(head)]
    others = tuple(other for other in HEADS if other != head and other not in before)
    assert not [file for file in named if file.startswith(others)] or "::" in head
    assert not [other for other in before if head.startswith(other)]


def test_a_lot_is_whole_and_a_file_of_unit_tests_is_one():
    first, last = next(heads for heads in LOTS if len(heads) == 2)
    assert lot_of(f"{first}x.py::test_a") == lot_of(f"{last}y.py::test_b[a::b]") == first
    assert lot_of(f"{UNIT}x.py::test_a[b::c]") == f"{UNIT}x.py"
    assert lot_of("tests/other/test_x.py::test_a") == "tests/other/test_x.py"
    assert number_of("tests/other/test_x.py::test_a") == len(LOTS)


def test_the_temporary_folder_of_a_worker_has_a_short_name(tmp_path_factory, request):
    if not hasattr(request.config, "workerinput"):
        pytest.skip("no workers: the folder's name is pytest's own")
    assert len(tmp_path_factory.getbasetemp().name) <= 2
