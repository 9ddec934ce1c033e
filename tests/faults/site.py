"""A provisioned place whose parts can be broken from outside, and brought back."""

from __future__ import annotations

import contextlib
import os
import subprocess
import sys
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from provision.local.processes import place_processes
from provision.local.supervising import Supervisor, socket_path
from provision.message import Message, say
from provision.settings import Settings
from provision.state import load_state
from provision.waiting import wait_until
from tests.integration.cli import LAB, Lab

READY_WITHIN = 60.0
ROOT = Path(__file__).parents[2]


@dataclass(frozen=True, slots=True)
class Way:
    """How `lab check` is called while a fault lasts: the program, and variables on top."""

    program: tuple[str, ...] = (str(LAB),)
    variables: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Site:
    """A place, and the handles by which it is broken."""

    lab: Lab
    home: Path

    @classmethod
    def of(cls, lab: Lab) -> Site:
        """The place of a lab that is provisioned."""
        return cls(lab, Path(lab.status()["home"]))

    @property
    def pki(self) -> Path:
        """Its certificates and keys."""
        return self.home / "pki"

    @property
    def kubeconfig(self) -> Path:
        """The learner's."""
        return self.home / "kubeconfig"

    @property
    def grader_kubeconfig(self) -> Path:
        """That of the checks."""
        return self.home / "grader.kubeconfig"

    @property
    def state(self) -> Any:
        """What the place knows of itself."""
        state = load_state(self.home)
        assert state is not None, f"{self.home} holds no place"
        return state

    @property
    def supervisor(self) -> Supervisor:
        """The program that keeps its components up."""
        runtime = Settings.from_environment(self.lab.variables).runtime
        return Supervisor(self.home, socket_path(self.home, runtime))

    def pid(self, name: str) -> int:
        """The process of a component; an empty name means the supervisor."""
        found = [p.pid for p in place_processes(self.home, self.state.id) if p.component == name]
        assert found, f"{name or 'the supervisor'} does not run"
        return found[0]

    def signal(self, name: str, number: int) -> None:
        """Send a signal to a component of this place, by its process id."""
        os.kill(self.pid(name), number)

    def await_ready(self, within: float = READY_WITHIN) -> None:
        """Wait until all components run and answer, companions too, but for what is off."""

        def missing() -> Message | None:
            wanted = [
                one
                for one in self.lab.status()["components"]
                if one["running"] or not one["on_demand"]
            ]
            late = [one["name"] for one in wanted if not one["ready"]]
            return say("not ready: {names}", names=", ".join(late)) if late else None

        wait_until(missing, within=within)

    @contextlib.contextmanager
    def replaced(self, file: Path, content: bytes | None) -> Iterator[None]:
        """A file with other content, or (None) without it, and as it was afterwards."""
        before, mode = file.read_bytes(), file.stat().st_mode
        if content is None:
            file.unlink()
        else:
            file.write_bytes(content)
        try:
            yield
        finally:
            file.write_bytes(before)
            file.chmod(mode)

    @contextlib.contextmanager
    def asking_port(self, port: int) -> Iterator[None]:
        """Both kubeconfigs naming another port of loopback."""

        def moved(file: Path) -> bytes:
            old = f"127.0.0.1:{self.state.ports['apiserver']}"
            return file.read_bytes().replace(old.encode(), f"127.0.0.1:{port}".encode())

        with (
            self.replaced(self.kubeconfig, moved(self.kubeconfig)),
            self.replaced(self.grader_kubeconfig, moved(self.grader_kubeconfig)),
        ):
            yield

    @contextlib.contextmanager
    def behind_proxy(self, mode: str) -> Iterator[None]:
        """Both kubeconfigs naming a proxy that spoils the API server's answers."""
        port = str(self.state.ports["apiserver"])
        with subprocess.Popen(
            [sys.executable, "-m", "tests.faults.proxy", str(self.pki), port, mode],
            cwd=ROOT,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            text=True,
        ) as proxy:
            try:
                assert proxy.stdout is not None
                with self.asking_port(int(proxy.stdout.readline())):
                    yield
            finally:
                proxy.kill()


Injection = Callable[[Site], contextlib.AbstractContextManager[Way]]
