"""The newsroom: what happens in a place's files reaches everybody who listens, in order."""

import asyncio
import contextlib
import logging
import os
import subprocess
import sys

import pytest

from checks.outcome import Outcome
from lab.progress import ProgressLog
from lab.text import Speech
from lab.verdicts import TERMINAL, VerdictStore
from lab.web import running_checks
from lab.web.live import Newsroom
from lab.web.page import Page
from provision.errors import LabError
from provision.message import say
from tests.unit.lab.test_standing import result, standing

POPEN = subprocess.Popen
EN = Speech("en")
CHECKS = """
import json, sys, time
for outcome in (None, "passed"):
    print(json.dumps({"event": "check", "step": 2, "id": "a", "index": 1, "of": 1, "seconds": 0.5,
                      "outcome": outcome, "title": {"template": "A", "values": {}}}), flush=True)
sys.stdin.read()
print(json.dumps({"event": "verdict", "step": 2, "verdict": "PASS", "seconds": 0.5}))
"""


class Nowhere:
    def info(self):
        raise LabError(say("never provisioned"))


@pytest.fixture
def page(place):
    place.home.mkdir()
    object.__setattr__(place, "target", Nowhere())
    return Page(place, "en", dict(os.environ), has_tmux=True)


@pytest.fixture
def run(page):
    """Runs a play with a newsroom, and closes it."""

    def play(script):
        async def whole():
            newsroom = Newsroom(page)
            try:
                await script(newsroom)
            finally:
                newsroom.close()

        asyncio.run(whole())

    return play


async def hear(listener, count):
    """The next events as kind and data; as many as asked for."""
    told = []
    async with asyncio.timeout(10):
        while len(told) < count:
            told += [(one.kind, one.tell(EN)) for one in await listener.next(1)]
    return told


def test_everybody_hears_of_a_verdict_wherever_it_was_given(page, run):
    log, store = ProgressLog(page.place.progress_file), VerdictStore(page.place.verdicts)

    async def script(newsroom):
        one, other = newsroom.join(), newsroom.join()
        for listener in (one, other):
            ((kind, state),) = await hear(listener, 1)
            assert (kind, state["open_step"]) == ("state", 1)
        log.record(result(4, Outcome.PASSED), by_answer=False)
        store.put(standing(Outcome.PASSED), by=TERMINAL)
        for listener in (one, other):
            told = dict(await hear(listener, 2))
            assert told["state"]["steps"][3]["attempts"] == 1
            assert (told["verdict"]["step"], told["verdict"]["by"]) == (4, "terminal")
        late = newsroom.join()
        assert [kind for kind, _ in await hear(late, 2)] == ["state", "verdict"]

    run(script)


def test_who_joins_in_the_middle_of_a_check_hears_all_of_it(page, run, monkeypatch):
    reading, writing = os.pipe()

    def other(command, **options):
        return POPEN([sys.executable, "-c", CHECKS], **{**options, "stdin": reading})

    monkeypatch.setattr(running_checks.subprocess, "Popen", other)

    async def script(newsroom):
        first = newsroom.join()
        await hear(first, 1)
        identity = newsroom.start_check(2, "en")
        told = await hear(first, 3)
        assert [(k, d["phase"]) for k, d in told] == [
            ("checking", "started"),
            ("checking", "check"),
            ("checking", "check"),
        ]
        second = newsroom.join()
        again = await hear(second, 4)
        assert [data for kind, data in again if kind == "checking"] == [data for _, data in told]
        assert newsroom.running.run.id == identity
        os.close(writing)
        os.close(reading)
        for listener in (first, second):
            *_, (kind, ended) = await hear(listener, 1)
            assert (kind, ended["phase"], ended["outcome"]) == ("checking", "ended", "PASS")
        assert newsroom.running is None

    run(script)


def test_a_fault_of_one_look_is_noted_once_and_the_next_look_comes(page, run, monkeypatch, caplog):
    looks = []

    def broken(place):
        looks.append(place)
        if len(looks) < 6:
            raise RuntimeError("odd")
        return len(looks)

    async def script(newsroom):
        listener = newsroom.join()
        await hear(listener, 1)
        monkeypatch.setattr("lab.web.live.mark_of_known", broken)
        VerdictStore(page.place.verdicts).put(standing(Outcome.PASSED), by=TERMINAL)
        assert dict(await hear(listener, 2))["verdict"]["step"] == 4

    with caplog.at_level(logging.ERROR, "lab.web.live"):
        run(script)
    assert [record.message for record in caplog.records] == ["a look at the place failed"]


def test_nobody_is_looked_for_when_nobody_listens(page, run):
    async def script(newsroom):
        listener = newsroom.join()
        await hear(listener, 1)
        newsroom.leave(listener)
        task = newsroom._looking
        async with asyncio.timeout(5):
            await task

    run(script)


def test_a_record_that_cannot_be_read_is_said_and_keeps_nobody_out(page, run):
    page.place.progress_file.mkdir()

    async def script(newsroom):
        listener = newsroom.join()
        ((kind, state),) = await hear(listener, 1)
        assert (kind, state["open_step"]) == ("state", 1)
        assert "cannot be used" in state["remarks"][0]
        with contextlib.suppress(TimeoutError):
            assert await listener.next(0.4) == []
        page.place.progress_file.rmdir()
        (kind, state), *_ = await hear(listener, 1)
        assert (kind, state["remarks"]) == ("state", [])

    run(script)


def test_a_closed_newsroom_sends_its_listeners_home(page, run):
    async def script(newsroom):
        listener = newsroom.join()
        await hear(listener, 1)
        newsroom.close()
        assert await listener.next(5) == []
        assert listener.is_gone

    run(script)
