"""Which address is answered by what; all below the server's base address."""

from __future__ import annotations

from typing import Any

from lab.web.handlers.page import ClosedHandler, PageHandler, ReadyHandler
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
        *((address, ClosedHandler) for address in CLOSED),
    ]
