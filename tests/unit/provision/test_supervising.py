"""The real supervisor with fake components: slow, exiting, hanging, stubborn, forking."""

from __future__ import annotations

import os
import signal
import sys
import time
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import dataclass, replace
from pathlib import Path

import psutil
import pytest

from provision.errors import TargetError
from provision.local.launching import Launch
from provision.local.looking import look, probe_once
from provision.local.plan import Component, Probe
from provision.local.ports import PortHolder
from provision.local.processes import is_alive, place_processes
from provision.local.running import Running
from provision.local.supervising import Supervisor, socket_path, supervisor_config
from provision.message import Message, say
from provision.target import TargetStatus
from provision.waiting import wait_until

SERVER = Path(__file__).parents[2] / "fakes" / "server.py"


@dataclass
class Rig:
    """A home with a supervisor that has not been started."""

    home: Path
    port: int

    def __post_init__(self) -> None:
        self.supervisor = Supervisor(self.home, socket_path(self.home, Path("/tmp")))
        self.running = Running(self.home, "test-id", self.supervisor)

    def component(
        self,
        name: str,
        *flags: str,
        after: tuple[str, ...] = (),
        port: int = 0,
        is_needed: bool = True,
        is_on_demand: bool = False,
    ):
        port = port or self.port
        self.port += 1
        argv = (sys.executable, "-I", str(SERVER), str(port), *flags, f"--home={self.home}")
        return Component(
            name=name,
            argv=argv,
            env=(),
            probe=Probe(f"http://127.0.0.1:{port}/ready"),
            after=after,
            log=self.home / "logs" / f"{name}.log",
            version="v1",
            is_needed=is_needed,
            is_on_demand=is_on_demand,
        )

    def boot(self, *components: Component) -> None:
        config = supervisor_config(components, self.home, self.supervisor.socket, "test-id")
        self.supervisor.launch(config, os.defpath)

    def launch(
        self, *components: Component, within: float = 10, is_first: bool = True
    ) -> list[str]:
        ready: list[str] = []
        Launch(
            self.supervisor,
            lambda component, probe: probe_once(component),
            milestones={},
            within=within,
            on_ready=lambda component: ready.append(component.name),
            is_first=is_first,
        ).run(components)
        return ready


@pytest.fixture
def rig(tmp_path: Path) -> Iterator[Rig]:
    with PortHolder(29600, 29899) as holder:
        ports = holder.choose(tuple("abcdef"), {}, seed=str(tmp_path))
    rig = Rig(tmp_path, min(ports.values()))
    yield rig
    rig.running.kill()


def test_each_starts_when_what_it_needs_is_ready(rig: Rig):
    first = rig.component("first", "--slow=0.6")
    second = rig.component("second", after=("first",))
    rig.boot(first, second)
    assert rig.launch(second, first) == ["first", "second"]
    started = {n: psutil.Process(p).create_time() for n, p in rig.running.pids().items()}
    assert started["second"] - started["first"] > 0.4


def test_milestone_comes_between(rig: Rig):
    first = rig.component("first")
    second = rig.component("second", after=("@done",))
    rig.boot(first, second)
    seen: list[set[str]] = []
    Launch(
        rig.supervisor,
        lambda component, probe: probe_once(component),
        milestones={"@done": (("first",), lambda: seen.append(set(rig.running.pids())))},
        within=10,
        on_ready=lambda component: None,
    ).run((first, second))
    assert seen == [{"first"}]


@pytest.mark.parametrize("delay", ["0", "1.3"])
def test_exit_at_start_tells_code_and_last_lines(rig: Rig, delay: str):
    good = rig.component("good")
    bad = rig.component("bad", "--exit=3", f"--slow={delay}", after=("good",))
    rig.boot(good, bad)
    began = time.monotonic()
    with pytest.raises(TargetError) as caught:
        rig.launch(good, bad)
    assert time.monotonic() - began < 4
    text = str(caught.value.what)
    assert "bad ended while it was starting: exit status 3." in text
    assert "  cannot open the door: it is locked" in text
    assert str(bad.log) in str(caught.value.next_move)
    assert rig.running.stop((good, bad))
    assert not place_processes(rig.home, "test-id")


def test_program_that_is_not_there(rig: Rig):
    component = rig.component("gone")
    gone = Component(
        "gone", ("/no/such", *component.argv[1:]), (), component.probe, (), component.log, ""
    )
    rig.boot(gone)
    with pytest.raises(TargetError, match="refused startProcess"):
        rig.launch(gone)


def test_deaf_component_is_told_from_a_dead_one(rig: Rig):
    deaf = rig.component("deaf", "--deaf")
    rig.boot(deaf)
    with pytest.raises(TargetError) as caught:
        rig.launch(deaf, within=0.8)
    text = str(caught.value.what)
    assert "deaf runs, but is not ready after 0.8 s" in text
    assert "fake server begins" in text
    (status,) = look((deaf,), rig.running)
    assert (status.is_running, status.is_ready) == (True, False)


def test_stubborn_and_forking_ones_end_too(rig: Rig, monkeypatch: pytest.MonkeyPatch):
    stubborn = rig.component("stubborn", "--stubborn", "--fork")
    config = supervisor_config((stubborn,), rig.home, rig.supervisor.socket, "test-id")
    rig.supervisor.launch(config.replace("stopwaitsecs=15", "stopwaitsecs=1"), os.defpath)
    rig.launch(stubborn)
    found = place_processes(rig.home, "test-id")
    assert len(found) == 3
    assert rig.running.stop((stubborn,))
    assert not [p for p in found if is_alive(p.process)]


