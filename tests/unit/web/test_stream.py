"""What is still to be told to a listener, and the checks that the page runs."""

import asyncio
import json
import os
import subprocess
import sys
from types import SimpleNamespace

import pytest

from checks.picture import Picture
from lab.text import Speech
from lab.web import running_checks, viewing
from lab.web.running_checks import CheckRun, Run, begin, take_up
from lab.web.stream import Event, Listener
from lab.web.viewing import View
from provision.files import write_atomically
from provision.message import say
from provision.waiting import wait_until
from tests.unit.checks.test_picture import gpus, painter, recorded, seen


def event(kind, key, data=None):
    return Event(kind, key, lambda _: data or {})


async def told(listener):
    return [(one.kind, one.key) for one in await listener.next(0.05)]


def test_the_newest_of_a_thing_takes_the_place_of_the_one_before():
    async def play():
        listener = Listener()
        for one in (
            event("picture", "-"),
            event("verdict", "1"),
            event("checking", ""),
            event("picture", "-"),
            event("checking", ""),
            event("verdict", "2"),
        ):
            listener.put(one)
        assert await told(listener) == [
            ("verdict", "1"),
            ("checking", ""),
            ("picture", "-"),
            ("checking", ""),
            ("verdict", "2"),
        ]
        assert await told(listener) == []
        listener.leave()
        assert await told(listener) == []
        assert listener.is_gone

    asyncio.run(play())


POPEN = subprocess.Popen


class Watched:
    """Watches whose state the test sets."""

    trouble = ""

    def look(self):
        return [None]


@pytest.fixture
def view(monkeypatch):
    clock = SimpleNamespace(now=100.0)
    monkeypatch.setattr(viewing.time, "monotonic", lambda: clock.now)
    painter = SimpleNamespace(draw=lambda _: Picture())
    view = View(watched := Watched(), painter)
    return view, watched, clock


def test_a_short_gap_of_a_watch_is_not_worth_a_word(view):
    view, watched, clock = view
    assert view.look()
    assert view.place(Speech("en")) == {"is_ready": True, "text": None}
    watched.trouble = "/api/v1/pods: HTTP 503"
    assert not view.look()
    assert view.is_waiting
    clock.now += 1
    watched.trouble = ""
    assert not view.look()
    assert not view.is_waiting
    assert view.picture(view.newest, Speech("en"))["is_live"] is True


def test_slow_pictures_hold_up_nothing_else_and_the_last_is_drawn(monkeypatch):
    clock, drawn = SimpleNamespace(now=100.0), []
    monkeypatch.setattr(viewing.time, "monotonic", lambda: clock.now)

    def draw(seen):
        clock.now += viewing.DRAW_SECONDS * 0.6
        drawn.append(seen)
        return Picture()

    watched = Watched()
    watched.look = lambda: list(range(100))
    View(watched, SimpleNamespace(draw=draw)).look()
    assert drawn == [0, 1, 99]


def test_what_lasts_is_told_and_the_last_picture_stays(view):
    view, watched, clock = view
    assert view.look()
    watched.trouble = "/api/v1/pods: HTTP 503"
    assert not view.look()
    clock.now += 2
    assert view.look()
    assert not view.look()
    place, picture = view.place(Speech("ko")), view.picture(view.newest, Speech("en"))
    assert place["is_ready"] is False
    assert place["text"] == (
        "지금은 클러스터가 보이지 않습니다: API 서버의 답이 503입니다. "
        "자세한 것은 lab status에 나옵니다."
    )
    assert (picture["is_live"], picture["queues"]) == (False, [])
    assert picture["trouble"] == (
        "The cluster cannot be seen right now: the API server answers 503. lab status says more."
    )
    watched.trouble = "/api/v1/nodes: HTTP 503"
    assert not view.look()
    watched.trouble = "/api/v1/nodes: ConnectionRefusedError: [Errno 111] Connection refused"
    assert view.look()
    assert "the API server does not answer." in view.place(Speech("en"))["text"]
    watched.trouble = ""
    assert view.look()
    assert view.place(Speech("en"))["is_ready"] is True


def test_nothing_is_drawn_before_everything_was_listed(view):
    view, watched, _ = view
    watched.trouble = "not asked yet"
    assert not view.look()
    assert not view.is_known


