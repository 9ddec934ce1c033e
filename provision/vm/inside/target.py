"""The target `inside`: the machine of the vm target as it sees itself.

k3s, the recorder and the page are services of systemd here. What is on the machine was put there
from outside, by the roles; from inside it is looked at, started again and cleared, nothing more.
"""

from __future__ import annotations

import time
from dataclasses import replace
from pathlib import Path
from string import Template

from provision.errors import TargetError, TimedOut, UsageError
from provision.files import plain_file_errors
from provision.health import Diagnosis
from provision.message import say
from provision.settings import Settings
from provision.state import (
    LOCK_FILE,
    PlaceState,
    claim_home,
    ensure_life,
    load_state,
    locked,
    new_state,
    save_state,
)
from provision.target import (
    Companion,
    PlaceSpec,
    Progress,
    Provisioned,
    TargetInfo,
    TargetStatus,
    Tell,
    silent,
)
from provision.vm.inside.clearing import ENDED_FIRST, Clearing
from provision.vm.inside.facts import (
    FACTS,
    PORTS,
    RECORDER,
    UNITS,
    kueue_note,
    read_facts,
    units_of,
)
from provision.vm.inside.furnishing import furnish
from provision.vm.inside.logs import copy_log
from provision.vm.inside.looking import Look, answers, examine, not_ready
from provision.vm.inside.refusing import from_outside, nothing_yet
from provision.vm.inside.units import Systemd
from provision.vm.kubectl import Kubectl
from provision.waiting import wait_until

KIND = "inside"
READY_SECONDS, COMPANION_SECONDS = 180.0, 60.0