def test_killed_one_is_started_again(rig: Rig):
    server = rig.component("server")
    rig.boot(server)
    rig.launch(server)
    pid = rig.running.pids()["server"]
    os.kill(pid, signal.SIGKILL)

    def missing() -> Message | None:
        now = rig.running.pids().get("server", pid)
        return say("the old one") if now == pid else probe_once(server)

    wait_until(missing, within=10)


def test_one_that_crashes_for_long_is_not_given_up(rig: Rig):
    bad = rig.component("bad", "--exit=1")
    rig.boot(bad)
    rig.supervisor.start("bad")
    states: set[str] = set()

    def missing() -> Message | None:
        states.add(rig.supervisor.processes()["bad"].state)
        tries = bad.log.read_text().count("begins") if bad.log.exists() else 0
        return None if tries >= 3 else say("few tries")

    wait_until(missing, within=15)
    assert "FATAL" not in states


def test_without_its_supervisor_everything_is_still_found_and_ended(rig: Rig):
    server = rig.component("server")
    rig.boot(server)
    rig.launch(server)
    os.kill(rig.supervisor.pid(), signal.SIGKILL)
    wait_until(lambda: say("alive") if rig.supervisor.is_alive() else None, within=5)
    (status,) = look((server,), rig.running)
    assert status.is_running
    assert rig.running.stop((server,))
    (status,) = look((server,), rig.running)
    assert not status.is_running
    assert str(status.detail) == "it does not run"


def test_processes_of_others_are_not_touched(rig: Rig, tmp_path: Path):
    server = rig.component("server")
    rig.boot(server)
    rig.launch(server)
    assert not place_processes(rig.home / "elsewhere", "test-id")
    assert len(place_processes(rig.home, "other-id")) == 1  # the supervisor, by its configuration
    assert os.getpid() not in {p.pid for p in place_processes(rig.home, "test-id")}


def test_nothing_of_the_person_leaks_into_components(rig: Rig, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setenv("SECRET_TOKEN", "x")
    server = rig.component("server")
    rig.boot(server)
    rig.launch(server)
    environ = psutil.Process(rig.running.pids()["server"]).environ()
    assert "SECRET_TOKEN" not in environ
    assert environ["HOME"] == str(rig.home)


def test_deep_place_gets_a_socket_elsewhere(tmp_path: Path):
    deep = tmp_path / ("d" * 60) / ("e" * 60)
    path = socket_path(deep, Path("/tmp"))
    assert len(os.fsencode(path)) < 108 - len(".1234567")
    assert path.parent.stat().st_mode & 0o777 == 0o700
    with suppress(OSError):
        path.parent.rmdir()


def test_folder_for_sockets_that_others_may_enter_is_refused(tmp_path: Path, monkeypatch):
    runtime = Path("/tmp") / f"gql-{os.getpid()}"
    folder = runtime / f"gpu-queue-lab-{os.getuid()}"
    folder.mkdir(parents=True)
    folder.chmod(0o755)
    try:
        with pytest.raises(TargetError, match="only you may enter"):
            socket_path(tmp_path / ("d" * 90), runtime)
    finally:
        folder.rmdir()
        runtime.rmdir()


@pytest.mark.parametrize("flags", [("--deaf",), ("--exit", "3")])
def test_a_companion_that_does_not_come_stops_nobody(rig: Rig, flags: tuple[str, ...]):
    needed = rig.component("needed", "--slow", "0.5")
    companion = rig.component("companion", *flags, is_needed=False)
    rig.boot(companion, needed)
    assert rig.launch(companion, needed, within=2) == ["needed"]
    seen = {status.name: status for status in look((companion, needed), rig.running)}
    assert seen["needed"].is_ready
    assert not seen["companion"].is_ready
    assert TargetStatus(True, tuple(seen.values()), None).is_ready


def test_what_is_on_demand_and_off_is_nothing_wrong(rig: Rig):
    needed = rig.component("needed")
    page = rig.component("page", is_needed=False, is_on_demand=True)
    rig.boot(needed, page)
    assert rig.launch(needed) == ["needed"]
    seen = {status.name: status for status in look((needed, page), rig.running)}
    assert (seen["page"].is_off, seen["page"].is_ready, seen["page"].detail) == (True, False, None)
    assert TargetStatus(True, tuple(seen.values()), None).is_ready
    assert rig.launch(page) == ["page"]
    [status] = look((page,), rig.running)
    assert (status.is_off, status.is_ready) == (False, True)


def test_one_program_is_exchanged_while_the_others_run(rig: Rig):
    needed = rig.component("needed")
    page = rig.component("page", is_needed=False, is_on_demand=True)
    rig.boot(needed, page)
    rig.launch(needed, page)
    pids = rig.running.pids()
    rig.running.stop_some(("page",))
    moved = rig.component("page", is_needed=False, is_on_demand=True)
    assert moved.probe.url != page.probe.url
    config = supervisor_config((needed, moved), rig.home, rig.supervisor.socket, "test-id")
    rig.supervisor.exchange("page", config)
    assert rig.launch(moved) == ["page"]
    assert rig.running.pids()["needed"] == pids["needed"]
    assert rig.running.pids()["page"] != pids["page"]


def test_one_that_is_between_two_starts_can_be_exchanged(rig: Rig):
    page = rig.component("page", "--exit", "3", is_needed=False, is_on_demand=True)
    rig.boot(page)
    with pytest.raises(TargetError, match="exit status 3"):
        rig.launch(replace(page, is_needed=True))
    wait_until(
        lambda: None if rig.supervisor.processes()["page"].state == "BACKOFF" else say("not yet"),
        within=10,
        every=0.02,
    )
    rig.running.stop_some(("page",))
    good = rig.component("page", is_needed=False, is_on_demand=True)
    rig.supervisor.exchange(
        "page", supervisor_config((good,), rig.home, rig.supervisor.socket, "test-id")
    )
    assert rig.launch(good) == ["page"]
