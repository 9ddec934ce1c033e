"""The local target: a lab's cluster as processes of this machine, on loopback."""

from __future__ import annotations

import shutil
import time
from dataclasses import replace
from pathlib import Path

from provision.errors import TargetError
from provision.files import plain_file_errors
from provision.health import Diagnosis
from provision.local.bringing_up import BringUp
from provision.local.examining import examine
from provision.local.looking import describe, look
from provision.local.parts import PartStore
from provision.local.place import Place
from provision.local.plan import Component
from provision.local.recipe import this_platform
from provision.local.snapshot import restore_snapshot
from provision.local.supervised import SupervisedTarget
from provision.logs import unknown_log
from provision.message import say
from provision.settings import Settings
from provision.state import (
    PlaceState,
    claim_home,
    ensure_life,
    foreign_names,
    load_state,
    new_state,
    save_state,
)
from provision.target import (
    PlaceSpec,
    Progress,
    Provisioned,
    TargetInfo,
    TargetStatus,
    Tell,
)


class LocalTarget(SupervisedTarget):
    """Implements `provision.target.Target` for one place."""

    _place: Place

    def __init__(self, spec: PlaceSpec, settings: Settings) -> None:
        self._spec, self._settings = spec, settings
        self._store = PartStore(settings)
        self._place = Place(spec, self._store.inventory)

    @property
    def is_here(self) -> bool:
        """The local target is this machine."""
        return True

    def machine(self) -> None:
        """There is no other machine."""

    def up(self, tell: Tell) -> Provisioned:
        """Bring the place up; see the protocol."""
        started = time.monotonic()
        this_platform()
        with plain_file_errors():
            claim_home(self._spec.home, self._spec.lab)
            with self._alone(tell, started):
                return self._bring_up(tell, started)

    def down(self, tell: Tell) -> None:
        """Stop every process; the data stay."""
        started = time.monotonic()
        self._state()  # nothing is locked or made where there is no place
        with plain_file_errors(), self._alone(tell, started):
            state = self._state()
            tell(Progress(say("stopping the cluster"), 0.0))
            self._running(state).stop(self._components(state))
            tell(Progress(say("stopping the cluster"), time.monotonic() - started, is_done=True))

    def reset(self, tell: Tell) -> Provisioned:
        """Bring the cluster back to its first state, from the snapshot if there is one."""
        started = time.monotonic()
        self._state()
        with plain_file_errors(), self._alone(tell, started):
            state = self._state()
            tell(Progress(say("going back to the first state"), 0.0))
            self._running(state).kill()
            ensure_life(self._spec.home, is_new=True)
            if state.is_prepared and self._snapshot.is_dir():
                restore_snapshot(self._snapshot, self._data)
            else:
                self._forget_data(state)
            seconds = time.monotonic() - started
            tell(Progress(say("going back to the first state"), seconds, is_done=True))
            return replace(self._bring_up(tell, started), is_changed=True)

    def destroy(self, tell: Tell) -> None:
        """Remove the place except the workspace."""
        started = time.monotonic()
        if self._place.is_gone():
            return
        with plain_file_errors():
            foreign = foreign_names(self._spec.home)
            with self._alone(tell, started):
                tell(Progress(say("removing {path}", path=self._spec.home), 0.0))
                try:
                    state = load_state(self._spec.home)
                except TargetError:  # damaged, and about to go: its processes are found without it
                    state = PlaceState(id="", lab=self._spec.lab, created="")
                if state is not None:
                    self._running(state).kill()
                self._place.remove(foreign)

    def status(self) -> TargetStatus:
        """What runs and what is ready, read afresh."""
        state = load_state(self._spec.home)
        if state is None:
            return TargetStatus(is_provisioned=False, components=(), info=None)
        components = look(self._components(state), self._running(state))
        return TargetStatus(state.is_prepared, components, describe(self._place, state))

    def examine(self) -> tuple[Diagnosis, ...]:
        """What is good and bad about the place."""
        state = load_state(self._spec.home)
        if state is None:
            return examine(self._place, self._settings, None, (), (), ())
        components, running = self._components(state), self._running(state)
        statuses, pids = look(components, running), running.pids().values()
        return examine(self._place, self._settings, state, components, statuses, pids)

    def info(self) -> TargetInfo:
        """The target as it was provisioned."""
        return describe(self._place, self._state())

    def tools_dir(self) -> Path:
        """Folder with `kubectl` and `kubectl-kueue`."""
        return self._place.tools

    def log_path(self, component: str) -> Path:
        """The log of a component, or of the supervisor."""
        logs = {name: self._place.folders.logs / f"{name}.log" for name in self._place.names()}
        logs["supervisord"] = self._place.folders.logs / "supervisord.log"
        logs["audit"] = self._place.folders.logs / "audit.log"
        if component not in logs:
            raise unknown_log(component, logs)
        return logs[component]

    @property
    def _data(self) -> Path:
        return self._spec.home / "etcd"

    @property
    def _snapshot(self) -> Path:
        return self._spec.home / "snapshot"

    def _state(self) -> PlaceState:
        state = load_state(self._spec.home)
        if state is None:
            raise TargetError(
                say("There is no cluster for {lab} yet.", lab=self._spec.lab),
                next_move=say("Run `make provision LAB={lab}`.", lab=self._spec.lab),
            )
        return state

    def _components(self, state: PlaceState) -> tuple[Component, ...]:
        """As it was last started; empty when it never came so far."""
        return self._place.plan_of(state.ports, state.versions)

    def _forget_data(self, state: PlaceState) -> None:
        for path in (self._data, self._snapshot):
            if path.exists():
                shutil.rmtree(path)
        save_state(self._spec.home, replace(state, is_prepared=False))

    def _bring_up(self, tell: Tell, started: float) -> Provisioned:
        state = load_state(self._spec.home) or new_state(self._spec.lab)
        save_state(self._spec.home, state)
        parts = self._store.ensure(self._spec.parts, tell, started)
        running = self._running(state)
        work = BringUp(self._place, self._settings, parts, running, tell, started)
        return work.run(state, snapshot=self._snapshot, data=self._data)
