"""Which address is answered by what; all below the server's base address."""

from __future__ import annotations

from typing import Any

from lab.web.handlers.page import PageHandler, ReadyHandler

Route = tuple[str, type[Any]]


def routes() -> list[Route]:
    """Every route of ours."""
    return [
        (r"/learn/?", PageHandler),
        (r"/learn/ready", ReadyHandler),
    ]