SCRIPT = """
import json, sys
print(json.dumps({"event": "check", "step": 8, "id": "x"}))
print(json.dumps({"event": "check", "step": 2, "id": "a", "index": 1, "of": 1, "outcome": "passed",
                  "title": {"template": "A", "values": {}}, "seconds": 0.5}))
if len(sys.argv) > 1:
    sys.exit("it broke")
print(json.dumps({"event": "verdict", "step": 2, "verdict": "PASS", "seconds": 0.5}))
"""


@pytest.fixture
def run_of(tmp_path, monkeypatch):
    """Begins a run of a script instead of `lab check`."""

    def make(*arguments, script=SCRIPT):
        def other(command, **options):
            return POPEN([sys.executable, "-c", script, *arguments], **options)

        monkeypatch.setattr(running_checks.subprocess, "Popen", other)
        place = SimpleNamespace(home=tmp_path, lab=SimpleNamespace(slug="x"))
        return begin(place, tmp_path / "page", 2, os.environ)

    return make


def to_the_end(run):
    news, ends = [], []

    def missing():
        told, end = run.heard()
        news.extend(told)
        ends.extend([end] if end else [])
        return None if ends else say("it still runs")

    wait_until(missing, within=20, every=0.02)
    return news, ends[0]


def test_a_run_is_heard_to_its_end(run_of, tmp_path):
    run = run_of()
    assert json.loads((tmp_path / "page" / "run.json").read_text())["step"] == 2
    news, end = to_the_end(run)
    assert [(one.id, str(one.outcome)) for one in news] == [("a", "passed")]
    assert (end.verdict, end.seconds, end.error) == ("PASS", 0.5, None)
    assert not (tmp_path / "page" / "run.json").exists()


def test_a_run_without_a_verdict_says_why(run_of):
    _, end = to_the_end(run_of("fail"))
    assert (end.verdict, str(end.error)) == ("", "it broke")
    _, end = to_the_end(run_of(script="pass"))
    assert "without a verdict" in str(end.error)


def test_another_server_takes_a_run_up(run_of, tmp_path):
    first = run_of()
    second = take_up(tmp_path / "page")
    assert second.run == first.run
    news, end = to_the_end(second)
    assert (len(news), end.verdict) == (1, "PASS")
    assert take_up(tmp_path / "page") is None
    first._process.wait()


def test_a_run_of_a_process_that_is_no_more_has_ended(tmp_path):
    run = CheckRun(Run("x", 2, os.getpid(), 1.0), tmp_path)
    assert run.heard()[1] is not None


@pytest.mark.parametrize(
    "content",
    [
        *("", "[]", "{}", "[" * 60_000),
        '{"id": 1, "step": "x", "pid": 1, "born": 1}',
        '{"id": 1, "step": 1, "pid": 1e400, "born": 0}',
    ],
)
def test_a_file_of_no_run_is_passed_over(tmp_path, content):
    (tmp_path / "run.json").write_text(content)
    assert take_up(tmp_path) is None


@pytest.mark.timeout(10)
def test_a_named_pipe_is_no_run_and_is_written_over(tmp_path):
    os.mkfifo(tmp_path / "run.json")
    assert take_up(tmp_path) is None
    assert write_atomically(tmp_path / "run.json", "{}")
    assert (tmp_path / "run.json").read_text() == "{}"


class Told:
    """Watches that tell one recorded state after the other."""

    trouble = ""

    def __init__(self, *looks):
        self.looks = list(looks)

    def look(self):
        return [seen(recorded(name)) for name in self.looks.pop(0)]


def test_what_moves_in_between_is_told_in_order_and_what_stays_is_not():
    """At first only how things are; then each picture in which somebody has another place."""
    steps = ("step_4", "step_4", "step_5", "step_5", "step_6")
    view = View(Told(("queues", "step_4"), steps, ("step_6",), ("step_6", "step_8")), painter())
    told = [view.look() for _ in range(4)]
    assert [[gpus(picture) for picture in pictures] for pictures in told] == [
        [["train-1", None, None, None]],
        [["train-1", "train-2", None, None], ["train-1", "train-2", "sneaky", None]],
        [],
        [["train-3", "train-2", "sneaky", None]],
    ]
