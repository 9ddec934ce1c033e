"""The Makefile in the workspace: it works where the learner stands, and never replaces his."""

from __future__ import annotations

import re
import subprocess
from pathlib import Path

import pytest

from lab.places import Place, Places
from lab.starters import MAKEFILE, VERBS, lay_starters, makefile, take_starters
from lab.workspace import entries, keep_and_empty

PROJECT_FOLDER = Path(__file__).parents[3]
# Stands in for the project's: says which verb came with which words.
PROJECT = f"""\
export STEP OUT JOB LAB LAB_HOME
{VERBS}:
\t@printf '%s\\n' "$@" "$$STEP" "$$OUT" "$$JOB" "$$LAB" "$$LAB_HOME"
"""


@pytest.fixture
def place(tmp_path: Path) -> Place:
    place = Places({"LAB_HOME": str(tmp_path / "labs"), "LAB_CACHE": "/c"}, is_root=False).open()
    place.workspace.mkdir(parents=True)
    return place


def make(place: Place, *words: str) -> list[str]:
    done = subprocess.run(
        ["make", *words],
        cwd=place.workspace,
        env={"PATH": "/usr/bin:/bin"},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    return done.stdout.splitlines()


@pytest.mark.parametrize(
    "name", ["plain", "with space", "with'quote", "$HOME and $(x)", "a#b", "한글"]
)
def test_it_hands_on_to_a_project_of_any_name(place: Place, tmp_path: Path, name: str) -> None:
    project = tmp_path / name
    project.mkdir()
    (project / MAKEFILE).write_text(PROJECT)
    text = makefile(place, {"LAB_HOME": str(project)}, project)
    assert text is not None
    (place.workspace / MAKEFILE).write_text(text)
    told = make(place, "check", "STEP=5")
    assert told == ["check", "5", "", "", "kueue_quota", str(project)]
    assert make(place, "why", "JOB=train-3")[3] == "train-3"
    assert make(place, "report", "OUT=a b.html")[2] == f"{place.workspace}/a b.html"
    assert make(place, "report", "OUT=/tmp/x")[2] == "/tmp/x"
    assert make(place) == [f"make {VERBS}"]
    assert make(place, "start", "STEP=3")[:2] == ["start", "3"]


def test_words_of_the_learner_are_never_run(place: Place, tmp_path: Path) -> None:
    (tmp_path / MAKEFILE).write_text(PROJECT)
    (place.workspace / MAKEFILE).write_text(makefile(place, {}, tmp_path) or "")
    word = f"1; touch {tmp_path}/run"
    assert make(place, "check", f"STEP={word}")[1] == word
    assert make(place, "report", f"OUT=/x'; touch {tmp_path}/run; '")[0] == "report"
    assert not (tmp_path / "run").exists()


def test_without_a_project_the_program_itself_is_called(place: Place, tmp_path: Path) -> None:
    program = tmp_path / "lab"
    program.write_text('#!/bin/sh\nprintf "%s\\n" "$@" "LAB=$LAB" "TARGET=$TARGET"\n')
    program.chmod(0o755)
    text = makefile(place, {"TARGET": "inside"}, tmp_path / "no project") or ""
    (place.workspace / MAKEFILE).write_text(
        re.sub(r"@\S+ (?=\$@|why|report|logs)", f"@{program} ", text)
    )
    end = ["LAB=kueue_quota", "TARGET="]
    assert make(place, "check", "STEP=5") == ["check", "--", "5", *end]
    assert make(place, "check") == ["check", "--", *end]
    assert make(place, "start", "STEP=3") == ["start", "--", "3", *end]
    assert make(place, "logs", "NAME=kueue") == ["logs", "--", "kueue", *end]
    assert make(place, "labs") == ["labs", *end]
    assert make(place, "doctor") == ["doctor", *end]
    assert make(place, "why", "JOB=train-3") == ["why", "--", "train-3", *end]
    assert make(place, "why", "JOB=x y", "NAMESPACE=b")[1:4] == ["--namespace=b", "--", "x y"]
    assert make(place, "report", "FORMAT=html") == ["report", "--format", "html", *end]
    assert make(place, "status") == ["status", *end]
    word = f"1; touch {tmp_path}/run"
    assert make(place, "check", f"STEP={word}")[2] == word
    assert not (tmp_path / "run").exists()


def test_a_path_that_no_makefile_can_hold_gives_none(place: Place) -> None:
    assert makefile(place, {"LAB_HOME": "/a\nb"}) is None


def test_it_is_laid_replaced_and_taken_while_it_is_ours(place: Place) -> None:
    file = place.workspace / MAKEFILE
    lay_starters(place, {})
    first = file.read_text()
    assert entries(place) == ()
    lay_starters(place, {"LAB_HOME": "/elsewhere"})
    assert file.read_text() != first
    assert entries(place) == ()
    take_starters(place)
    assert not file.exists()


def test_a_changed_one_is_the_learners(place: Place) -> None:
    file = place.workspace / MAKEFILE
    lay_starters(place, {})
    file.write_text(file.read_text() + "\nmine:\n")
    lay_starters(place, {"LAB_HOME": "/elsewhere"})
    take_starters(place)
    assert file.read_text().endswith("\nmine:\n")
    assert entries(place) == (file,)


@pytest.mark.parametrize("kind", ["file", "link", "folder", "broken link"])
def test_what_stood_there_before_stays(place: Place, tmp_path: Path, kind: str) -> None:
    file, other = place.workspace / MAKEFILE, tmp_path / "other"
    other.write_text("theirs")
    if kind == "file":
        file.write_text("theirs")
    elif kind == "folder":
        file.mkdir()
    else:
        file.symlink_to(other if kind == "link" else tmp_path / "none")
    lay_starters(place, {})
    take_starters(place)
    assert file.is_symlink() == (kind in ("link", "broken link"))
    assert other.read_text() == "theirs"
    assert entries(place) == (file,)


def test_a_reset_keeps_the_learners_files_and_not_the_starter(place: Place) -> None:
    lay_starters(place, {})
    assert keep_and_empty(place, "reset") is None
    (place.workspace / "cq.yaml").write_text("mine")
    kept = keep_and_empty(place, "reset")
    assert kept is not None
    assert [file.name for file in kept.iterdir()] == ["cq.yaml"]
    assert [file.name for file in place.workspace.iterdir()] == [MAKEFILE]


def test_every_verb_is_one_of_the_projects() -> None:
    """What a text tells to type works in the folder, too."""
    project = (PROJECT_FOLDER / MAKEFILE).read_text()
    targets = {line.partition(":")[0] for line in project.splitlines() if ":" in line}
    assert set(VERBS.split()) <= targets
    told = "\n".join(
        file.read_text() for file in (PROJECT_FOLDER / "lab" / "content").rglob("step_*.md")
    )
    verbs = set(re.findall(r"`make ([a-z]+)", told))
    assert verbs - {"provision", "reset", "down", "destroy", "solve", "shell"} <= set(VERBS.split())
