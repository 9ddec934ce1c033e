"""The command line without a place: usage, exit codes, languages, and errors that say what next."""

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from lab.catalog import lab_slugs
from lab.cli import run
from lab.examining import Examiner

LAB = str(Path(sys.executable).parent / "lab")


def lab(
    home: Path, *arguments: str, stdout: int = subprocess.PIPE, **environment: str
) -> subprocess.CompletedProcess:
    return subprocess.run(
        [LAB, *arguments],
        env={
            "PATH": os.environ["PATH"],
            "LAB_HOME": str(home),
            "LAB_CACHE": str(home / "cache"),
            "LANG": "C",
            **environment,
        },
        stdin=subprocess.DEVNULL,
        stdout=stdout,
        stderr=subprocess.PIPE,
        text=True,
        check=False,
    )


@pytest.mark.parametrize("step", ["0", "9", "abc", "-1", "1.5", "٣", "all all"])
def test_step_that_is_none_is_one_helpful_line(tmp_path, step):
    done = lab(tmp_path, "check", "--", step)
    assert (done.returncode, done.stdout) == (2, "")
    assert "make check STEP=1" in done.stderr
    assert "Traceback" not in done.stderr
    assert len(done.stderr.splitlines()) == 2


@pytest.mark.parametrize(
    "arguments",
    [
        ("chekc",),
        ("check", "1", "2"),
        ("check", "--jsn"),
        ("provision", "--lab", "kueue"),
        ("logs", "nobody"),
        ("bundle", "a", "b"),
    ],
)
def test_usage_error_exits_2(tmp_path, arguments):
    done = lab(tmp_path, *arguments)
    assert done.returncode == 2
    assert "Next:" in done.stderr
    assert "Traceback" not in done.stderr


@pytest.mark.parametrize("command", ["reset", "solve", "shell"])
def test_without_a_place_the_next_move_is_provision(tmp_path, command):
    done = lab(tmp_path, command)
    assert done.returncode == 3
    assert "make provision" in done.stderr


def test_check_without_a_place_cannot_tell_and_keeps_nothing(tmp_path):
    done = lab(tmp_path, "check", "1", "--json")
    assert done.returncode == 3
    data = json.loads(done.stdout)
    assert data["verdict"] == "CANNOT TELL"
    assert "make provision" in data["steps"][0]["checks"][0]["next"]
    assert not list(tmp_path.rglob("progress.jsonl"))


def test_status_without_a_place(tmp_path):
    done = lab(tmp_path, "status", "--json")
    assert done.returncode == 3
    data = json.loads(done.stdout)
    assert (data["provisioned"], data["components"]) == (False, [])
    assert "make provision" in lab(tmp_path, "status").stdout


def test_home_unset(tmp_path):
    done = lab(tmp_path, "provision", LAB_HOME="", LAB_CACHE="")
    assert done.returncode == 2
    assert "HOME" in done.stderr


def test_korean_by_lab_lang(tmp_path):
    done = lab(tmp_path, "check", "9", LAB_LANG="ko")
    assert done.returncode == 2
    assert "단계" in done.stderr
    assert "명령" in lab(tmp_path, "--help", LAB_LANG="ko").stdout


@pytest.mark.parametrize("kind", ["file", "link"])
def test_workspace_in_the_way_is_refused_untouched(tmp_path, kind):
    workspace = tmp_path / "mine"
    if kind == "file":
        workspace.write_text("mine")
    else:
        workspace.symlink_to(tmp_path)
    done = lab(tmp_path, "provision", LAB_WORKSPACE=str(workspace))
    assert done.returncode == 3
    assert "LAB_WORKSPACE" in done.stderr
    assert workspace.is_symlink() if kind == "link" else workspace.read_text() == "mine"


def test_text_of_a_step_needs_no_place(tmp_path):
    for language in ("en", "ko"):
        done = lab(tmp_path, "step", "1", LAB_LANG=language, COLUMNS="60")
        assert done.returncode == 0
        assert "fake-gpu" in done.stdout
        assert "\x1b" not in done.stdout


def test_destroy_leaves_a_folder_that_is_not_the_labs(tmp_path):
    theirs = tmp_path / "theirs"
    theirs.mkdir()
    (theirs / "thesis.txt").write_text("mine")
    done = lab(tmp_path, "destroy", "--yes", LAB_WORKSPACE=str(theirs))
    assert done.returncode == 0
    assert "nothing was removed" in done.stdout
    assert (theirs / "thesis.txt").read_text() == "mine"


@pytest.mark.parametrize("what", ["/", "home", "lab_home", "above"])
def test_workspace_that_holds_more_is_refused(tmp_path, what):
    home, root = tmp_path / "user", tmp_path / "labs" / "here"
    for folder in (home, root):
        folder.mkdir(parents=True)
    path = {"/": "/", "home": home, "lab_home": root, "above": tmp_path / "labs"}[what]
    done = lab(root, "provision", LAB_WORKSPACE=str(path), HOME=str(home))
    assert done.returncode == 2
    assert "LAB_WORKSPACE" in done.stderr
    assert not list(root.glob("kueue_quota*"))


@pytest.mark.parametrize("arguments", ["status", "status --json", "step 1"])
def test_output_that_cannot_be_written_is_no_traceback(tmp_path, arguments):
    for redirection in (">&-", ">/dev/full"):
        done = subprocess.run(
            ["sh", "-c", f"{LAB} {arguments} {redirection}"],
            env={"PATH": os.environ["PATH"], "LAB_HOME": str(tmp_path), "LAB_CACHE": str(tmp_path)},
            capture_output=True,
            text=True,
            check=False,
        )
        assert "Traceback" not in done.stderr
        assert "Exception ignored" not in done.stderr
        assert done.returncode in (0, 3)


