"""A place that is brought up by its page: what is told, and how it is broken off."""

from __future__ import annotations

import asyncio
import os
from collections.abc import Mapping
from pathlib import Path

import pytest

from lab.places import Place, Places
from lab.text import Speech
from lab.web.arriving import Arrival
from lab.web.live import Newsroom
from lab.web.page import Page
from provision.errors import LabError
from provision.message import say
from provision.waiting import wait_until


@pytest.fixture
def environment(tmp_path: Path) -> Mapping[str, str]:
    """One in which no place can be brought up: a file is where the workspace goes."""
    (tmp_path / "taken").write_text("mine")
    return {
        "PATH": os.environ["PATH"],
        "HOME": str(tmp_path),
        "LAB_HOME": str(tmp_path / "home"),
        "LAB_CACHE": str(tmp_path / "cache"),
        "LAB_WORKSPACE": str(tmp_path / "taken"),
    }


@pytest.fixture
def place(environment: Mapping[str, str]) -> Place:
    return Places(environment, is_root=False).open()


def await_end(arrival: Arrival) -> None:
    def missing():
        arrival.look()
        return say("still going") if arrival.is_going else None

    wait_until(missing, within=30, every=0.02)


def test_a_place_that_cannot_come_says_why(place, environment, tmp_path):
    arrival = Arrival(place, tmp_path / "hub", environment)
    assert arrival.word(is_seen=False) is None
    assert not arrival.look()
    arrival.ensure()
    assert arrival.is_going
    assert "is being brought up" in str(arrival.word(is_seen=True))
    assert arrival.look()
    assert not arrival.look()
    await_end(arrival)
    word = arrival.word(is_seen=False)
    assert word is not None
    english, korean = (Speech(language).of(word) for language in ("en", "ko"))
    assert "could not be brought up" in english
    assert f"{tmp_path / 'taken'} is a file" in english
    assert "Move it away" in english
    assert "실습 환경을 시작하지 못했습니다" in korean
    assert "파일" in korean
    assert arrival.word(is_seen=True) is None  # somebody brought it up by hand
    arrival.ensure()
    assert arrival.is_going, "it is tried again"
    arrival.stop()
    await_end(arrival)


def test_a_process_that_says_nothing_is_told_by_its_complaints(place, environment, tmp_path):
    bare = {"PATH": environment["PATH"], "LAB_HOME": environment["LAB_HOME"]}
    arrival = Arrival(place, tmp_path / "hub", {**bare, "LAB_PORTS": "none"})
    arrival.ensure()
    await_end(arrival)
    assert "could not be brought up" in str(arrival.message)
    assert "HOME" in str(arrival.message)


def test_nothing_begins_after_the_end(place, environment, tmp_path):
    arrival = Arrival(place, tmp_path / "hub", environment)
    arrival.stop()
    arrival.ensure()
    assert not arrival.is_going
    assert not (tmp_path / "hub").exists()


def test_where_there_is_no_place_the_page_says_what_is_on_its_way(place, environment, tmp_path):
    page = Page(place, "en", environment, has_tmux=True)
    with pytest.raises(LabError, match="There is no cluster"):
        page.require_place()
    arrival = Arrival(place, tmp_path / "hub", environment)
    page = Page(place, "en", environment, has_tmux=True, arrival=arrival)
    with pytest.raises(LabError, match="There is no cluster"):
        page.require_place()
    arrival.message = say("Your place is being brought up.")
    with pytest.raises(LabError, match="being brought up"):
        page.require_place()
    assert not place.home.exists()


def test_whoever_opens_the_page_hears_how_far_the_place_is(place, environment, tmp_path):
    arrival = Arrival(place, tmp_path / "hub", environment)
    page = Page(place, "en", environment, has_tmux=True, arrival=arrival)

    async def script() -> None:
        newsroom = Newsroom(page)
        arrival.ensure()
        listener = newsroom.join()
        told: list[str] = []
        async with asyncio.timeout(30):
            while not any("could not" in text for text in told):
                events = [e for e in await listener.next(1) if e.kind == "place"]
                heard = [event.tell(Speech("en")) for event in events]
                assert not any(one["is_ready"] for one in heard)
                told += [str(one["text"]) for one in heard]
        assert "is being brought up" in told[0]
        newsroom.close()

    asyncio.run(script())
    await_end(arrival)
