"""Cases read from any folder, the kit's memory, and the JSON of a verdict."""

import json
import os
import subprocess
import sys
from datetime import UTC, datetime

import pytest

from checks.outcome import CheckResult, Evidence, Finding, Outcome, StepResult
from lab.casework.cases import CaseError, read_case
from lab.casework.desk import Desk
from lab.casework.kit import kit_environment
from lab.casework.memory import Kept, Memory
from lab.casework.past import _of_case
from lab.casework.playbook import read_playbook
from lab.casework.playing import deed
from lab.casework.verdict import LONGEST, as_json
from lab.text import Speech
from provision.message import say

GOOD = "step: 5\ntitle: a title\nkind: cannot-tell\nnames: [kubeconfig]\nrig: kubeconfig-broken\n"
NOTES = "api: x\nobserved: [y]\nexpect: [z]\nprobe: p\nlearner: kubectl apply -f job-2.yaml\n"


def folder_with(tmp_path, text, **scripts):
    folder = tmp_path / "anywhere"
    folder.mkdir()
    (folder / "case.yaml").write_text(text, encoding="utf-8")
    for name, script in scripts.items():
        (folder / f"{name}.sh").write_text(script, encoding="utf-8")
    return folder


def test_a_case_may_lie_anywhere_and_carry_notes(tmp_path):
    case = read_case(folder_with(tmp_path, GOOD + NOTES, apply="# nobody\n:\n"), "a_lab", 8)
    assert (case.kind, case.lab, case.rig) == ("broken", "a_lab", "kubeconfig-broken")
    assert deed(read_playbook("kueue_quota"), case) == "kubectl apply -f job-2.yaml"


@pytest.mark.parametrize(
    ("text", "scripts", "done"),
    [
        (GOOD, {"apply": "# nobody\n:\n"}, "kubectl apply -f job-2.yaml\n"),
        (GOOD, {"apply": "touch x\n"}, "touch x\n"),
        (GOOD + "world: answered\n", {}, ""),
        ("step: 8\ntitle: t\nkind: wrong\n", {"apply": ":\n"}, ":\n"),
        ("step: 8\ntitle: t\nkind: wrong\n", {}, "kubectl -n team-a delete job train-1"),
    ],
)
def test_what_the_learner_did(tmp_path, text, scripts, done):
    case = read_case(folder_with(tmp_path, text, **scripts), "a_lab", 8)
    assert deed(read_playbook("kueue_quota"), case).startswith(done)


@pytest.mark.parametrize(
    ("change", "told"),
    [
        (("step: 5", "step: 9"), "step: 9 is not one of 1 to 8"),
        (("cannot-tell", "odd"), "kind: 'odd' is not one of"),
        (("title: a title\n", ""), "title: a text is wanted"),
        (("kubeconfig-broken", "moon"), "rig: 'moon' is not one of"),
        (("names", "nmaes"), "nmaes: unknown key"),
    ],
)
def test_a_faulty_case_is_refused(tmp_path, change, told):
    with pytest.raises(CaseError, match=told):
        read_case(folder_with(tmp_path, GOOD.replace(*change)), "a_lab", 8)


def test_files_must_be_a_folder(tmp_path):
    folder = folder_with(tmp_path, GOOD)
    (folder / "files").touch()
    with pytest.raises(CaseError, match="files: a folder is wanted"):
        read_case(folder, "a_lab", 8)


def test_the_command_refuses_a_folder_without_a_case(tmp_path):
    done = subprocess.run(
        [sys.executable, "-m", "lab", "grade-case", str(tmp_path), "--json"],
        env={**os.environ, "LAB_HOME": str(tmp_path / "home"), "LAB_LANG": "en"},
        capture_output=True,
        text=True,
        check=False,
    )
    assert (done.returncode, done.stdout) == (2, "")
    assert "case.yaml" in done.stderr
    assert not (tmp_path / "home").exists()


def test_memory_gives_back_what_was_kept_and_nothing_of_a_torn_file(tmp_path):
    memory = Memory(tmp_path / "cases.json")
    assert memory.read() == Kept()
    prints = {("Job", "team-a", "train-1"): "uid"}
    kept = Kept({(): {}, tuple("1234"): prints}, (prints, (Evidence("Job", "train-1", "f", "t"),)))
    memory.write(kept)
    assert memory.read() == kept
    memory.file.write_text(memory.file.read_text()[:-4])
    assert memory.read() == Kept()


