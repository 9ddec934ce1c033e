"""What a step finds is laid out on request, and the ways to the pages of other labs."""

from __future__ import annotations

from jupyter_server.auth.decorator import authorized
from tornado import web

from lab.players import PlayerHere
from lab.web.handlers.base import LabHandler
from lab.web.handlers.data import DataHandler, telling_errors
from lab.web.offering import labs_as_json, page_of
from provision.errors import LabError


class StartHandler(DataHandler):
    """POST `/learn/api/start`: lay out what a step finds; again changes nothing."""

    @web.authenticated
    @authorized
    @telling_errors
    async def post(self) -> None:
        """What became of each object."""
        step = self.step_of(self.asked().get("step"))
        self.page.require_place()
        laid = await self.work(lambda: PlayerHere(self.page.place).lay(step))
        self.answer({"step": step.number, "laid": [self.speech.of(one.told) for one in laid]})


class LabsHandler(DataHandler):
    """GET `/learn/api/labs`: the labs there are."""

    @web.authenticated
    @authorized
    @telling_errors
    async def get(self) -> None:
        """Read afresh: another lab may have been opened meanwhile."""
        page, speech = self.page, self.speech
        found = await self.work(lambda: labs_as_json(page.places, page.place, speech))
        self.answer({"labs": found})


class OtherLabHandler(LabHandler):
    """GET `/learn/labs/<slug>`: lead on to the page of another lab, logged in."""

    @web.authenticated
    @authorized
    def get(self, slug: str) -> None:
        """Its token goes to whoever has ours: both are files of the same person."""
        self.set_header("Cache-Control", "no-store")
        self.set_header("Referrer-Policy", "no-referrer")
        try:
            self.redirect(page_of(self.page.places, slug).link)
        except LabError as error:
            self.set_status(404)
            self.set_header("Content-Type", "text/plain; charset=utf-8")
            words = [error.what, *([error.next_move] if error.next_move else [])]
            self.finish("\n".join(self.speech.of(word) for word in words))
