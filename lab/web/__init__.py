"""The learner's page: a Jupyter Server extension with a real terminal, checks and the picture."""

from __future__ import annotations


def _jupyter_server_extension_points() -> list[dict[str, object]]:
    """Where Jupyter Server finds the extension; imported only when a server asks."""
    from lab.web.app import PageApp

    return [{"module": "lab.web.app", "app": PageApp}]
