"""The screen and the JSON of why a Job waits."""

import pytest

from checks.explain import Cause, Detail, Explanation
from checks.inquiry import Answer
from lab.text import Speech, width
from lab.why import WhyReport, as_json, state_of
from provision.message import say

LONG = "WaitingForQuota: " + "insufficient unused quota for nvidia.com/gpu " * 12


def detail(key, text):
    return Detail(key, say("{text}", text=key), say("{text}", text=text))


def answer(cause=Cause.QUOTA, details=(), kind="Job", way=("Job a", "LocalQueue lq")):
    why = Explanation(cause, say("it asks {amount}", amount=LONG), details=details)
    return Answer(kind, "team-a", "a", "a", way, why, 9)


@pytest.mark.parametrize("language", ["en", "ko"])
def test_the_screen_is_one_screen(language):
    told = answer(details=tuple(detail("node", LONG) for _ in range(4)))
    text = WhyReport(Speech(language), columns=80, paint=lambda text, _: text).draw(
        told, say("Not ready: {names}. What stands here may be old.", names="kueue")
    )
    lines = text.splitlines()
    assert len(lines) <= 24
    assert max(width(line) for line in lines) <= 80
    assert "kueue" in lines[-1]
    assert "Job a > LocalQueue lq" in text


def test_what_the_sentence_quotes_is_not_said_again():
    draw = WhyReport(Speech("en"), columns=80, paint=lambda text, _: text).draw
    assert "says" not in draw(answer(details=(detail("says", LONG),)), None)
    assert "missing" in draw(answer(details=(detail("missing", "1"), detail("asked", "1"))), None)


@pytest.mark.parametrize(
    ("told", "state"),
    [
        (answer(), "waits"),
        (answer(Cause.NODE_FULL), "is let in, but not placed"),
        (answer(Cause.NODE_FULL, way=("Job a",)), "is not placed"),
        (answer(Cause.UNQUEUED, details=(detail("pods", "x"),)), "runs past the queue"),
        (answer(Cause.RUNNING), "runs"),
        (answer(Cause.NO_IMAGE), "waits for its image"),
        (answer(Cause.ORPHAN), "is left over"),
    ],
)
def test_the_state_is_said_in_a_word(told, state):
    assert str(state_of(told)) == state


def test_json_has_the_documented_keys():
    told = as_json("a_lab", answer(details=(detail("asked", "1"),)), None, Speech("en"))
    assert (told["schema"], told["cause"], told["trouble"]) == (1, "quota", None)
    assert told["details"] == [{"key": "asked", "label": "asked", "text": "1"}]
    assert told["next"]


def test_every_cause_has_a_next_move():
    for cause in Cause:
        assert str(Explanation(cause, say("x")).next_move)
