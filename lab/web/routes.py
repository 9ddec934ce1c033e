"""Which address is answered by what; all below the server's base address."""

from __future__ import annotations

from typing import Any

from lab.web.handlers.files import FileHandler, FilesHandler
from lab.web.handlers.learning import CheckHandler, HintHandler, LabDataHandler, StateHandler
from lab.web.handlers.page import ClosedHandler, PageHandler, ReadyHandler
from lab.web.handlers.starting import LabsHandler, OtherLabHandler, StartHandler
from lab.web.handlers.stream import StreamHandler
from lab.web.handlers.terminal import TerminalHandler

Route = tuple[str, type[Any]]
# What Jupyter Server itself answers and nobody needs here; ours come first.
CLOSED = (r"/metrics", r"/api/spec\.yaml")


def routes() -> list[Route]:
    """Every route of ours."""
    return [
        (r"/learn/?", PageHandler),
        (r"/learn/ready", ReadyHandler),
        (r"/learn/api/terminal", TerminalHandler),
        (r"/learn/api/lab", LabDataHandler),
        (r"/learn/api/state", StateHandler),
        (r"/learn/api/check", CheckHandler),
        (r"/learn/api/hint", HintHandler),
        (r"/learn/api/start", StartHandler),
        (r"/learn/api/labs", LabsHandler),
        (r"/learn/labs/([a-z0-9_]+)", OtherLabHandler),
        (r"/learn/api/files", FilesHandler),
        (r"/learn/api/file", FileHandler),
        (r"/learn/api/stream", StreamHandler),
        *((address, ClosedHandler) for address in CLOSED),
    ]
