"""The record of progress: whole lines only, nothing of CANNOT TELL, nothing lost."""

import json
import os
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from datetime import UTC, datetime
from pathlib import Path

import pytest

from checks.outcome import CheckResult, Evidence, Finding, Outcome, StepResult
from lab.catalog import load_lab
from lab.examining import Examiner
from lab.places import Place
from lab.progress import ProgressLog
from provision.errors import LabError
from provision.message import say
from provision.waiting import wait_until

PROOF = Evidence(kind="Job", name="train-1", uid="u-1", fact="Running", time="2026-01-02T03:04:05Z")


def result(step: int, outcome: Outcome) -> StepResult:
    finding = None
    if outcome is Outcome.FAILED:
        finding = Finding(say("a"), say("b"), say("c"), say("d"))
    check = CheckResult(
        "one", say("One"), outcome, (PROOF,) if outcome is Outcome.PASSED else (), finding
    )
    return StepResult(step, (check,), 1, 0.1)


def test_attempts_pass_and_evidence(tmp_path):
    log = ProgressLog(tmp_path / "progress.jsonl")
    log.record(result(1, Outcome.FAILED), by_answer=False)
    log.record(result(1, Outcome.PASSED), by_answer=False)
    log.record(result(1, Outcome.FAILED), by_answer=False)
    record = log.records()[1]
    assert record.attempts == 3
    assert record.passed_at.endswith("+00:00")
    assert record.evidence == (PROOF,)
    assert not record.is_solved


def test_first_pass_keeps_its_time_and_its_author(tmp_path):
    log = ProgressLog(tmp_path / "progress.jsonl")
    log.record(result(1, Outcome.PASSED), by_answer=True)
    first = log.records()[1].passed_at
    log.record(result(1, Outcome.PASSED), by_answer=False)
    assert log.records()[1].passed_at == first
    assert log.records()[1].is_solved


def test_cannot_tell_leaves_no_trace(tmp_path):
    log = ProgressLog(tmp_path / "progress.jsonl")
    log.record(result(1, Outcome.ERROR), by_answer=False)
    assert not (tmp_path / "progress.jsonl").exists()
    assert log.records() == {}


@pytest.mark.parametrize(
    "torn",
    ["[" * 100_000 + "\n", '{"event":"graded","st', "\x00\x00\x00", '{"event":"graded"', "7\n"],
)
def test_torn_line_is_passed_over(tmp_path, torn):
    file = tmp_path / "progress.jsonl"
    log = ProgressLog(file)
    log.record(result(1, Outcome.PASSED), by_answer=False)
    with file.open("a") as stream:
        stream.write(torn)
    log.record(result(2, Outcome.PASSED), by_answer=False)
    assert set(log.records()) == {1, 2}


def test_many_writers_at_once_lose_nothing(tmp_path):
    log = ProgressLog(tmp_path / "progress.jsonl")
    with ThreadPoolExecutor(8) as pool:
        list(pool.map(lambda _: log.record(result(3, Outcome.FAILED), by_answer=False), range(64)))
    assert log.records()[3].attempts == 64
    for line in (tmp_path / "progress.jsonl").read_text().splitlines():
        assert json.loads(line)["step"] == 3


def test_full_disk_loses_nothing_and_says_so(tmp_path):
    """A limit on the file's size stands for the full disk: write() comes back short or fails."""
    file = tmp_path / "progress.jsonl"
    log = ProgressLog(file)
    log.record(result(1, Outcome.PASSED), by_answer=False)
    before = file.read_bytes()
    program = (
        "import resource, signal\n"
        "from pathlib import Path\n"
        "from tests.unit.lab.test_progress import *\n"
        f"signal.signal(signal.SIGXFSZ, signal.SIG_IGN)\n"
        f"resource.setrlimit(resource.RLIMIT_FSIZE, ({len(before) + 20},) * 2)\n"
        f"log = ProgressLog(Path({str(file)!r}))\n"
        "try:\n    log.record(result(2, Outcome.PASSED), by_answer=False)\n"
        "except LabError as error:\n    print(error)\n"
    )
    done = subprocess.run(
        [sys.executable, "-c", program], capture_output=True, text=True, check=True, cwd=Path.cwd()
    )
    assert str(file) in done.stdout
    assert file.read_bytes() == before


