"""Opening a terminal, and the websocket that carries it."""

from __future__ import annotations

from typing import cast

from jupyter_server.auth.decorator import authorized, ws_authenticated
from jupyter_server_terminals.handlers import TermSocket
from tornado import web

from lab.web.handlers.base import LabAPIHandler
from lab.web.terminals import NUMBERS, PageTerminals, TooManyTerminals
from provision.errors import LabError, UsageError
from provision.message import say


class TerminalHandler(LabAPIHandler):
    """POST `/learn/api/terminal`: a new attachment to a shell, for one websocket."""

    @web.authenticated
    @authorized
    def post(self) -> None:
        """Answer with the name under which the websocket is opened."""
        manager = cast(PageTerminals, self.settings["terminal_manager"])
        try:
            self.page.require_place()
            name = manager.open(self._number())
        except TooManyTerminals as error:
            self.refuse(429, error)
        except UsageError as error:
            self.refuse(400, error)
        except LabError as error:
            self.refuse(503, error)
        else:
            self.finish({"name": name})

    def _number(self) -> int:
        number = self.asked().get("number", 1)
        if isinstance(number, bool) or number not in NUMBERS:
            raise UsageError(say("There is no terminal of that number."))
        return int(number)


class TerminalSocket(TermSocket):
    """The websocket of a terminal, for those who are logged in."""

    @ws_authenticated
    async def get(self, name: str) -> None:
        """Open it."""
        await super().get(name)