def test_the_kit_takes_nothing_of_the_learners(tmp_path):
    mine = {"HOME": "/h", "LAB_WORKSPACE": "/w", "KUBECONFIG": "/k", "LAB_CACHE": "/c", "PATH": "p"}
    made = kit_environment(mine, tmp_path)
    assert made["LAB_HOME"] == str(tmp_path / ".kit")
    assert made["HOME"].startswith(made["LAB_HOME"])
    assert made["LAB_CACHE"] == "/c"
    assert not {"LAB_WORKSPACE", "KUBECONFIG"} & set(made)


def check(outcome, **more):
    return CheckResult(id=f"a_{outcome}", title=say("title"), outcome=outcome, **more)


def test_json_of_a_verdict_cuts_and_keeps_the_order():
    long = Finding(say("here"), say("{x}", x="x" * 400), say("b"), say("c"))
    failed = check(Outcome.FAILED, finding=long)
    result = StepResult(4, (check(Outcome.PASSED), failed), 1, 0.1)
    data = json.loads(json.dumps(as_json(result, Speech("en"))))
    assert (data["step"], data["verdict"]) == (4, "NOT YET")
    assert [one["check"] for one in data["failed"]] == ["a_failed"]
    assert len(data["failed"][0]["expected"]) == LONGEST
    assert set(data["failed"][0]) == {"check", "looked_at", "expected", "found", "next"}


def test_json_of_a_place_that_cannot_be_judged():
    error = check(Outcome.ERROR, trouble=say("down"), next_move=say("up"))
    data = as_json(StepResult(4, (error, check(Outcome.SKIPPED)), 1, 0.1), Speech("en"))
    assert data["verdict"] == "CANNOT TELL"
    assert [(one["found"], one["next"]) for one in data["failed"]] == [("down", "up")]


def test_a_workspace_replaced_by_a_link_is_cleared_without_following_it(tmp_path):
    treasure = tmp_path / "treasure"
    treasure.mkdir()
    (treasure / "gold").touch()
    desk = Desk(tmp_path / "work", {"PATH": os.environ["PATH"]})
    desk.workspace.symlink_to(treasure)
    desk.clear()
    assert desk.workspace.is_dir()
    assert not desk.workspace.is_symlink()
    (desk.workspace / "link").symlink_to(treasure)
    os.mkfifo(desk.workspace / "pipe")
    desk.clear()
    assert list(desk.workspace.iterdir()) == []
    assert (treasure / "gold").exists()


def test_files_of_a_case_are_laid_writable_and_the_case_stays_as_it_is(tmp_path):
    folder = folder_with(tmp_path, "step: 1\ntitle: t\nkind: wrong\n")
    (folder / "files").mkdir()
    (folder / "files" / "flavor.yaml").write_text("mine")
    (folder / "files" / "flavor.yaml").chmod(0o444)
    desk = Desk(tmp_path / "work", {"PATH": os.environ["PATH"]})
    desk.clear()
    desk.lay(read_playbook("kueue_quota"), read_case(folder, "kueue_quota", 8))
    assert desk.run("echo more >> flavor.yaml && cat flavor.yaml") == "mine" + "more\n(exit 0)"
    assert (folder / "files" / "flavor.yaml").read_text() == "mine"


def test_a_script_that_takes_too_long_is_killed_and_says_so(tmp_path):
    desk = Desk(tmp_path, {"PATH": os.environ["PATH"]})
    assert "killed" in desk.run("tail -f /dev/null", within=0.3)


def line(uid, change, seen):
    about = {"kind": "Job", "uid": uid, "change": change, "facts": {}}
    return (json.dumps({"seen": f"2026-01-01T00:00:{seen:02}.000Z", **about}) + "\n").encode()


def test_a_case_knows_nothing_of_what_was_gone_when_it_began():
    head = b'{"schema":1,"life":"x"}\n'
    alive = [line("a", "added", 1), line("a", "modified", 30)]
    gone = [line("b", "added", 2), line("b", "deleted", 3)]
    later = [line("c", "added", 31), line("c", "deleted", 32)]
    lines = [head, alive[0], *gone, head, alive[1], *later]
    began = datetime(2026, 1, 1, 0, 0, 10, tzinfo=UTC).timestamp()
    assert list(_of_case(lines, began)) == [head, *alive, *later]
