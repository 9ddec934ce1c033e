"""What the data of the page share: the newsroom, steps by number, and errors as answers."""

from __future__ import annotations

import asyncio
import functools
from collections.abc import Awaitable, Callable, Mapping
from typing import TypeVar

from lab.model import Step
from lab.web.handlers.base import LabAPIHandler, LabHandler
from lab.web.hinting import NoHints
from lab.web.live import Newsroom
from provision.errors import LabError, UsageError
from provision.message import say

T = TypeVar("T")
H = TypeVar("H", bound="DataHandler")
NEWSROOM = "lab_newsroom"  # where it stands among the server's settings


def newsroom_of(handler: LabHandler) -> Newsroom:
    """The one newsroom of the server, made when it is first asked for."""
    if NEWSROOM not in handler.settings:
        handler.settings[NEWSROOM] = Newsroom(handler.page)
    newsroom: Newsroom = handler.settings[NEWSROOM]
    return newsroom


class DataHandler(LabAPIHandler):
    """A call of the page's scripts that is answered with data."""

    def step_of(self, number: object) -> Step:
        """The step of a number as a call has it; UsageError when there is none."""
        text = str(number)
        try:
            if isinstance(number, bool) or not (text.isascii() and text.isdigit()):
                raise IndexError(text)
            return self.page.place.lab.step(int(text[:9]))
        except IndexError:
            raise UsageError(say("There is no step {text}.", text=text[:40])) from None

    async def work(self, ask: Callable[[], T]) -> T:
        """Do something that reads files, beside the event loop."""
        return await asyncio.get_running_loop().run_in_executor(None, ask)

    def answer(self, data: Mapping[str, object]) -> None:
        """Data as JSON."""
        self.finish(dict(data))


def telling_errors(handle: Callable[[H], Awaitable[None]]) -> Callable[[H], Awaitable[None]]:
    """Answer with the sentence of a LabError instead of a page about a fault of the server."""

    @functools.wraps(handle)
    async def wrapped(self: H) -> None:
        try:
            await handle(self)
        except NoHints as error:
            self.refuse(404, error)
        except UsageError as error:
            self.refuse(400, error)
        except LabError as error:
            self.refuse(503, error)

    return wrapped
