"""The doctor without a place: the grader's self-test on recorded objects, and what is missing."""

import fcntl
import json
import shutil
import urllib.error
import urllib.request
from pathlib import Path

import pytest
import yaml

from checks.outcome import CheckResult, Finding, Outcome, StepResult
from lab.catalog import lab_slugs, load_lab
from lab.doctor.borrowing import _is_busy, borrow_kit
from lab.doctor.here import examine_files, examine_tools
from lab.doctor.replay import Replay, read_answers
from lab.doctor.selftest import ANSWERS, read_trial, try_grader
from lab.fields import CatalogError
from lab.grading import checks_folder
from lab.places import Place
from lab.progress import ProgressLog
from provision.health import Health
from provision.message import say
from tests.schemas import validate
from tests.unit.lab.test_cli import lab as run_lab

LAB = load_lab("kueue_quota")
SELFTEST = checks_folder() / LAB.slug / "selftest"


def told(findings):
    return {finding.name: (finding.health, str(finding.what)) for finding in findings}


@pytest.mark.parametrize("slug", lab_slugs())
def test_a_right_answer_passes_and_a_wrong_one_is_named(slug):
    findings = told(try_grader(load_lab(slug)))
    assert {name: health for name, (health, _) in findings.items()} == {
        "grader.right": Health.GOOD,
        "grader.wrong": Health.GOOD,
    }, findings


@pytest.mark.parametrize("kind", ["right", "wrong"])
def test_known_answers_are_no_copies_of_the_answers(kind):
    ours = {file.read_text() for file in (SELFTEST / kind / "files").iterdir()}
    solutions = Path(__file__).parents[3] / "solutions"
    assert ours.isdisjoint(file.read_text() for file in solutions.rglob("*") if file.is_file())


@pytest.fixture
def spoiled(tmp_path, monkeypatch):
    """A copy of the known answers that a test may spoil."""
    shutil.copytree(SELFTEST, tmp_path / LAB.slug / "selftest")
    monkeypatch.setattr("lab.doctor.selftest.checks_folder", lambda: tmp_path)
    return tmp_path / LAB.slug / "selftest"


def test_a_grader_that_lets_the_wrong_one_pass_is_bad(spoiled):
    for file in (spoiled / "right" / "files").iterdir():
        shutil.copy(file, spoiled / "wrong" / "files")
    health, what = told(try_grader(LAB))["grader.wrong"]
    assert health is Health.BAD
    assert "PASS" in what


def test_a_grader_that_refuses_the_right_one_is_bad(spoiled):
    for file in (spoiled / "wrong" / "files").iterdir():
        shutil.copy(file, spoiled / "right" / "files")
    health, what = told(try_grader(LAB))["grader.right"]
    assert health is Health.BAD
    assert "NOT YET" in what
    assert "nvidia.com/gpu: 3" in what


@pytest.mark.parametrize(("key", "value"), [("check", "queue_active"), ("names", ["cohort"])])
def test_a_wrong_answer_told_by_another_cause_is_bad(spoiled, key, value):
    file = spoiled / "wrong" / "case.yaml"
    file.write_text(yaml.safe_dump(yaml.safe_load(file.read_text()) | {key: value}))
    health, what = told(try_grader(LAB))["grader.wrong"]
    assert health is Health.BAD
    assert "queue_file" in what


def test_a_grader_that_cannot_tell_is_bad(spoiled):
    (spoiled / ANSWERS).write_text("{}")
    findings = told(try_grader(LAB))
    assert all(health is Health.BAD for health, _ in findings.values())
    assert all("CANNOT TELL" in what for _, what in findings.values())


@pytest.mark.parametrize("text", ["{", "[]", '{"x": 1}'])
def test_answers_that_are_none_are_told(spoiled, text):
    (spoiled / ANSWERS).write_text(text)
    assert told(try_grader(LAB))["grader"][0] is Health.BAD
    with pytest.raises(CatalogError):
        read_answers(spoiled / ANSWERS)


@pytest.mark.parametrize(
    "change", [{"kind": "wrong"}, {"check": "x"}, {"step": "2"}, {"surprise": 1}]
)
def test_a_known_answer_is_read_strictly(spoiled, change):
    file = spoiled / "right" / "case.yaml"
    file.write_text(yaml.safe_dump(yaml.safe_load(file.read_text()) | change))
    with pytest.raises(CatalogError) as error:
        read_trial(spoiled / "right", "right")
    assert str(file) in str(error.value.what)


