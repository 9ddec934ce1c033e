"""The hub of `make hub-demo`: two learners on this machine, to look at and to test."""

from __future__ import annotations

import contextlib
import json
import secrets
import socket
import subprocess
import sys
import urllib.request
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Any

from lab.web.surroundings import allowed
from provision.errors import LabError, TimedOut
from provision.files import write_atomically
from provision.message import Message, say
from provision.waiting import wait_until

LEARNERS = ("ann", "ben")
FOLDER = "hub-demo"  # below LAB_HOME
PASSWORD_LENGTH = 9  # bytes
# Two names of this machine: a browser keeps their cookies apart, so that both fit side by side.
HOSTS = ("127.0.0.1", "localhost")
UP_SECONDS, DOWN_SECONDS = 60.0, 90.0
CONFIGURATION = """\
from lab.web.hub.settings import show_the_demo

show_the_demo(get_config(), {folder!r})
"""


@dataclass(frozen=True, slots=True)
class Demo:
    """One demo: where it lies, its three loopback ports, the password of all learners.

    `proxy` is the command of configurable-http-proxy, `environment` what each learner's server
    gets. `demo.json` in `folder` holds all of it, readable by its owner only.
    """

    folder: Path
    port: int
    hub_port: int
    proxy_port: int
    password: str
    proxy: str
    environment: Mapping[str, str]

    @property
    def log(self) -> Path:
        """What hub, proxy and the learners' servers say."""
        return self.folder / "hub.log"

    def links(self) -> Mapping[str, str]:
        """Where each learner logs in."""
        return {
            name: f"http://{host}:{self.port}/hub/login?username={name}"
            for name, host in zip(LEARNERS, HOSTS, strict=True)
        }


def read_demo(folder: Path) -> Demo:
    """The demo that was laid out in a folder; OSError, ValueError or TypeError if there is none."""
    raw: Any = json.loads((folder / "demo.json").read_text("utf-8"))
    return replace(Demo(**raw), folder=folder)


def lay_out(folder: Path, proxy: str, environment: Mapping[str, str]) -> Demo:
    """A demo in `folder`, with a new password; its port is that of the last time when it is free.

    `environment` is what each learner's server gets beside what the hub gives it.
    """
    folder.mkdir(parents=True, exist_ok=True, mode=0o700)
    (folder / "homes").mkdir(exist_ok=True)
    kept = 0
    with contextlib.suppress(OSError, ValueError, TypeError):
        kept = read_demo(folder).port
    port, hub_port, proxy_port = _free_ports(kept)
    password = secrets.token_urlsafe(PASSWORD_LENGTH)
    demo = Demo(folder, port, hub_port, proxy_port, password, proxy, environment)
    data = {**asdict(demo), "folder": str(folder)}
    write_atomically(folder / "demo.json", json.dumps(data, indent=2) + "\n")
    configuration = CONFIGURATION.format(folder=str(folder))
    write_atomically(folder / "jupyterhub_config.py", configuration)
    return demo


@contextmanager
def running(demo: Demo, environment: Mapping[str, str]) -> Iterator[subprocess.Popen[bytes]]:
    """The hub, which answers; at the end it is stopped, and the learners' servers with it."""
    command = [sys.executable, "-m", "jupyterhub", "--config"]
    with demo.log.open("ab") as log:
        start = log.tell()
        process = subprocess.Popen(
            [*command, str(demo.folder / "jupyterhub_config.py")],
            stdin=subprocess.DEVNULL,
            stdout=log,
            stderr=log,
            cwd=demo.folder,
            env=allowed(environment),
            start_new_session=True,  # Ctrl-C is for us, who end it in order
        )
    try:
        _await_hub(demo, process, start)
        yield process
    finally:
        process.terminate()
        try:
            process.wait(DOWN_SECONDS)
        except subprocess.TimeoutExpired:
            process.kill()
            process.wait()


def _await_hub(demo: Demo, process: subprocess.Popen[bytes], start: int) -> None:
    def missing() -> Message | None:
        if process.poll() is not None:
            raise _failed(demo, start)
        try:
            health = f"http://127.0.0.1:{demo.port}/hub/health"
            with urllib.request.urlopen(health, timeout=2):
                return None
        except OSError as error:
            return say("{error}", error=error)

    try:
        wait_until(missing, within=UP_SECONDS, every=0.2)
    except TimedOut:
        raise _failed(demo, start) from None


def _failed(demo: Demo, start: int) -> LabError:
    with demo.log.open("rb") as log:
        log.seek(start)
        lines = log.read().decode(errors="replace").strip().splitlines()[-6:]
    return LabError(
        say("The hub did not start. Its last lines:\n{lines}", lines="\n".join(lines) or "-"),
        next_move=say("Look at {path}.", path=demo.log),
    )


def _free_ports(kept: int) -> tuple[int, int, int]:
    """Three ports nobody listens on, the first of them `kept` if that is one."""
    with contextlib.ExitStack() as stack:
        holders = [stack.enter_context(socket.socket()) for _ in range(3)]
        with contextlib.suppress(OSError):
            holders[0].setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
            holders[0].bind(("127.0.0.1", kept))
        for holder in holders:
            if not holder.getsockname()[1]:
                holder.bind(("127.0.0.1", 0))
        first, second, third = (holder.getsockname()[1] for holder in holders)
    return first, second, third
