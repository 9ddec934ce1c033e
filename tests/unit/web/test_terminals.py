"""Terminals of the page without a cluster: who gets one, and when one ends."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from lab.places import Places
from lab.web import terminals
from lab.web.page import Page
from lab.web.terminals import MOST_OPEN, PageTerminals, TooManyTerminals


@pytest.fixture
def page(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Page:
    """A page whose shell is a `cat`; no tmux."""
    environment = {"PATH": "/usr/bin:/bin", "LAB_HOME": str(tmp_path), "HOME": str(tmp_path)}
    place = Places(environment, is_root=False).open()
    place.workspace.mkdir(parents=True)
    monkeypatch.setattr(
        terminals, "prepare_shell", lambda place, base, bin_dir: (["cat"], dict(base))
    )
    return Page(place, "en", environment, has_tmux=False)


class Tab:
    """What a terminal sees of a websocket."""

    size = (24, 80)

    def __init__(self, terminal: Any) -> None:
        self.terminal = terminal
        terminal.clients.append(self)

    def on_pty_read(self, text: str) -> None: ...

    def on_pty_died(self) -> None: ...

    def leave(self, manager: PageTerminals) -> None:
        self.terminal.clients.remove(self)
        manager.client_disconnected(self)  # type: ignore[arg-type]


def run(page: Page, scene: Callable[[PageTerminals], Any]) -> None:
    async def play() -> None:
        manager = PageTerminals(page, None)
        try:
            await scene(manager)
        finally:
            await manager.shutdown()

    asyncio.run(play())


async def await_end(manager: PageTerminals, name: str) -> None:
    async with asyncio.timeout(10):
        while name in manager.terminals:
            await asyncio.sleep(0.02)


def test_one_that_nobody_came_for_ends(page: Page, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(terminals, "UNUSED_SECONDS", 0.1)

    async def scene(manager: PageTerminals) -> None:
        unused, used = manager.open(1), manager.open(2)
        Tab(manager.terminals[used])
        await await_end(manager, unused)
        assert list(manager.terminals) == [used]

    run(page, scene)


def test_it_ends_with_its_tab(page: Page) -> None:
    async def scene(manager: PageTerminals) -> None:
        name = manager.open(1)
        tab = Tab(manager.terminals[name])
        process = manager.terminals[name].ptyproc
        tab.leave(manager)
        await await_end(manager, name)
        assert not process.isalive()

    run(page, scene)


def test_eight_tabs_are_enough_and_unused_ones_make_room(page: Page) -> None:
    async def scene(manager: PageTerminals) -> None:
        for _ in range(MOST_OPEN + 3):
            name = manager.open(1)
        assert len(manager.terminals) == MOST_OPEN
        for terminal in manager.terminals.values():
            Tab(terminal)
        with pytest.raises(TooManyTerminals, match="8 terminals are open"):
            manager.open(2)
        assert name in manager.terminals

    run(page, scene)


def test_a_name_is_random_and_an_unknown_one_makes_nothing(page: Page) -> None:
    async def scene(manager: PageTerminals) -> None:
        names = {manager.open(1), manager.open(1)}
        assert len(names) == 2
        with pytest.raises(KeyError):
            manager.get_terminal("1")

    run(page, scene)


def test_the_environment_is_what_was_put_together(
    page: Page, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("JPY_API_TOKEN", "secret")

    async def scene(manager: PageTerminals) -> None:
        pid = manager.terminals[manager.open(1)].ptyproc.pid
        async with asyncio.timeout(10):
            while b"cat" not in Path(f"/proc/{pid}/cmdline").read_bytes():
                await asyncio.sleep(0.01)
        told = Path(f"/proc/{pid}/environ").read_text().split("\0")
        names = {line.split("=")[0] for line in told if line}
        assert names == {*page.environment, "TERM"}

    run(page, scene)
