"""The lab of docs/add-a-lab.md: its files are data of a lab, whole, and read without a place."""

import ast

import pytest

from lab.catalog import load_lab
from lab.cluster import cluster_objects
from lab.content import render
from lab.hints import read_hints
from lab.places import Place
from lab.solving import read_answer
from lab.text import LANGUAGES
from tests.grading.kit import read_kit_case
from tests.guide import DATA, SLUG, guide_files, guide_walk, lay_files
from tests.unit.test_docs import HEADINGS


@pytest.fixture
def project(tmp_path):
    lay_files(tmp_path)
    return tmp_path


@pytest.fixture
def lab(project):
    return load_lab(SLUG, project / "lab" / "content")


def test_no_file_of_the_guide_is_the_engines():
    files = guide_files()
    assert {path for path in files if not path.startswith(DATA)} == set()
    for folder in DATA:
        assert any(path.startswith(folder) for path in files), folder


def test_the_lab_is_whole(project, lab):
    place = Place(lab, project, project / "w", None)
    [step] = lab.steps
    checks = (project / "checks" / SLUG / step.checks).read_text(encoding="utf-8")
    names = [n.name for n in ast.parse(checks).body if isinstance(n, ast.FunctionDef)]
    known = {f"{step.number}.{name.removeprefix('test_')}" for name in names}
    for language in LANGUAGES:
        text = (lab.folder / language / f"step_{step.number}.md").read_text(encoding="utf-8")
        shown = render(text, place, step, where="text").splitlines()
        assert [line[3:] for line in shown if line.startswith("## ")] == HEADINGS[language]
        assert {c for ladder in read_hints(lab, language) for c in ladder.checks} == known
    assert [one["kind"] for one in cluster_objects(lab)] == ["ResourceFlavor", "ClusterQueue"]
    answer = read_answer(place, step, project / "solutions")
    assert [name for name in answer.files if name.endswith(".yaml")] == list(step.files)


def test_its_cases_are_read_as_those_of_the_kit(project):
    folders = [file.parent for file in (project / "tests").rglob("case.yaml")]
    kinds = {read_kit_case(folder, steps=1).kind for folder in folders}
    assert kinds == {"right", "wrong", "broken"}


def test_the_walk_goes_from_nothing_to_a_graded_step():
    verbs = [move.arguments[0] for move in guide_walk() if move.program == "lab"]
    order = ["labs", "step", "provision", "check", "solve", "grade-case"]
    assert [verbs.index(verb) for verb in order] == sorted(verbs.index(verb) for verb in order)
    verdicts = [move.words[0] for move in guide_walk() if move.arguments[:1] == ("check",)]
    assert verdicts == ["NOT YET", "PASS"]
