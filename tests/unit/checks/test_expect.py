"""Patience, and the words for fields and values."""

import time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from checks.kit.expect import OnItsWay, Patience, cut, mismatch, show, spell_path
from checks.kit.paths import MISSING, dig, dig_count, dig_list, dig_map, dig_text, places_of
from checks.outcome import CannotTell, Finding, Mismatch
from provision.message import say


def coming(**more):
    return OnItsWay(Finding(say("a"), say("b"), say("c"), say("d")), **more)


def test_what_is_settled_is_judged_once():
    looks = []
    assert Patience(5).watch(lambda: 7, afresh=lambda: looks.append(1)) == 7
    began = time.monotonic()
    with pytest.raises(Mismatch):
        Patience(5).watch(fail_for_good, afresh=lambda: looks.append(1))
    assert time.monotonic() - began < 1
    assert looks == []


def fail_for_good():
    raise mismatch(say("a"), say("b"), say("c"), say("d"))


def test_what_is_coming_is_looked_at_afresh():
    looks = []

    def judge():
        if len(looks) < 2:
            raise coming()
        return "there"

    patience = Patience(5, every=0.01)
    assert patience.watch(judge, afresh=lambda: looks.append(1)) == "there"
    assert len(looks) == 2


def test_what_does_not_come_ends_with_its_last_words():
    def judge():
        raise coming()

    with pytest.raises(OnItsWay):
        Patience(0.05, every=0.01).watch(judge, afresh=lambda: None)


def test_what_is_owed_by_the_place_is_not_the_learners():
    def judge():
        raise coming(overdue=CannotTell(say("idle"), next_move=say("look")))

    with pytest.raises(CannotTell, match="idle"):
        Patience(0.05, every=0.01).watch(judge, afresh=lambda: None)


def test_all_checks_share_one_budget():
    def judge():
        raise coming()

    patience = Patience(0.2, every=0.01)
    began = time.monotonic()
    for _ in range(5):
        with pytest.raises(OnItsWay):
            patience.watch(judge, afresh=lambda: None)
    assert time.monotonic() - began < 0.6


@pytest.mark.parametrize(
    ("path", "text"),
    [
        (("spec", "nodeLabels"), "spec.nodeLabels"),
        (("a", 0, "b-c"), "a[0].b-c"),
        (("limits", "nvidia.com/gpu"), 'limits["nvidia.com/gpu"]'),
        ((), ""),
    ],
)
def test_fields_as_people_write_them(path, text):
    assert spell_path(path) == text


@given(st.text(max_size=2000))
def test_a_cut_text_is_one_short_line(text):
    line = cut(text, 40)
    assert len(line) <= 45
    assert line.isprintable()


@pytest.mark.parametrize(
    ("value", "text"),
    [("가", '"가"'), (True, "true"), (None, "null"), ({"a": 1}, '{"a": 1}'), ({1}, "{1}")],
)
def test_values_are_shown_as_json(value, text):
    assert show(value) == text


def test_digging():
    content = {"a": [{"b": None, "c": "x", "n": 3}], "m": {"k": 1}}
    assert dig(content, "a", 0, "b") is None
    for path in (("a", 1), ("a", "b"), ("x",), ("a", 0, "b", "c"), ("m", 0)):
        assert dig(content, *path) is MISSING
    assert not MISSING
    assert dig_text(content, "a", 0, "c") == "x"
    assert dig_text(content, "a") == ""
    assert dig_list(content, "m") == []
    assert dig_map(content, "a") == {}
    assert (dig_count(content, "a", 0, "n"), dig_count(content, "x")) == (3, 0)


def test_all_places_of_a_key():
    key = "kueue.x-k8s.io/queue-name"
    content = {"metadata": {"labels": {key: 1}}, "spec": {"list": [{"labels": {key: 2}}]}, key: 3}
    assert set(places_of(content, key)) == {
        ("metadata", "labels", key),
        ("spec", "list", 0, "labels", key),
        (key,),
    }
    assert places_of({}, key) == ()
