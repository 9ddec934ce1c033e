"""JupyterHub with two learners, as `lab hub-demo` shows it, and those who come to it."""

from __future__ import annotations

import importlib.util
import shutil
import signal
import subprocess
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import psutil
import pytest
from playwright.sync_api import Browser

from lab.commands.hubbing import NPM_BIN, PROXY
from lab.web.hub.demo import FOLDER, Demo, read_demo
from provision.message import Message, say
from provision.waiting import wait_until
from tests.integration.cli import LAB, Lab
from tests.integration.web.calls import Answer, Calls, Terminal, Visitor
from tests.integration.web.seat import Seat

UP_SECONDS, DOWN_SECONDS = 90.0, 120.0


@dataclass(frozen=True)
class HubCalls(Calls):
    """Calls through the hub's proxy to the server of one learner; the hub has no token of ours."""

    base: str = ""

    def call(
        self, method: str, path: str, headers: Mapping[str, str] | None = None, body: str = ""
    ) -> Answer:
        return super().call(method, self.base + path, headers, body)

    def connect(self, path: str, **options: Any) -> Terminal | int:
        return super().connect(self.base + path, **options)


@dataclass(frozen=True)
class Hub:
    """A hub that is up."""

    demo: Demo
    variables: Mapping[str, str]

    def home(self, name: str) -> Path:
        """Where a learner's labs live."""
        return self.demo.folder / "homes" / name / "gpu-queue-lab"

    def lab(self, name: str) -> Lab:
        """A learner's lab, asked from outside."""
        return Lab({**self.variables, "LAB_HOME": str(self.home(name))})

    def address(self, name: str, path: str) -> str:
        """An address at the host name where a learner logs in."""
        parts = urlsplit(self.demo.links()[name])
        return f"{parts.scheme}://{parts.netloc}{path}"

    def calls(self, name: str) -> HubCalls:
        return HubCalls(self.demo.port, "", f"/user/{name}")

    def enter(self, browser: Browser, name: str, following: str = "") -> Seat:
        """A browser profile in which a learner has just logged in."""
        link = self.demo.links()[name] + (f"&next={following}" if following else "")
        seat = Seat.open(browser, link, patience=UP_SECONDS * 1000)
        assert seat.page.input_value("#username_input") == name
        seat.page.fill("#password_input", self.demo.password)
        seat.page.click("#login_submit")
        return seat

    def visitor(self, name: str, seat: Seat) -> Visitor:
        """Somebody who sends a learner's cookies by plain requests."""
        cookies = seat.context.cookies(seat.page.url)
        jar = {str(cookie["name"]): str(cookie["value"]) for cookie in reversed(cookies)}
        return Visitor(self.calls(name), jar, str(seat.ask("document.body.dataset.xsrf")))

    def server(self, name: str) -> psutil.Process | None:
        """The process of a learner's server."""
        home = str(self.demo.folder / "homes" / name)
        for process in psutil.process_iter(["cmdline"]):
            is_server = any("lab-singleuser" in word for word in process.info["cmdline"] or ())
            if is_server and process.environ().get("HOME") == home:
                return process
        return None

    def left(self) -> list[str]:
        """Command lines of all that runs of it."""
        lines = [" ".join(p.info["cmdline"] or ()) for p in psutil.process_iter(["cmdline"])]
        return [line for line in lines if str(self.demo.folder) in line]

    def await_down(self, name: str, within: float = 60) -> None:
        """Nothing runs of a learner: no server, no shell, no component of the place."""
        mark = str(self.demo.folder / "homes" / name)

        def missing() -> Message | None:
            running = [line for line in self.left() if mark in line]
            return say("{lines}", lines="\n".join(running)) if running else None

        wait_until(missing, within=within)


@contextmanager
def hub_of(variables: Mapping[str, str]) -> Iterator[Hub]:
    """The demo, from start to end; a skip that says why when it cannot be had."""
    if importlib.util.find_spec("jupyterhub") is None:
        pytest.skip("no jupyterhub: the page was not tried on a hub")
    if shutil.which(PROXY, path=str(NPM_BIN)) is None or shutil.which("node") is None:
        pytest.skip("no configurable-http-proxy: the page was not tried on a hub")
    root = Path(variables["LAB_HOME"])
    with (root / "demo.out").open("wb") as out:
        process = subprocess.Popen(
            [LAB, "hub-demo"],
            env=dict(variables),
            stdin=subprocess.DEVNULL,
            stdout=out,
            stderr=out,
            start_new_session=True,
        )

    def missing() -> Message | None:
        said = (root / "demo.out").read_text()
        assert process.poll() is None, said
        return None if "Ctrl-C" in said else say("{said}", said=said)

    try:
        wait_until(missing, within=UP_SECONDS)
        yield Hub(read_demo(root / FOLDER), variables)
    finally:
        process.send_signal(signal.SIGINT)
        process.wait(DOWN_SECONDS)
