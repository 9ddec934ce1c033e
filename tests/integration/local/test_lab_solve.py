"""`lab solve` asks before it replaces anything of the learner's, and knows what comes first."""

from __future__ import annotations

import pytest

from tests.integration.cli import Lab

pytestmark = pytest.mark.integration
OBJECTS = "resourceflavors,clusterqueues,localqueues.kueue.x-k8s.io,jobs"


def objects(lab: Lab) -> str:
    """All that a learner can have made, by uid and version."""
    columns = "K:.kind,N:.metadata.name,U:.metadata.uid,V:.metadata.generation"
    return lab.shell(f"kubectl get {OBJECTS} -A -o custom-columns={columns}")


def test_nothing_is_replaced_without_being_asked_about(untouched: Lab) -> None:
    def files() -> set[str]:
        return {file.name for file in untouched.workspace.iterdir()}

    before, laid = objects(untouched), files()
    said = untouched.run("solve", "4")
    assert said.code == 2
    assert "Step 4 builds on step 1, which is not done." in " ".join(said.err.split())
    assert "make solve STEP=1" in said.err
    assert (objects(untouched), files()) == (before, laid)

    assert "make step STEP=2" in untouched.done("solve", "1").out
    before = objects(untouched)
    (untouched.workspace / "flavor.yaml").unlink()
    said = untouched.run("solve", "1")
    assert said.code == 2
    assert "ResourceFlavor fake-gpu" in " ".join(said.err.split())
    assert "YES=1" in said.err
    assert objects(untouched) == before
    assert not (untouched.workspace / "flavor.yaml").exists()
    untouched.done("solve", "1", YES="1")
    assert (untouched.workspace / "flavor.yaml").exists()


def test_a_hint_without_a_number_is_for_the_step_checked_last(untouched: Lab) -> None:
    assert untouched.run("check", "5").code == 1
    assert untouched.done("hint", "--json").json()["step"] == 5
    assert untouched.run("check", "all").code == 1
    assert untouched.done("hint", "--json").json()["step"] == 1


def test_the_jobs_of_later_steps_are_asked_about_too(solved: Lab) -> None:
    before = objects(solved)
    said = solved.run("solve", "4")
    assert said.code == 2
    assert "Job train-2, Job train-3" in " ".join(said.err.split())
    said = solved.run("solve", "5")
    assert said.code == 2
    assert "Step 5 builds on step 4, which step 8 has ended." in " ".join(said.err.split())
    assert objects(solved) == before


def test_the_last_pass_says_what_there_is_to_do_then(solved: Lab) -> None:
    for words in (("check", "8"), ("check", "all"), ("solve", "8")):
        said = solved.done(*words).out
        assert "all 8 steps have passed" in said, words
        for verb in ("report", "history", "reset", "down"):
            assert f"make {verb} " in said, words
    shown = solved.done("check", "8", LAB_SHELL="1").out
    assert "lab report " in shown
    assert "make report" not in shown


@pytest.mark.full
def test_a_place_that_is_down_is_not_the_learners_fault(solved: Lab) -> None:
    solved.done("down")
    try:
        said = solved.run("solve", "6", "--yes")
        assert said.code == 3
        assert "make provision" in said.err
        report = solved.done("report", "--json").json()
        assert (report["passed"], report["verdict"]) == (8, "CANNOT TELL")
    finally:
        solved.done("provision")
