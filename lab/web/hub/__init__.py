"""The page behind JupyterHub: one server and one place for each learner."""

from __future__ import annotations


def _jupyter_server_extension_points() -> list[dict[str, object]]:
    """Where Jupyter Server finds the extension; imported only when a server asks."""
    from lab.web.hub.app import HubPageApp

    return [{"module": "lab.web.hub.app", "app": HubPageApp}]
