"""Languages, and text that keeps within the columns of a terminal."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from lab.text import Speech, choose_language, pad, width, wrap
from provision.message import say


@pytest.mark.parametrize(
    ("environment", "language"),
    [
        ({}, "en"),
        ({"LANG": "C"}, "en"),
        ({"LANG": "ko_KR.UTF-8"}, "ko"),
        ({"LANG": "ko_KR.UTF-8", "LC_ALL": "C"}, "en"),
        ({"LANG": "en_US.UTF-8", "LAB_LANG": "ko"}, "ko"),
        ({"LAB_LANG": "ko-KR"}, "ko"),
        ({"LAB_LANG": "", "LC_MESSAGES": "ko_KR"}, "ko"),
        ({"LAB_LANG": "fr", "LANG": "ko_KR"}, "en"),
    ],
)
def test_language(environment, language):
    assert choose_language(environment) == language


def test_messages_nest():
    inner = say("at {place}", place="home")
    assert Speech("en").of(say("It is {where}.", where=inner)) == "It is at home."
    assert str(say("It is {where}.", where=inner)) == "It is at home."


def test_values_are_never_templates():
    assert Speech("en").of(say("found {value}", value="{evil} {0}")) == "found {evil} {0}"


def test_hangul_takes_two_columns():
    assert width("쿼터") == 4
    assert pad("쿼터", 6) == "쿼터  "


@given(
    st.text(alphabet=st.characters(codec="utf-8", categories=("L", "N", "P", "Zs")), max_size=300),
    st.integers(min_value=20, max_value=100),
)
@settings(max_examples=200, deadline=None)
def test_no_line_is_wider_than_asked(text, columns):
    lines = wrap(text, columns)
    assert all(width(line) <= columns for line in lines)
    assert "".join("".join(lines).split()) == "".join(text.split())


def test_words_that_fit_are_kept_whole():
    path = "/a/rather/long/path/to-a-file.yaml"
    assert path in wrap(f"The workspace is at {path} now", 36)


def test_in_the_labs_shell_the_next_move_is_a_lab_command():
    speech = Speech("en", in_shell=True)
    assert speech.of(say("(hint 1: make hint STEP=5)")) == "(hint 1: lab hint 5)"
    assert speech.of(say("make check STEP=all, make reset")) == "lab check all, lab reset"
    assert speech.of(say("make provision")) == "lab provision"
    assert speech.of(say("Run `make provision LAB=a`.")) == "Run `lab provision --lab a`."
    assert Speech("en").of(say("make step STEP=1")) == "make step STEP=1"
