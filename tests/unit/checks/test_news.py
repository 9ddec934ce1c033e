"""What a run of checks tells while it goes on."""

import json
import os

import pytest

from checks.news import CheckNews, LineReader, append_line, news_from_json, news_to_json
from checks.outcome import Outcome, StepVerdict
from provision.message import say
from tests.unit.checks.test_plugin import judge  # noqa: F401

BODY = '''
def test_one():
    """First of {gpu}."""

def test_two():
    """Second."""
    raise CannotTell(say("gone"), next_move=say("look"))

@pytest.mark.needs("two")
def test_three():
    """Third."""
'''


def test_each_check_is_told_when_it_begins_and_ends(judge, tmp_path):  # noqa: F811
    file = tmp_path / "news.jsonl"
    assert judge(BODY, news=str(file)).verdict is StepVerdict.CANNOT_TELL
    news = [news_from_json(line) for line in LineReader(file).read()]
    assert [(one.id, one.outcome, one.index, one.of) for one in news] == [
        ("one", None, 1, 3),
        ("one", Outcome.PASSED, 1, 3),
        ("two", None, 2, 3),
        ("two", Outcome.ERROR, 2, 3),
        ("three", Outcome.SKIPPED, 3, 3),
    ]
    assert str(news[0].title) == "First of g"
    seconds = [one.seconds for one in news]
    assert seconds == sorted(seconds)


def test_nobody_listens_unless_asked(judge, tmp_path):  # noqa: F811
    assert judge(BODY) is not None
    assert not list(tmp_path.glob("news*"))


def test_news_that_cannot_be_written_change_no_verdict(judge, tmp_path):  # noqa: F811
    assert judge("def test_one():\n    '''One.'''\n", news=str(tmp_path)).verdict is (
        StepVerdict.PASS
    )


def test_only_whole_lines_are_read_and_each_once(tmp_path):
    file = tmp_path / "lines"
    reader = LineReader(file)
    assert reader.read() == []
    append_line(file, {"a": 1})
    with file.open("ab") as end:
        end.write(b'no json\n[1]\n{"a": ')
    assert reader.read() == [{"a": 1}]
    assert reader.read() == []
    with file.open("ab") as end:
        end.write(b"2}\n")
    assert reader.read() == [{"a": 2}]


def test_a_line_that_cannot_be_written_disturbs_nobody(tmp_path):
    append_line(tmp_path, {"a": 1})
    append_line(tmp_path / "none" / "file", {"a": 1})
    assert os.listdir(tmp_path) == []  # noqa: PTH208


def test_there_and_back():
    news = CheckNews("a", say("{x}", x=say("y")), 1, 2, Outcome.FAILED, 0.25)
    assert news_from_json(json.loads(json.dumps(news_to_json(news)))) == news


@pytest.mark.parametrize("key", ["id", "title", "index", "of", "outcome", "seconds"])
def test_what_is_no_news_is_an_error(key):
    data = news_to_json(CheckNews("a", say("y"), 1, 2, Outcome.FAILED, 0.25))
    with pytest.raises((ValueError, KeyError, TypeError)):
        news_from_json({**data, key: [{}]} if key != "id" else {})
