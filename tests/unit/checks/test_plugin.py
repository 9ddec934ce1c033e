"""The plugin on tiny labs: each kind of end, needs, titles, evidence, and broken input."""

import json
import subprocess
import sys
from pathlib import Path

import pytest

import checks
from checks.outcome import Outcome, StepVerdict, result_from_json

FOLDER = Path(checks.__file__).parent
HEAD = """
import pytest
from checks.kit.expect import mismatch
from checks.outcome import CannotTell, Evidence
from provision.message import say

"""


def request(**changes):
    target = {
        "name": "local",
        "lab": "tiny",
        "kubeconfig": "/nowhere/kubeconfig",
        "grader_kubeconfig": "/nowhere/grader",
        "workspace": "/nowhere",
        "host": "local://",
        "versions": {"kueue": "v0"},
    }
    return {
        "schema": 1,
        "lab": "tiny",
        "step": 3,
        "facts": {"flavor": {"name": "fake-gpu", "file": "flavor.yaml"}, "gpu": "g"},
        "target": target,
        "within": 0.5,
        "credit": {"2": {"passed_at": "x", "evidence": []}},
    } | changes


@pytest.fixture
def judge(tmp_path):
    def run(body, **changes):
        folder = tmp_path / "tiny"
        folder.mkdir(exist_ok=True)
        (folder / "test_step_3_tiny.py").write_text(HEAD + body)
        (tmp_path / "request.json").write_text(json.dumps(request(**changes)))
        result = tmp_path / "result.json"
        result.unlink(missing_ok=True)
        ran = subprocess.run(
            [
                *(sys.executable, "-m", "pytest", "-q", "-p", "checks.plugin"),
                *("-c", FOLDER / "pytest-checks.ini", "--rootdir", folder),
                f"--lab-request={tmp_path / 'request.json'}",
                f"--lab-result={result}",
                folder / "test_step_3_tiny.py",
            ],
            capture_output=True,
            text=True,
            timeout=60,
            check=False,
            cwd=tmp_path,
        )
        run.said = ran.stdout + ran.stderr
        return result_from_json(json.loads(result.read_text())) if result.exists() else None

    return run


ENDS = '''
def test_fine(evidence, credit, step, target):
    """{flavor} of {flavor_file} has {gpu}.

    More that nobody sees.
    """
    assert (list(credit), step, target.lab) == ([2], 3, "tiny")
    evidence(Evidence("File", "f", "there", "t"))


@pytest.mark.transient
@pytest.mark.needs("fine")
def test_off(evidence):
    """wrong"""
    evidence(Evidence("File", "f", "lost", "t"))
    raise mismatch(say("here"), say("a"), say("b {x}", x=1), say("go"))


@pytest.mark.needs("off")
def test_after():
    """needs it"""
    raise RuntimeError("must not run")


@pytest.mark.needs("after", "fine")
def test_after_that():
    """needs that"""


def test_silent():
    """cannot"""
    raise CannotTell(say("no answer"), next_move=say("look"))


def test_bug():
    """bug"""
    assert 1 == 2, "kaputt"


@pytest.mark.needs("nothing")
def test_typo():
    """typo"""


def test_fixture(cluster):
    """a fixture fails"""


def test_leaves():
    """leaves"""
    raise SystemExit(3)


def test_past(past):
    """past"""
    past(say("it has moved on"))
'''


def test_every_way_to_end(judge):
    result = judge(ENDS)
    by_id = {check.id: check for check in result.checks}
    assert list(by_id) == [
        *("fine", "off", "after", "after_that", "silent", "bug", "typo", "fixture"),
        *("leaves", "past"),
    ]
    assert {name: check.outcome for name, check in by_id.items()} == {
        "fine": Outcome.PASSED,
        "off": Outcome.FAILED,
        "after": Outcome.SKIPPED,
        "after_that": Outcome.SKIPPED,
        "silent": Outcome.ERROR,
        "bug": Outcome.ERROR,
        "typo": Outcome.ERROR,
        "fixture": Outcome.ERROR,
        "leaves": Outcome.ERROR,
        "past": Outcome.PASSED,
    }
    assert result.verdict is StepVerdict.CANNOT_TELL
    fine, off, after = by_id["fine"], by_id["off"], by_id["after"]
    assert str(fine.title) == "fake-gpu of flavor.yaml has g"
    assert fine.title.template == "{flavor} of {flavor_file} has {gpu}"
    assert [item.fact for item in fine.evidence] == ["there"]
    assert str(off.finding.found) == "b 1"
    assert (off.evidence, off.is_transient, fine.is_transient) == ((), True, False)
    assert "wrong" in str(after.trouble)
    assert "needs it" in str(by_id["after_that"].trouble)
    assert (str(by_id["silent"].trouble), str(by_id["silent"].next_move)) == ("no answer", "look")
    bug = str(by_id["bug"].trouble)
    assert "AssertionError" in bug
    assert "kaputt" in bug
    assert "Traceback" not in bug
    assert "kubeconfig" in str(by_id["fixture"].trouble)
    assert by_id["past"].is_past
    assert [str(remark) for remark in result.remarks] == ["it has moved on"]


def test_a_step_that_passes_and_one_that_is_not_yet(judge):
    body = "def test_a():\n    '''a'''\n"
    assert judge(body).verdict is StepVerdict.PASS
    body += (
        "def test_b():\n    '''b'''\n    raise mismatch(say('x'), say('x'), say('x'), say('x'))\n"
    )
    assert judge(body).verdict is StepVerdict.NOT_YET


def test_half_characters_never_break_the_result(judge):
    result = judge(
        "def test_a():\n    '''a'''\n"
        "    raise mismatch(say('x'), say('x'), say('{k}', k='a' + chr(0xd800)), say('x'))\n"
    )
    assert result.verdict is StepVerdict.NOT_YET
    assert str(result.first_failure.finding.found) == "a?"


@pytest.mark.parametrize("body", ["import nosuchthing\n", "def test_a(:\n", "1 / 0\n"])
def test_checks_that_cannot_be_loaded(judge, body):
    result = judge(body)
    assert result.verdict is StepVerdict.CANNOT_TELL
    [check] = result.checks
    assert check.id == "load"
    assert "test_step_3_tiny.py" in str(check.trouble)
    assert "Error" in str(check.trouble)


def test_a_file_without_checks_is_no_pass(judge):
    assert judge("x = 1\n").verdict is StepVerdict.CANNOT_TELL


@pytest.mark.parametrize(
    ("changes", "word"),
    [
        ({"schema": 2}, "schema"),
        ({"step": "3"}, "step"),
        ({"within": -1}, "within"),
        ({"facts": []}, "facts"),
        ({"surprise": 1}, "surprise"),
        ({"target": {}}, "versions"),
        ({"credit": {"x": {"passed_at": "x", "evidence": []}}}, "credit.x"),
        ({"credit": {"1": {"passed_at": "x", "evidence": [{}]}}}, "credit.1"),
    ],
)
def test_requests_that_nobody_writes_are_refused_without_a_result(judge, changes, word):
    assert judge("def test_a():\n    '''a'''\n", **changes) is None
    assert word in judge.said
