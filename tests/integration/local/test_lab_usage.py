"""Commands that cannot be meant, that would lose something, or that have nothing to do."""

import pytest

from tests.integration.cli import Lab

pytestmark = [pytest.mark.integration, pytest.mark.timeout(200, func_only=True)]


@pytest.mark.parametrize("step", ["0", "9", "-1", "abc", "1.5", "5; true", "１０"])
@pytest.mark.parametrize("command", ["check", "step", "solve"])
def test_a_step_that_there_is_not_is_a_usage_error(lab: Lab, command: str, step: str) -> None:
    said = lab.run(command, "--", step)
    assert said.code == 2, str(said)
    assert said.out == ""
    assert "1 to 8" in said.err
    assert "Traceback" not in said.err


def test_a_lab_that_there_is_not_is_a_usage_error(lab: Lab) -> None:
    said = lab.run("check", "1", "--lab", "no_such_lab")
    assert said.code == 2, str(said)
    assert "no_such_lab" in said.err
    assert "kueue_quota" in said.err


@pytest.mark.parametrize("command", ["reset", "destroy"])
def test_a_prompt_without_a_terminal_changes_nothing(lab: Lab, command: str) -> None:
    lab.workspace.mkdir(exist_ok=True)
    (lab.workspace / "mine.txt").write_text("kept", encoding="utf-8")
    said = lab.run(command)
    assert said.code == 2, str(said)
    assert "YES=1" in said.err
    assert (lab.workspace / "mine.txt").read_text(encoding="utf-8") == "kept"
    assert lab.status()["ready"]


def test_solving_does_not_overwrite_unasked(untouched: Lab) -> None:
    untouched.workspace.mkdir(exist_ok=True)
    mine = untouched.workspace / "flavor.yaml"
    mine.write_text("mine", encoding="utf-8")
    said = untouched.run("solve", "1")
    assert said.code == 2, str(said)
    assert "YES=1" in said.err
    assert mine.read_text(encoding="utf-8") == "mine"
    said = untouched.done("solve", "1", YES="1")
    assert mine.read_text(encoding="utf-8") != "mine"
    *_, newest = sorted((mine.parent.parent / "saved").glob("*-solve-1*/flavor.yaml"))
    assert newest.read_text(encoding="utf-8") == "mine", str(said)


def test_provisioning_again_changes_nothing(lab: Lab) -> None:
    before = lab.status()
    nodes = lab.shell("kubectl get nodes,namespaces,crds -o jsonpath='{.items[*].metadata.uid}'")
    said = lab.done("provision")
    after = lab.status()
    assert [(c["name"], c["pid"]) for c in after["components"]] == [
        (c["name"], c["pid"]) for c in before["components"]
    ]
    again = lab.shell("kubectl get nodes,namespaces,crds -o jsonpath='{.items[*].metadata.uid}'")
    assert again == nodes
    assert "nothing had to be changed" in said.out


def test_reset_keeps_a_dated_copy(untouched: Lab) -> None:
    untouched.done("solve", "1", "--yes")
    untouched.done("reset", "--yes")
    assert [file.name for file in untouched.workspace.iterdir()] == ["Makefile"]
    kept = list((untouched.workspace.parent / "saved").glob("*-reset*/flavor.yaml"))
    assert kept
    assert untouched.run("check", "1").code == 1


def test_json_is_alone_on_standard_output(lab: Lab) -> None:
    for arguments in (("check", "1", "--json"), ("status", "--json")):
        said = lab.run(*arguments)
        assert isinstance(said.json()["schema"], int)


@pytest.mark.parametrize("variables", [{"LANG": "C", "LC_ALL": "C"}, {"COLUMNS": "60"}])
def test_narrow_and_plain_terminals_are_served(lab: Lab, variables: dict[str, str]) -> None:
    said = lab.run("check", "1", within=60, **variables)
    assert said.code in (0, 1), str(said)
    assert "Step 1 of 8" in said.out


def test_korean_is_spoken(lab: Lab) -> None:
    said = lab.run("check", "1", LAB_LANG="ko")
    assert any("가" <= letter <= "힣" for letter in said.out), str(said)
