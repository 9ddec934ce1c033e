"""The learner's files, to look at."""

from __future__ import annotations

from collections.abc import Mapping

from jupyter_server.auth.decorator import authorized
from tornado import web

from lab.places import Place
from lab.text import Speech
from lab.web.files import list_files, marks_of, show_file
from lab.web.handlers.data import DataHandler, telling_errors
from lab.web.state import read_known


class FilesHandler(DataHandler):
    """GET `/learn/api/files`: the plain files of the workspace."""

    @web.authenticated
    @authorized
    @telling_errors
    async def get(self) -> None:
        """Names, sizes and times."""
        workspace = self.page.place.workspace
        found = await self.work(lambda: list_files(workspace))
        self.answer({"workspace": str(workspace), "files": found})


class FileHandler(DataHandler):
    """GET `/learn/api/file?name=`: one of them as lines of HTML."""

    @web.authenticated
    @authorized
    @telling_errors
    async def get(self) -> None:
        """Its lines, and what the newest verdicts say of them."""
        name = self.get_query_argument("name", "", strip=False)
        self.answer(await self.work(lambda: _show(self.page.place, name, self.speech)))


def _show(place: Place, name: str, speech: Speech) -> Mapping[str, object]:
    marks = marks_of(read_known(place), place.workspace / name)
    return show_file(place.workspace, name, marks, speech)