def test_a_lab_without_known_answers_gets_a_note(tmp_path, monkeypatch):
    monkeypatch.setattr("lab.doctor.selftest.checks_folder", lambda: tmp_path)
    assert told(try_grader(LAB))["grader"][0] is Health.NOTE


def test_what_the_kit_says_counts_unless_it_cannot_tell(spoiled):
    """Here the kit is a stand-in that finds both answers wrong, or can tell nothing."""
    found = Finding(say("cq.yaml"), say("b"), say("all is wrong"), say("d"))
    wrong = CheckResult("queue_file", say("T"), Outcome.FAILED, finding=found)
    odd = CheckResult("place", say("T"), Outcome.ERROR, trouble=say("down"))
    findings = told(try_grader(LAB, lambda _: StepResult(2, (wrong,), 1, 0.1)))
    assert findings["grader.right"][0] is Health.BAD
    assert "all is wrong" in findings["grader.right"][1]
    for result in (None, StepResult(2, (odd,), 1, 0.1)):
        for health, what in told(try_grader(LAB, lambda _, result=result: result)).values():
            assert health is Health.GOOD
            assert "recorded" in what


def test_the_place_of_the_cases_is_borrowed_only_when_it_is_up_and_idle(tmp_path):
    variables = {"LAB_HOME": str(tmp_path), "LAB_CACHE": str(tmp_path / "cache")}
    assert borrow_kit(variables, tmp_path, LAB.slug) is None
    assert list(tmp_path.iterdir()) == []
    home = tmp_path / ".kit" / LAB.slug
    home.mkdir(parents=True)
    assert borrow_kit(variables, tmp_path, LAB.slug) is None
    with (tmp_path / ".kit" / "lock").open("w") as lock:
        assert not _is_busy(tmp_path)
        fcntl.flock(lock, fcntl.LOCK_EX)
        assert _is_busy(tmp_path)


def test_a_replay_answers_what_was_recorded_and_takes_nothing():
    with Replay({"/a": {"items": [1]}}) as replay:
        server = yaml.safe_load(replay.kubeconfig)["clusters"][0]["cluster"]["server"]
        assert server.startswith("http://127.0.0.1:")
        with urllib.request.urlopen(f"{server}/a?limit=1") as reply:
            assert json.load(reply) == {"items": [1]}
            assert reply.headers["Date"]
        for method, path, status in (("GET", "/b", 404), ("POST", "/a", 405), ("PUT", "/a", 405)):
            request = urllib.request.Request(server + path, method=method)
            with pytest.raises(urllib.error.HTTPError) as error:
                urllib.request.urlopen(request)
            assert error.value.code == status
            error.value.close()
        assert (replay.missing, replay.writes) == (["/b"], 2)


def test_tools_that_are_missing(monkeypatch, tmp_path):
    assert told(examine_tools())["tools.sh"][0] is Health.GOOD
    monkeypatch.setenv("PATH", str(tmp_path))
    findings = told(examine_tools())
    assert findings["tools.sh"][0] is Health.BAD
    assert findings["tools.make"][0] is Health.NOTE


def test_workspace_and_record(tmp_path):
    place = Place(LAB, tmp_path, tmp_path / "work", None)
    assert told(examine_files(place))["workspace"][0] is Health.NOTE
    place.workspace.symlink_to(tmp_path)
    assert told(examine_files(place))["workspace"][0] is Health.BAD
    place.workspace.unlink()
    place.workspace.mkdir()
    assert told(examine_files(place))["workspace"][0] is Health.GOOD
    assert ProgressLog(place.progress_file).records() == {}
    place.progress_file.mkdir()
    assert told(examine_files(place))["record"][0] is Health.BAD


def test_without_a_place_the_doctor_says_so_and_leaves_nothing_behind(tmp_path):
    done = run_lab(tmp_path, "doctor", "--json")
    assert (done.returncode, done.stderr) == (3, "")
    data = json.loads(done.stdout)
    validate("doctor", data)
    assert not data["healthy"]
    bad = [finding for finding in data["findings"] if finding["state"] == "bad"]
    assert [finding["id"] for finding in bad] == ["place"]
    assert "make provision" in bad[0]["next"]
    assert list(tmp_path.iterdir()) == []
    said = run_lab(tmp_path, "doctor", LAB_LANG="ko", COLUMNS="60")
    assert said.returncode == 3
    assert "나쁨" in said.stdout
    assert "Traceback" not in said.stdout + said.stderr
