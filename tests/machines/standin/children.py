"""The programs under the stand-in: started with it, stopped with it, and it ends when one ends."""

import ctypes
import os
import signal
import subprocess
import time
from collections.abc import Callable

from paths import LOGS, program, search_path

STOP_SECONDS = 5
WAIT_SECONDS = 180
PR_SET_PDEATHSIG = 1
LIBC = ctypes.CDLL(None)
BEGAN = time.monotonic()


class Ended(Exception):
    """A program has ended that should run."""


def log(*words: object) -> None:
    print(f"[{time.monotonic() - BEGAN:6.2f} s]", *words, flush=True)


def bind_to_parent() -> None:
    """What is part of one process in k3s dies with it here, too."""
    LIBC.prctl(PR_SET_PDEATHSIG, signal.SIGTERM)


class Children:
    """All of them, in the order of their start."""

    def __init__(self) -> None:
        self._running: dict[str, subprocess.Popen[bytes]] = {}

    def start(self, name: str, *args: str) -> None:
        LOGS.mkdir(parents=True, exist_ok=True)
        env = {k: v for k, v in os.environ.items() if k != "NOTIFY_SOCKET"}
        with (LOGS / f"{name}.log").open("ab") as output:
            self._running[name] = subprocess.Popen(
                [program(name), *args],
                env={**env, "PATH": search_path()},
                stdin=subprocess.DEVNULL,
                stdout=output,
                stderr=output,
                start_new_session=True,
                preexec_fn=bind_to_parent,
            )

    def require_all(self) -> None:
        for name, process in self._running.items():
            if process.poll() is not None:
                lines = (LOGS / f"{name}.log").read_text(errors="replace").splitlines()[-8:]
                raise Ended("\n  ".join([f"{name} ended with {process.returncode}", *lines]))

    def wait_for(self, what: str, is_so: Callable[[], bool]) -> None:
        deadline = time.monotonic() + WAIT_SECONDS
        while True:
            self.require_all()
            try:
                if is_so():
                    log(what)
                    return
            except (OSError, subprocess.SubprocessError):
                pass  # not yet
            if time.monotonic() > deadline:
                raise Ended(f"waited {WAIT_SECONDS} s in vain: {what}")
            time.sleep(0.1)

    def stop(self) -> None:
        """In reverse; the API server waits for those who watch, and is not let."""
        for name, process in reversed(self._running.items()):
            process.terminate()
            try:
                process.wait(STOP_SECONDS)
            except subprocess.TimeoutExpired:
                process.kill()
                process.wait(STOP_SECONDS)
            log("stopped", name)
