"""The newest verdict on each step, kept for whoever shows it later."""

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
