"""What a LocalQueue can have used by some time: Kueue's rule, and how far a note may be off."""

import time

import pytest

from checks.gpu_preemption.usage import Seen, Span, span

HOUR = 3600


def within(seen, *, since, until, now=None, most=4):
    return span(seen, now, since=since, until=until, most=most, half=HOUR)


def test_a_queue_that_holds_all_grows_as_was_measured():
    found = within([Seen(0, 0.0)], since=0, until=10)
    assert found.least == 0
    assert found.most == pytest.approx(0.0077, abs=0.0001)


def test_a_queue_that_holds_nothing_only_forgets():
    found = within([Seen(0, 1.0, is_idle=True)], since=0, until=HOUR)
    assert found == Span(0.5, 1.0)


def test_what_was_seen_later_narrows_it():
    wide = within([Seen(0, 0.0)], since=0, until=HOUR)
    narrow = within([Seen(0, 0.0, is_idle=True), Seen(HOUR - 10, 0.0)], since=0, until=HOUR)
    assert wide.most == pytest.approx(2.0)
    assert narrow.most < 0.01


def test_the_last_look_before_counts_and_older_ones_do_not():
    seen = [Seen(0, 9.0), Seen(50, 1.0, is_idle=True)]
    assert within(seen, since=60, until=60).most == 1.0


def test_without_a_record_the_present_tells_what_was():
    now = time.time()
    found = within([], since=now - HOUR, until=now, now=0.5)
    assert found.least == 0
    assert found.most == pytest.approx(1.0, abs=0.01)
    assert within([], since=now, until=now) is None


@pytest.mark.parametrize(
    ("amount", "is_held"),
    [(0.24, True), (0.2364, True), (0.3, False), (0.1, False), (57616571, False), (0, False)],
)
def test_a_note_may_be_rounded_but_not_made_up(amount, is_held):
    assert Span(0.236, 0.246).holds(amount) is is_held


def test_nothing_used_is_not_a_little_used():
    assert Span(0, 0).holds(0)
    assert not Span(0, 0).holds(0.01)
