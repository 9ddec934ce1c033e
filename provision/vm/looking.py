"""How a place fares, seen from the controller; the lab inside is asked for its own parts."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from urllib.parse import quote

from provision.errors import LabError
from provision.local.looking import look as look_here
from provision.local.running import Running
from provision.message import Message, say
from provision.state import PlaceState
from provision.target import ComponentStatus, TargetInfo
from provision.versions import kueue_written_for
from provision.vm.contacting import why_shut
from provision.vm.machine import Machine, MachineMaker, run
from provision.vm.place import VmPlace

STATUS_SECONDS = 40.0
JOURNAL_SECONDS = 40.0
JOURNAL_LINES = 400
MACHINE = "machine"
# Of the lab inside: what the cluster needs, what it may need by the lab's parts, and what is beside
# it under a name that is ours, too.
INSIDE_NEEDED = ("k3s", "node", "kueue")
INSIDE_PARTS = ("jobset", "trainer", "platform")
INSIDE_BESIDE = {"recorder": "recorder-inside", "page": "page-inside"}
TEST_PROVIDER = "device-plugin"


def inside_needed(parts: Sequence[str]) -> tuple[str, ...]:
    """The components in the machine that the cluster of a lab with these parts needs."""
    return (*INSIDE_NEEDED, *(name for name in INSIDE_PARTS if name in parts))


@dataclass(frozen=True, slots=True)
class Watch:
    """One look at a place."""

    place: VmPlace
    running: Running
    maker: MachineMaker
    state: PlaceState
    language: str

    def components(self) -> tuple[ComponentStatus, ...]:
        """The machine, what runs here, and what runs in the machine."""
        machine = self.maker.find()
        with ThreadPoolExecutor(2) as pool:
            here = pool.submit(self._here)
            there = pool.submit(self._there, machine)
            return (*there.result()[:1], *here.result(), *there.result()[1:])

    def _here(self) -> tuple[ComponentStatus, ...]:
        return look_here(self.place.plan_of(self.state.ports, self.state.versions), self.running)

    def _there(self, machine: Machine | None) -> tuple[ComponentStatus, ...]:
        """The machine first; the others only as far as it tells of them."""
        answer, why = self._ask(machine)
        is_on = why is None or self.maker.is_on()
        first = self._status(MACHINE, is_on, why, True)
        if why is not None:
            missing = say("the machine cannot be asked")
            return (first, *(self._status(n, False, missing, True) for n in self._needed()))
        if answer is None:
            unknown = say("the lab inside does not answer: make provision puts it there")
            return (first, *(self._status(n, False, unknown, True) for n in self._needed()))
        return (first, *self._inside(answer))

    def _ask(self, machine: Machine | None) -> tuple[Mapping[str, Any] | None, Message | None]:
        """What `lab status` says inside, None when it says nothing; and why nobody is reached."""
        if machine is None:
            return None, say("there is none yet")
        command = machine.as_root("env", f"LAB_LANG={self.language}", "lab", "status", "--json")
        try:
            done = run(machine, command, input=None, within=STATUS_SECONDS)
        except LabError as error:
            return None, error.what
        if not done.is_reached:
            silent = say("it does not answer: {reason}", reason=done.last_line)
            return None, why_shut(done, machine) or silent
        try:
            answer = json.loads(done.stdout)
        except ValueError:
            return None, None
        return (answer, None) if isinstance(answer, dict) else (None, None)

    def _inside(self, answer: Mapping[str, Any]) -> Iterable[ComponentStatus]:
        rows = {str(row.get("name")): row for row in answer.get("components") or ()}
        for name in self._needed():
            yield self._row(name, rows.get(name, {}), is_needed=True)
        for name, ours in INSIDE_BESIDE.items():
            if name in rows:
                yield self._row(ours, rows[name], is_needed=False)

    def _needed(self) -> tuple[str, ...]:
        return inside_needed(self.place.spec.parts)

    def _row(self, name: str, row: Mapping[str, Any], *, is_needed: bool) -> ComponentStatus:
        detail, version = row.get("detail"), str(row.get("version") or "")
        is_ready = row.get("ready") is True
        reason = say("{reason}", reason=detail) if detail else None
        if not is_ready and reason is None:
            reason = say("nothing is known of it")
        return self._status(name, row.get("running") is True, reason, is_needed, version=version)

    def _status(
        self,
        name: str,
        is_running: bool,
        detail: Message | None,
        is_needed: bool,
        *,
        version: str = "",
    ) -> ComponentStatus:
        return ComponentStatus(
            name=name,
            is_running=is_running,
            is_ready=is_running and detail is None,
            detail=detail,
            pid=None,
            version=version,
            log=self.place.log(name),
            is_needed=is_needed,
        )


def fetch_journal(machine: Machine, name: str, file: Path) -> None:
    """Write the end of a log of the machine into a file here; nothing when it does not answer."""
    inside = next((n for n, ours in INSIDE_BESIDE.items() if ours == name), name)
    command = machine.as_root("lab", "logs", f"--lines={JOURNAL_LINES}", "--", inside)
    try:
        done = run(machine, command, input=None, within=JOURNAL_SECONDS)
    except LabError:
        return
    if done.returncode == 0:
        file.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
        file.write_bytes(done.stdout)


def host_spec(machine: Machine) -> str:
    """The machine for testinfra: its ssh_config says all; one that hangs is noticed by it, too."""
    sudo = "" if machine.is_root else "&sudo=true"
    config = quote(str(machine.ssh_config), safe="/")
    return f"ssh://{MACHINE}?ssh_config={config}&controlpersist=0&timeout=10{sudo}"


def describe(place: VmPlace, machine: Machine, state: PlaceState) -> TargetInfo:
    """The target as checks and people know it."""
    return TargetInfo(
        name="vm",
        lab=place.spec.lab,
        kubeconfig=place.kubeconfig,
        grader_kubeconfig=place.grader_kubeconfig,
        workspace=place.spec.workspace,
        host=host_spec(machine),
        versions=dict(state.versions),
        note=note_on(state.versions),
    )


def note_on(versions: Mapping[str, str]) -> Message | None:
    """In what the cluster differs from the one that the labs are written for."""
    kueue, written_for = versions.get("kueue", ""), kueue_written_for()
    if versions.get("gpus", "").startswith(TEST_PROVIDER):
        return say(
            "The GPUs come from a device plugin made for tests, and Kueue is {version}; the labs "
            "are written for fake-gpu-operator and Kueue {written_for}.",
            version=kueue,
            written_for=written_for,
        )
    if kueue and kueue != written_for:
        return say(
            "Kueue {version} runs here; the labs are written for Kueue {written_for}.",
            version=kueue,
            written_for=written_for,
        )
    return None