class InsideTarget:
    """Implements `provision.target.Target` for the machine that this program is installed on."""

    def __init__(
        self,
        spec: PlaceSpec,
        settings: Settings,
        *,
        facts: Path = FACTS,
        systemd: Systemd | None = None,
    ) -> None:
        """`facts` and `systemd` are those of the machine; others are for tests."""
        self._spec = spec
        self._facts_file = facts
        self._lock = spec.home / LOCK_FILE
        self._systemd = systemd or Systemd()

    @property
    def is_here(self) -> bool:
        """Inside, everything is here."""
        return True

    def machine(self) -> None:
        """There is no other machine."""

    def settle(self) -> bool:
        """Lay out what the place remembers, so that commands find it; True when that was new."""
        facts = read_facts(self._facts_file)
        home = self._spec.home
        with plain_file_errors():
            claim_home(home, self._spec.lab, KIND)
            with locked(self._lock, silent, time.monotonic()):
                state = load_state(home) or new_state(self._spec.lab, KIND)
                wanted = replace(
                    state,
                    ports=dict(PORTS),
                    versions=dict(facts.versions),
                    is_prepared=True,
                )
                ensure_life(home)
                self._spec.workspace.mkdir(parents=True, exist_ok=True)
                if wanted != state or load_state(home) is None:
                    save_state(home, wanted)
                    return True
        return False

    def furnish(self) -> bool:
        """Lay out what lies in the cluster from the start; True when something was not so."""
        return furnish(self._kubectl(), self._spec)

    def up(self, tell: Tell) -> Provisioned:
        """Start the services that do not run, and wait until the cluster is ready.

        TargetError when it does not become so: then it is to be provisioned from outside.
        """
        started = time.monotonic()
        is_changed = self.settle()
        for unit in units_of(self._spec.parts):
            if not self._systemd.show(unit).is_active:
                tell(Progress(say("starting {unit}", unit=unit), time.monotonic() - started))
                self._systemd.start(unit)
                is_changed = True
        try:
            wait_until(lambda: not_ready(self.status().components), within=READY_SECONDS, every=1.0)
        except TimedOut as error:
            raise TargetError(
                say("The cluster is not ready: {reason}", reason=error.what),
                next_move=say("Mend it from outside: make provision in the project's folder."),
            ) from error
        return Provisioned(self.info(), is_changed, time.monotonic() - started)

    def down(self, tell: Tell) -> None:
        """Refused: the machine is not taken down from inside."""
        raise from_outside("down")

    def destroy(self, tell: Tell) -> None:
        """Refused: the machine is not removed from inside."""
        raise from_outside("destroy")

    def reset(self, tell: Tell) -> Provisioned:
        """Clear the cluster of all that was made in it, and begin its history anew."""
        started = time.monotonic()
        self._state()
        with plain_file_errors(), locked(self._lock, tell, started):
            kinds = ENDED_FIRST if self._spec.parts else ()
            Clearing(self._kubectl(), self._spec.namespaces, tell, started, kinds).run()
            ensure_life(self._spec.home, is_new=True)
            self.furnish()
            self._systemd.restart(UNITS[RECORDER])
            self.start(RECORDER, tell)  # it sets the old history aside before it answers
        return Provisioned(self.info(), is_changed=True, seconds=time.monotonic() - started)

    def start(self, companion: str, tell: Tell) -> int:
        """Start a companion and wait until it answers; its port."""
        wanted = self._companion(companion)
        if not self.is_running(companion):
            tell(Progress(say("starting {unit}", unit=UNITS[companion]), 0.0))
            self._systemd.start(UNITS[companion])
        try:
            wait_until(lambda: answers(wanted), within=COMPANION_SECONDS)
        except TimedOut as error:
            raise TargetError(
                say("{unit} does not answer: {reason}", unit=UNITS[companion], reason=error.what),
                next_move=say("Read its journal: lab logs {name}", name=companion),
            ) from error
        return PORTS[companion]

    def stop(self, companion: str) -> bool:
        """End a companion; True when it ran."""
        self._companion(companion)
        was_running = self.is_running(companion)
        self._systemd.stop(UNITS[companion])
        return was_running

    def is_running(self, companion: str) -> bool:
        """Whether systemd says that it is active."""
        return companion in UNITS and self._systemd.show(UNITS[companion]).is_active

    def port(self, companion: str) -> int | None:
        """The port of a companion; all are fixed."""
        return PORTS.get(companion)

    def status(self) -> TargetStatus:
        """What runs and what is ready, read afresh."""
        state = load_state(self._spec.home)
        if state is None:
            return TargetStatus(is_provisioned=False, components=(), info=None)
        return TargetStatus(True, self._look().components(), self.info())

    def examine(self) -> tuple[Diagnosis, ...]:
        """What is good and bad about the machine."""
        state = self._state()
        return tuple(examine(read_facts(self._facts_file), state, self._look().components()))

    def info(self) -> TargetInfo:
        """The machine as it was provisioned."""
        self._state()
        facts = read_facts(self._facts_file)
        return TargetInfo(
            name="vm",  # what people know it as, in there and outside
            lab=self._spec.lab,
            kubeconfig=facts.kubeconfig,
            grader_kubeconfig=self._spec.home / "grader.kubeconfig",
            workspace=self._spec.workspace,
            host="local://",
            versions=facts.versions,
            note=kueue_note(facts.versions),
        )

    def tools_dir(self) -> Path:
        """Folder with `kubectl`."""
        return read_facts(self._facts_file).tools

    def log_path(self, component: str) -> Path:
        """A copy of a component's newest lines: they are systemd's, Kueue's are the cluster's."""
        parts, folder = self._spec.parts, self._spec.home / "logs"
        return copy_log(component, folder, self._systemd, self._kubectl, parts)

    def arguments(self, companion: str) -> tuple[str, tuple[str, ...]]:
        """The Python module of a companion and its arguments, as its service runs them."""
        wanted = self._companion(companion)
        names = {"home": str(self._spec.home)} | {f"port_{k}": str(v) for k, v in PORTS.items()}
        return wanted.module, tuple(Template(text).substitute(names) for text in wanted.args)

    def _companion(self, name: str) -> Companion:
        for companion in self._spec.companions:
            if companion.name == name and name in UNITS:
                return companion
        raise UsageError(say("There is no {name} that runs on demand.", name=name))

    def _look(self) -> Look:
        return Look(
            facts=read_facts(self._facts_file),
            companions=tuple(c for c in self._spec.companions if c.name in UNITS),
            logs=self._spec.home / "logs",
            kubectl=self._kubectl(),
            systemd=self._systemd,
            parts=self._spec.parts,
        )

    def _kubectl(self) -> Kubectl:
        facts = read_facts(self._facts_file)
        return Kubectl(facts.tools / "kubectl", facts.kubeconfig)

    def _state(self) -> PlaceState:
        state = load_state(self._spec.home)
        if state is None:
            raise nothing_yet(self._spec.lab)
        return state
