"""What is left behind by a learner's server: nothing, however it ends."""

from __future__ import annotations

import contextlib
import signal
import subprocess
import sys
from collections.abc import Mapping
from pathlib import Path

from lab.places import Place

END_SECONDS = 20.0  # a hub is told to wait longer than this, see settings.py and docs/hub.md
# It waits for the end of its input, which comes with the end of the server, be it by SIGKILL. What
# a whole group is told to do (systemd, a terminal that closes) does not reach it.
# It says when that is so: what comes before would end it.
SCRIPT = 'trap "" HUP INT TERM; echo kept; read -r _; exec "$@" >&2'


class Keeper:
    """A shell that sleeps as long as this process lives, and then takes the place down.

    `lab down` also ends the shells of the page. It waits for a `lab provision` that still runs.
    """

    def __init__(self, place: Place, folder: Path, environment: Mapping[str, str]) -> None:
        """Starts it; OSError when the system refuses."""
        folder.mkdir(parents=True, exist_ok=True, mode=0o700)
        command = [sys.executable, "-m", "lab", "down", "--lab", place.lab.slug]
        with (folder / "down.log").open("wb") as log:
            self._shell = subprocess.Popen(
                ["/bin/sh", "-c", SCRIPT, "keeper", *command],
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=log,
                cwd=folder,
                env=dict(environment),
                start_new_session=True,
            )
        if self._shell.stdout is not None:
            with self._shell.stdout as words:
                words.readline()

    def end(self) -> None:
        """Take the place down now; what takes longer than END_SECONDS goes on by itself.

        For the end of the process, in its main thread: signals to end are no longer heard.
        """
        for name in (signal.SIGINT, signal.SIGTERM):
            signal.signal(name, signal.SIG_IGN)  # a hub that asks again must not cut this short
        if self._shell.stdin is not None:
            self._shell.stdin.close()
        with contextlib.suppress(subprocess.TimeoutExpired):
            self._shell.wait(END_SECONDS)
