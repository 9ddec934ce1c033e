"""`python -m lab.web --home=FOLDER --port=PORT`: the server of one place's page."""

from __future__ import annotations

import argparse
import ctypes
import os
import signal
import sys
from pathlib import Path

from lab.web.launch import read_launch
from provision.errors import LabError
from provision.message import say

SUPERVISED = "SUPERVISOR_ENABLED"  # set by supervisor for each of its children
PR_SET_PDEATHSIG, PR_SET_DUMPABLE = 1, 4  # linux/prctl.h


def keep_to_ourselves() -> None:
    """What this process knows is hidden from others of the same user; it ends with its supervisor.

    The shells of the page have our uid: without this they read the memory and the environment of
    the server below /proc (root still does). What is hidden cannot be found by its environment
    either, so that the supervisor's end must be enough to end it.
    """
    libc = ctypes.CDLL(None, use_errno=True)
    libc.prctl(PR_SET_DUMPABLE, 0, 0, 0, 0)
    if SUPERVISED in os.environ:
        libc.prctl(PR_SET_PDEATHSIG, signal.SIGKILL, 0, 0, 0)


def main() -> None:
    """Serve until it is told to stop."""
    parser = argparse.ArgumentParser(prog="lab.web")
    parser.add_argument("--home", type=Path, required=True)
    parser.add_argument("--port", type=int, required=True)
    chosen = parser.parse_args()
    try:
        launch = read_launch(chosen.home)
        if launch is None:
            raise LabError(
                say("The page was never opened."), next_move=say("Open it with make open.")
            )
    except LabError as error:
        sys.stderr.write(f"{error.what} {error.next_move or ''}\n")
        sys.exit(error.exit_code)
    keep_to_ourselves()
    os.environ.clear()
    os.environ.update(launch.environment)
    from lab.web.serving import serve

    serve(launch, home=chosen.home, port=chosen.port)


if __name__ == "__main__":
    main()