def test_record_that_is_a_folder(tmp_path):
    (tmp_path / "progress.jsonl").mkdir()
    with pytest.raises(LabError, match=r"progress\.jsonl"):
        ProgressLog(tmp_path / "progress.jsonl").records()


def test_record_that_is_a_named_pipe(tmp_path):
    os.mkfifo(tmp_path / "progress.jsonl")
    log = ProgressLog(tmp_path / "progress.jsonl")
    with pytest.raises(LabError, match=r"progress\.jsonl"):
        log.records()
    with pytest.raises(LabError, match=r"progress\.jsonl"):
        log.record(result(1, Outcome.PASSED), by_answer=False)


def test_archive_starts_anew(tmp_path):
    log = ProgressLog(tmp_path / "progress.jsonl")
    log.record(result(1, Outcome.PASSED), by_answer=False)
    log.archive(tmp_path / "saved")
    assert log.records() == {}
    assert (tmp_path / "saved" / "progress.jsonl").is_file()


def test_the_evidence_kept_is_dated_by_the_pass_it_is_of(tmp_path):
    log = ProgressLog(tmp_path / "progress.jsonl")
    log.record(result(1, Outcome.PASSED), by_answer=False)
    first = log.records()[1]
    assert first.evidence_at == first.passed_at
    wait_until(lambda: None if log_time() > first.passed_at else say("same time"), within=2)
    log.record(result(1, Outcome.PASSED), by_answer=False)
    log.record(result(1, Outcome.FAILED), by_answer=False)
    last = log.records()[1]
    assert (last.passed_at, last.evidence) == (first.passed_at, (PROOF,))
    assert first.passed_at < last.evidence_at < last.graded_at


def log_time():
    return datetime.now(UTC).isoformat(timespec="microseconds")


@pytest.mark.parametrize("evidence", [7, [7], [{}], [{"kind": 1}], {"kind": "Job"}, None])
def test_evidence_that_cannot_be_read_proves_nothing_and_breaks_nothing(tmp_path, evidence):
    file = tmp_path / "progress.jsonl"
    entry = {"event": "graded", "step": 1, "verdict": "PASS", "time": 5, "evidence": evidence}
    file.write_text(json.dumps(entry) + "\n")
    record = ProgressLog(file).records()[1]
    assert (record.attempts, record.passed_at, record.evidence) == (1, "5", ())


def test_what_one_command_graded_belongs_together(tmp_path):
    file = tmp_path / "progress.jsonl"
    for numbers in ((1, 2), (3,)):
        log = ProgressLog(file)
        for number in numbers:
            log.record(result(number, Outcome.FAILED), by_answer=False)
    records = ProgressLog(file).records()
    assert records[1].run == records[2].run != records[3].run


@pytest.mark.parametrize(
    ("runs", "wanted"),
    [
        ([], 1),
        ([{5: Outcome.FAILED}], 5),
        ([{1: Outcome.PASSED}, {5: Outcome.FAILED}, {2: Outcome.FAILED}], 2),
        ([{5: Outcome.FAILED}, {1: Outcome.PASSED}], 2),  # the newest passed: the first open one
        ([{1: Outcome.PASSED, 2: Outcome.FAILED, 8: Outcome.FAILED}], 2),
        ([{4: Outcome.FAILED}, {1: Outcome.ERROR}], 4),  # CANNOT TELL is no attempt
    ],
)
def test_a_hint_without_a_number_is_for_the_step_checked_last(tmp_path, runs, wanted):
    lab = load_lab("kueue_quota")
    place = Place(lab, tmp_path, tmp_path, None)
    for run in runs:
        log = ProgressLog(place.progress_file)
        for number, outcome in run.items():
            log.record(result(number, outcome), by_answer=False)
    assert Examiner(place).step_of_the_last_failure().number == wanted
