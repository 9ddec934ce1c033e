"""The newest verdict on each step, kept for whoever shows it later."""

import json
import os
from dataclasses import replace

import pytest

from checks.outcome import Outcome, StepVerdict
from lab.progress import StepRecord
from lab.verdicts import PAGE, TERMINAL, VerdictStore
from tests.unit.lab.test_standing import LAB, standing


@pytest.fixture
def store(tmp_path):
    return VerdictStore(tmp_path / "verdicts")


def test_it_is_kept_whole_and_in_no_language(store):
    said = standing(Outcome.FAILED, is_transient=True)
    store.put(said, by=PAGE)
    kept = store.get(4)
    assert (kept.verdict, kept.is_true_now, kept.by) == (StepVerdict.PASS, False, "page")
    assert kept.cause == said.cause
    assert kept.graded_at.endswith("+00:00")
    assert kept.standing(LAB.step(4), said.record) == said


def test_the_newest_takes_the_place_of_the_one_before(store):
    store.put(standing(Outcome.ERROR), by=PAGE)
    assert store.get(4).is_true_now is None
    store.put(standing(Outcome.PASSED), by=TERMINAL)
    assert (store.get(4).verdict, store.get(4).by) == (StepVerdict.PASS, "terminal")
    assert store.get(3) is None


def test_its_mark_differs_after_each_put(store):
    marks = [store.mark([3, 4])]
    for outcome in (Outcome.PASSED, Outcome.FAILED, Outcome.PASSED):
        store.put(standing(outcome), by=PAGE)
        marks.append(store.mark([3, 4]))
    assert len(set(marks)) == 4


@pytest.mark.parametrize("content", [b"", b"{}", b"[]", b"\xff", b'{"schema": 2}', b'{"schema":1}'])
def test_a_file_that_is_none_counts_as_none(store, tmp_path, content):
    store.put(standing(Outcome.PASSED), by=PAGE)
    (tmp_path / "verdicts" / "step_4.json").write_bytes(content)
    assert store.get(4) is None


def test_a_folder_that_cannot_be_written_fails_nothing(tmp_path):
    (tmp_path / "verdicts").write_text("a file in its place")
    store = VerdictStore(tmp_path / "verdicts")
    store.put(standing(Outcome.PASSED), by=PAGE)
    assert store.get(4) is None


def test_a_reset_moves_them_away(store, tmp_path):
    store.archive(tmp_path / "saved" / "x")
    store.put(standing(Outcome.PASSED), by=PAGE)
    store.archive(tmp_path / "saved" / "x")
    assert store.get(4) is None
    assert (tmp_path / "saved" / "x" / "verdicts" / "step_4.json").exists()


def test_what_is_on_record_now_stands_beside_it(store):
    store.put(standing(Outcome.PASSED), by=PAGE)
    record = replace(StepRecord(), attempts=7)
    assert store.get(4).standing(LAB.step(4), record).record.attempts == 7


@pytest.mark.parametrize(
    "cause",
    [
        {"template": "{x}", "values": {}},
        {"template": "{", "values": {}},
        {"template": "{0}", "values": {}},
        {"template": "{x.__class__}", "values": {"x": "a"}},
        {"template": "{x:>99999999}", "values": {"x": "a"}},
        {"template": "{x}", "values": {"x": 1}},
        {"template": ["x"], "values": {}},
    ],
)
def test_what_cannot_be_said_is_no_verdict(store, tmp_path, cause):
    store.put(standing(Outcome.FAILED), by=PAGE)
    file = tmp_path / "verdicts" / "step_4.json"
    whole = json.loads(file.read_text())
    file.write_text(json.dumps({**whole, "cause": cause}))
    assert store.get(4) is None
    for number in (float("inf"), float("nan")):
        file.write_text(json.dumps({**whole, "result": {**whole["result"], "requests": number}}))
        assert store.get(4) is None


def test_messages_within_one_another_come_to_an_end(store, tmp_path):
    cause = {"template": "x", "values": {}}
    for _ in range(300):
        cause = {"template": "{x}", "values": {"x": cause}}
    store.put(standing(Outcome.FAILED), by=PAGE)
    file = tmp_path / "verdicts" / "step_4.json"
    file.write_text(json.dumps({**json.loads(file.read_text()), "cause": cause}))
    assert store.get(4) is None


@pytest.mark.timeout(10)
def test_a_named_pipe_is_not_waited_at(store, tmp_path):
    (tmp_path / "verdicts").mkdir()
    os.mkfifo(tmp_path / "verdicts" / "step_4.json")
    assert store.get(4) is None