def test_no_temporary_files_is_cannot_tell(tmp_path):
    """A limit on the size of files stands for the full disk."""
    program = "import resource, sys; resource.setrlimit(resource.RLIMIT_FSIZE, (0, 0)); "
    program += "from lab.__main__ import main; sys.argv[1:] = ['check', '1', '--json']; main()"
    done = subprocess.run(
        [sys.executable, "-c", program],
        env={"PATH": os.environ["PATH"], "LAB_HOME": str(tmp_path), "LAB_CACHE": str(tmp_path)},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 3
    assert "Traceback" not in done.stderr


@pytest.mark.parametrize("error", [RuntimeError("can't start new thread"), MemoryError()])
def test_a_fault_of_ours_has_not_the_exit_code_of_not_yet(tmp_path, monkeypatch, capsys, error):
    def fail(*_):
        raise error

    monkeypatch.setattr(Examiner, "check", fail)
    environment = {"LAB_HOME": str(tmp_path), "LAB_CACHE": str(tmp_path), "LAB_LANG": "en"}
    assert run(["check", "1", "--json"], environment) == 3
    said = capsys.readouterr()
    assert said.out == ""
    assert f"{type(error).__name__} at test_cli.py:" in said.err
    assert "no fault of your work" in said.err


def test_a_program_that_cannot_be_loaded_has_not_the_exit_code_of_not_yet(tmp_path):
    program = "import sys; sys.modules['lab.cli'] = None; from lab.__main__ import main; main()"
    done = subprocess.run(
        [sys.executable, "-c", program],
        env={"PATH": os.environ["PATH"]},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 3
    assert done.stderr.startswith("lab: ModuleNotFoundError")
    assert "Traceback" not in done.stderr


@pytest.mark.parametrize("verb", ["step", "check", "hint", "solve"])
def test_the_next_move_after_a_wrong_number_has_the_verb_that_was_called(tmp_path, verb):
    assert f"make {verb} STEP=1" in lab(tmp_path, verb, "99").stderr


def test_a_log_of_nobody_is_asked_for_by_name(tmp_path):
    done = lab(tmp_path, "logs")
    assert done.returncode == 2
    assert "Whose log?" in done.stderr
    assert "kueue" in done.stderr


@pytest.mark.parametrize("arguments", [("step", "1"), ("--help",), ("report", "--json")])
def test_a_closed_pipe_is_not_not_yet_and_wants_no_words(tmp_path, arguments):
    """`lab check 1 | true` must not say NOT YET by its exit code."""
    reader, writer = os.pipe()
    os.close(reader)
    try:
        done = lab(tmp_path, *arguments, stdout=writer)
    finally:
        os.close(writer)
    assert (done.returncode, done.stderr) == (3, "")


def test_labs_are_listed_with_how_far_one_is(tmp_path):
    done = lab(tmp_path, "labs", "--json")
    assert done.returncode == 0, done.stderr
    rows = {row["lab"]: row for row in json.loads(done.stdout)["labs"]}
    assert set(rows) == set(lab_slugs())
    assert [slug for slug, row in rows.items() if row["chosen"]] == ["kueue_quota"]
    assert rows["kueue_quota"] == {
        "lab": "kueue_quota",
        "title": "GPU quota and queues with Kueue",
        "steps": 8,
        "passed": 0,
        "state": "not provisioned",
        "chosen": True,
    }
    told = lab(tmp_path, "labs").stdout
    assert not [line for line in told.splitlines() if line.startswith("*")]
    assert "Commands mean kueue_quota, as no lab was provisioned last." in " ".join(told.split())
    chosen = lab(tmp_path, "labs", LAB=max(lab_slugs()))
    marked = [line for line in chosen.stdout.splitlines() if line.startswith("*")]
    assert marked == [line for line in marked if max(lab_slugs()) in line]
    assert marked


def test_a_lab_with_a_spoiled_record_hides_no_other(tmp_path):
    (tmp_path / "kueue_quota").mkdir()
    (tmp_path / "kueue_quota" / "progress.jsonl").mkdir()
    done = lab(tmp_path, "labs", "--json")
    assert done.returncode == 0, done.stderr
    rows = {row["lab"]: row for row in json.loads(done.stdout)["labs"]}
    assert "progress.jsonl" in rows["kueue_quota"]["state"]
    assert len(rows) == len(lab_slugs())


def test_without_a_place_the_lab_to_provision_is_named(tmp_path):
    slug = max(lab_slugs())
    for arguments in (("why", "x"), ("status",)):
        told = lab(tmp_path, *arguments, "--lab", slug)
        assert f"make provision LAB={slug}" in " ".join((told.stdout + told.stderr).split())


def test_why_without_a_name_is_said_once_and_names_no_job_of_a_lab(tmp_path):
    for shell, told in (("", "make why JOB=NAME"), ("1", "lab why NAME")):
        done = lab(tmp_path, "why", LAB_SHELL=shell)
        text = " ".join(done.stderr.split())
        assert (done.returncode, text.count(told), text.count(" why ")) == (2, 1, 1)


def test_a_step_that_finds_nothing_needs_no_place(tmp_path):
    done = lab(tmp_path, "start", "1", "--lab", "kueue_quota")
    assert (done.returncode, done.stderr) == (0, "")
    assert "nothing had to be done" in done.stdout
