"""Terminals of the page: the shells live in tmux, and each open tab is one more client of it.

Jupyter's own way is one pty for all who connect, and at a reconnect the last thousand pieces of its
output again. xterm.js answers every question of a program in them a second time, and the shell gets
that as typed text. A new tmux client draws the screen instead. tmux also reads whatever comes, so
that a shell which does not read stops nobody else, and keeps no flood of output in this process.
"""

from __future__ import annotations

import asyncio
import secrets
import sys
from collections.abc import Mapping
from pathlib import Path

from jupyter_server.serverapp import ServerApp
from jupyter_server_terminals.terminalmanager import TerminalManager
from terminado.management import PtyWithClients
from terminado.websocket import TermSocket

from lab.shell import prepare_shell
from lab.web.page import Page
from provision.errors import LabError
from provision.message import say

NUMBERS = (1, 2)
MOST_OPEN = 8
UNUSED_SECONDS = 20.0
TMUX_CONF = Path(__file__).parent / "tmux.conf"
TERM = "xterm-256color"  # what xterm.js is


class TooManyTerminals(LabError):
    """As many tabs as there may be are open."""


def tmux_command(socket: Path) -> list[str]:
    """How the tmux server of a place is talked to; -u: everything is UTF-8."""
    return ["tmux", "-u", "-S", str(socket), "-f", str(TMUX_CONF)]


class PageTerminals(TerminalManager):
    """Makes a pty for each tab that opens a terminal, and ends it when the tab is gone.

    What runs in it, where, and in which environment is decided here; a request says a number only.
    """

    def __init__(self, page: Page, parent: ServerApp | None) -> None:
        super().__init__(shell_command=[], parent=parent)
        self._page = page
        self._endings: set[asyncio.Task[bool]] = set()

    def open(self, number: int) -> str:
        """A new pty on shell `number`; the random name that its websocket asks for.

        Raises LabError when too many are open, or when there is no place to work at.
        """
        if len(self.terminals) >= MOST_OPEN and not self._end_oldest_unused():
            raise TooManyTerminals(
                say("{count} terminals are open already.", count=MOST_OPEN),
                next_move=say("Close tabs of this page that you do not need."),
            )
        place = self._page.place
        shell, environment = prepare_shell(
            place, self._page.environment, Path(sys.executable).parent
        )
        command = shell
        if self._page.has_tmux:
            session = ["new-session", "-A", "-s", f"lab-{number}", "-c", str(place.workspace)]
            command = [*tmux_command(self._page.tmux_socket), *session, *shell]
        name = secrets.token_hex(8)
        self.create(
            name=name,
            shell_command=command,
            cwd=str(place.workspace),
            environment={**environment, "TERM": TERM},
        )
        asyncio.get_running_loop().call_later(UNUSED_SECONDS, self._end_if_unused, name)
        return name

    def make_term_env(  # type: ignore[override]
        self, environment: Mapping[str, str] | None = None, **_: object
    ) -> dict[str, str]:
        """The shell's environment: just what `open` put together, nothing of this process."""
        return dict(environment or {})

    def get_terminal(self, term_name: str | None = None) -> PtyWithClients:
        """The terminal of that name; an unknown name makes none."""
        return self.terminals[term_name or ""]

    def client_disconnected(self, websocket: TermSocket) -> None:
        """A tab is gone, and its pty with it; the shell in tmux stays."""
        if websocket.terminal is not None:
            self._end_if_unused(websocket.terminal.term_name)

    def _end_if_unused(self, name: str | None) -> None:
        terminal = self.terminals.get(name or "")
        if terminal is not None and not terminal.clients:
            task = asyncio.ensure_future(terminal.terminate(force=True))
            self._endings.add(task)
            task.add_done_callback(self._endings.discard)

    def _end_oldest_unused(self) -> bool:
        """Make room: a tab that was cut off asks anew before it has taken what it got."""
        for name, terminal in self.terminals.items():
            if not terminal.clients:
                self._end_if_unused(name)
                del self.terminals[name]
                return True
        return False
