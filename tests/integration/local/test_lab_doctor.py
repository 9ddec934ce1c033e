"""The doctor on a real place: all is well, or the cause is named; and nothing is ever written."""

import json
import os
import signal
from collections.abc import Iterator
from pathlib import Path

import pytest

from provision.message import Message, say
from provision.waiting import wait_until
from tests.integration.cli import Lab
from tests.schemas import validate

pytestmark = [pytest.mark.integration, pytest.mark.timeout(300, func_only=True)]
LISTS = (
    "jobs,pods,workloads.kueue.x-k8s.io,localqueues,clusterqueues,resourceflavors,namespaces,"
    "secrets,configmaps,events"
)
CHANGING = {"create", "update", "patch", "delete", "deletecollection"}


def state_of(lab: Lab) -> str:
    """Every object with its resourceVersion: any write at all would show."""
    return lab.shell(
        f"kubectl get {LISTS} -A -o jsonpath='{{range .items[*]}}{{.kind}} {{.metadata.namespace}}/"
        '{.metadata.name} {.metadata.uid} {.metadata.resourceVersion}{"\\n"}{end}\''
    )


def writes(log: Path, start: int) -> Iterator[dict]:
    """What the audit log has of changes since `start`; the API server writes it at once."""
    with log.open("rb") as file:
        file.seek(start)
        for line in file:
            entry = json.loads(line)
            if entry["verb"] in CHANGING:
                yield entry


def test_all_is_well_and_nothing_is_written(solved: Lab) -> None:
    home = Path(solved.status()["home"])
    log = home / "logs" / "audit.log"
    progress = solved.progress.read_bytes()
    files = {file.name: file.read_bytes() for file in solved.workspace.iterdir()}
    before, start = state_of(solved), log.stat().st_size
    said = solved.done("doctor", "--json")
    data = said.json()
    validate("doctor", data)
    assert data["healthy"], data
    by_id = {finding["id"]: finding for finding in data["findings"]}
    assert {f["state"] for f in data["findings"]} <= {"good", "note"}, data
    for name in ("component.kueue", "webhooks", "clock", "ports", "certificates", "versions"):
        assert by_id[name]["state"] == "good", by_id[name]
    for name in ("grader.right", "grader.wrong"):
        assert by_id[name]["state"] == "good", by_id[name]
    assert state_of(solved) == before
    assert solved.progress.read_bytes() == progress
    assert {file.name: file.read_bytes() for file in solved.workspace.iterdir()} == files
    asked = [entry for entry in writes(log, start) if entry["user"]["username"] == "lab-provision"]
    assert len(asked) == 2, asked
    for entry in asked:
        assert entry["verb"] == "create"
        assert "dryRun=All" in entry["requestURI"], entry
    others = [e for e in writes(log, start) if e["user"]["username"] in ("lab-grader", "learner")]
    assert others == []


def test_a_report_writes_nothing_either(solved: Lab) -> None:
    log = Path(solved.status()["home"]) / "logs" / "audit.log"
    progress = solved.progress.read_bytes()
    before, start = state_of(solved), log.stat().st_size
    data = solved.done("report", "--json").json()
    validate("report", data)
    assert (data["verdict"], data["passed"], data["solved"]) == ("PASS", 8, 8)
    assert all(step["evidence"] for step in data["steps"])
    assert state_of(solved) == before
    assert solved.progress.read_bytes() == progress
    ours = ("lab-grader", "learner", "lab-provision")
    assert [e for e in writes(log, start) if e["user"]["username"] in ours] == []


def test_all_json_is_as_the_schemas_say(solved: Lab) -> None:
    validate("check", solved.check("all"))
    validate("status", solved.status())


@pytest.mark.full
def test_the_grader_is_tried_in_the_place_of_the_cases_when_that_is_up(solved: Lab) -> None:
    wrong = Path(__file__).parents[3] / "checks" / "kueue_quota" / "selftest" / "wrong"
    assert solved.done("grade-case", str(wrong), "--json").json()["verdict"] == "NOT YET"
    try:
        before = state_of(solved)
        findings = solved.done("doctor", "--json").json()["findings"]
        assert state_of(solved) == before
    finally:
        solved.done("grade-case", "--down")
    said = [f["what"] for f in findings if f["id"].startswith("grader.")]
    assert len(said) == 2
    assert all("in the place of the cases" in what for what in said), said
    said = solved.done("doctor").out
    assert said.count("on recorded objects") == 2, said


def test_a_stopped_kueue_is_named(solved: Lab) -> None:
    pid = solved.component("kueue")["pid"]
    os.kill(pid, signal.SIGSTOP)
    try:
        said = solved.run("doctor", "--json")
    finally:
        os.kill(pid, signal.SIGCONT)
    assert said.code == 3
    bad = {f["id"]: f for f in said.json()["findings"] if f["state"] == "bad"}
    assert set(bad) == {"component.kueue", "webhooks"}, bad
    assert "kueue" in bad["component.kueue"]["next"]
    assert all(finding["next"] for finding in bad.values())

    def missing() -> Message | None:
        return None if solved.status()["ready"] else say("not ready")

    wait_until(missing, within=30)


@pytest.mark.full
def test_a_place_that_is_down(solved: Lab) -> None:
    solved.done("down")
    said = solved.run("doctor", "--json")
    assert said.code == 3
    data = said.json()
    validate("doctor", data)
    states = {finding["id"]: finding["state"] for finding in data["findings"]}
    assert states["components"] == "bad"
    assert states["webhooks"] == states["clock"] == "skipped"
    assert states["ports"] == states["grader.right"] == states["grader.wrong"] == "good"
    report = solved.done("report", "--json").json()
    validate("report", report)
    assert report["verdict"] == "CANNOT TELL"
    assert all(step["passed_at"] for step in report["steps"])
    solved.done("provision")


def test_a_hint_grades_first_when_nothing_is_known(untouched: Lab) -> None:
    assert not untouched.progress.exists()
    said = untouched.done("hint", "1")
    assert "hint 1 of 4" in said.out
    assert "flavor.yaml" in said.out
    step = untouched.check(1)["steps"][0]
    assert [use["level"] for use in step["hints"]] == [1]
    assert step["attempts"] == 2
    assert "(hint 2 of 4: make hint STEP=1)" in untouched.run("check", "1").out
    untouched.done("solve", "1", "--yes")
    record = untouched.progress.read_bytes()
    said = untouched.done("hint", "1")
    assert "passes" in said.out
    assert untouched.progress.read_bytes() == record
    report = untouched.done("report", "--json").json()
    assert report["hints"] == 1
    assert report["steps"][0]["solved"]
