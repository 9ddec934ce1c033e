"""Companions that run on demand: started and ended one by one while the place is up."""

from __future__ import annotations

import time
from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Protocol

from provision.errors import TargetError, UsageError
from provision.local.launching import Launch
from provision.local.looking import probe_once
from provision.local.plan import Component
from provision.local.ports import PortHolder
from provision.local.running import Running
from provision.local.supervising import supervisor_config
from provision.message import say
from provision.settings import Settings
from provision.state import PlaceState, save_state
from provision.target import PlaceSpec, Progress, Tell

READY_SECONDS = 60.0


class Planned(Protocol):
    """What must be known of a place, of whichever target."""

    @property
    def spec(self) -> PlaceSpec:
        """Which lab, and where."""

    def plan(self, ports: Mapping[str, int], versions: Mapping[str, str]) -> tuple[Component, ...]:
        """The components as they run on these ports."""

    def plan_of(
        self, ports: Mapping[str, int], versions: Mapping[str, str]
    ) -> tuple[Component, ...]:
        """The same for ports that are kept; empty when some are not among them yet."""

    def digest(self, config: str, key: str) -> str:
        """Of all that components read at their start."""


@dataclass(frozen=True, slots=True)
class OnDemand:
    """One companion of a place whose lock is held; `name` is checked by `find`."""

    place: Planned
    settings: Settings
    running: Running
    state: PlaceState
    name: str

    def start(self, tell: Tell, started: float) -> int:
        """Start it unless it runs, and wait until it is ready; its port."""
        self._find(self.state)
        infos = self.running.supervisor.processes() if self.running.supervisor.is_alive() else {}
        if self.name not in infos:
            raise TargetError(
                say("The place is down, so {name} cannot be started.", name=self.name),
                next_move=say("Run `make provision`."),
            )
        is_running = infos[self.name].is_running
        tell(Progress(say("starting {name}", name=self.name), time.monotonic() - started))
        with PortHolder(*self.settings.ports) as holder:
            state = self.state if is_running else self._on_a_free_port(holder)
            component = self._find(state)
            self._launch(component, is_first=not is_running)
        done = say("{name} is ready", name=self.name)
        tell(Progress(done, time.monotonic() - started, is_done=True))
        return state.ports[self.name]

    def stop(self) -> bool:
        """End it; True when it ran. A supervisor that died took it along."""
        self._find(self.state)
        if not self.running.supervisor.is_alive():
            return False
        info = self.running.supervisor.processes().get(self.name)
        if info is None:
            return False
        self.running.stop_some((self.name,))  # one that is between two starts, too
        return info.is_running

    def _find(self, state: PlaceState) -> Component:
        """The companion as it runs on the ports of a state."""
        plan = self.place.plan_of(state.ports, state.versions)
        if not plan:
            raise TargetError(
                say("The place was brought up before there was a {name}.", name=self.name),
                next_move=say("Run `make provision`."),
            )
        for component in plan:
            if component.name == self.name and component.is_on_demand:
                return component
        raise UsageError(say("There is no {name} that runs on demand.", name=self.name))

    def _on_a_free_port(self, holder: PortHolder) -> PlaceState:
        """Hold its port until it listens; when others have taken that, give it another one."""
        self.running.stop_some((self.name,))  # it may be between two starts
        kept = self.state.ports
        chosen = holder.choose((self.name,), kept, seed=str(self.place.spec.home))
        if chosen[self.name] == kept[self.name]:
            return self.state
        ports = {**kept, **chosen}
        supervisor = self.running.supervisor
        config = supervisor_config(
            self.place.plan(ports, self.state.versions),
            self.place.spec.home,
            supervisor.socket,
            self.state.id,
        )
        supervisor.exchange(self.name, config)
        digest = self.place.digest(config, self.state.entry)
        state = replace(self.state, ports=ports, digest=digest)
        save_state(self.place.spec.home, state)
        return state

    def _launch(self, component: Component, *, is_first: bool) -> None:
        """As one that is needed: whoever asked for it wants to know why it does not come."""
        launch = Launch(
            self.running.supervisor,
            lambda asked, probe: probe_once(asked),
            milestones={},
            within=READY_SECONDS,
            on_ready=lambda ready: None,
            is_first=is_first,
        )
        try:
            launch.run((replace(component, is_needed=True),))
        except BaseException:
            self.running.supervisor.stop(self.name)
            raise
