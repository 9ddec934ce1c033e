"""`lab-singleuser`: the server that a hub starts for one learner.

What it knows comes from the hub by environment variables (jupyterhub: singleuser/extension.py).
"""

from __future__ import annotations

import importlib.util
import os
import sys
from collections.abc import Mapping, MutableMapping
from pathlib import Path

from lab.text import Speech, choose_language
from lab.web.hiding import keep_to_ourselves
from lab.web.serving import keep_jupyter_apart, make_quick
from provision.errors import LabError
from provision.message import say

FOLDER = "gpu-queue-lab"  # below the learner's home
PAGE = "/learn"
FROM_HUB = "JUPYTERHUB_SERVICE_URL"


def settle(environment: MutableMapping[str, str]) -> Path:
    """Put in what a hub leaves open, and shut what it must not open; where the labs are.

    LabError when this was not started by a hub.
    """
    if FROM_HUB not in environment:
        raise LabError(
            say("lab-singleuser is started by JupyterHub, not by hand."),
            next_move=say("See docs/hub.md, or make open for a page without a hub."),
        )
    environment.setdefault(
        "LAB_HOME", str(Path(environment.get("HOME") or "~").expanduser() / FOLDER)
    )
    environment.setdefault("JUPYTERHUB_DEFAULT_URL", PAGE)
    environment["JUPYTERHUB_ALLOW_TOKEN_IN_URL"] = "0"
    return Path(environment["LAB_HOME"]).absolute()


def main() -> None:
    """Serve until the hub says that it is enough."""
    environment: Mapping[str, str] = dict(os.environ)
    try:
        root = settle(os.environ)
        if importlib.util.find_spec("jupyterhub") is None:
            raise LabError(
                say("JupyterHub's package is not installed here."),
                next_move=say("Install gpu-queue-lab[hub]."),
            )
    except LabError as error:
        speech = Speech(choose_language(environment))
        following = speech.of(error.next_move) if error.next_move else ""
        sys.stderr.write(f"{speech.of(error.what)} {following}\n")
        sys.exit(error.exit_code)
    keep_to_ourselves()
    keep_jupyter_apart(root / "hub" / "jupyter")
    make_quick()
    from lab.web.hub.app import SingleUser

    SingleUser.launch_instance()


if __name__ == "__main__":
    main()
