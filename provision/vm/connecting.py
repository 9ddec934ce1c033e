"""The controller's side comes up: forwards and recorder start, and are kept up from then on."""

from __future__ import annotations

import time
from dataclasses import replace

from provision.local.api import make_pool, why_not_ready
from provision.local.launching import Launch
from provision.local.looking import look
from provision.local.plan import Component, Probe
from provision.local.ports import PortHolder
from provision.local.running import Running
from provision.local.supervising import supervisor_config
from provision.message import Message, say
from provision.settings import Settings
from provision.state import PlaceState, save_state
from provision.target import Progress, Tell
from provision.vm.kubeconfigs import Kubeconfigs, lay
from provision.vm.place import API, TUNNEL, VmPlace

READY_SECONDS = 60.0


class Connecting:
    """One run for a place whose lock is held and whose machine is provisioned."""

    def __init__(
        self,
        place: VmPlace,
        settings: Settings,
        running: Running,
        tell: Tell,
        started: float,
    ) -> None:
        self._place, self._settings, self._running = place, settings, running
        self._tell, self._started = tell, started
        self.remarks: tuple[Message, ...] = ()
        self.is_changed = False

    def run(self, state: PlaceState, texts: Kubeconfigs, key: str) -> PlaceState:
        """Bring everything here up to date and up; the state as it was saved.

        `key` is that of the bundle. What runs as it should is left alone.
        """
        self._place.make_folders()
        if self._runs_well(state, texts, key):
            return state
        self.is_changed = True
        self._running.stop(self._place.plan_of(state.ports, state.versions))
        with PortHolder(*self._settings.ports) as holder:
            home = self._place.spec.home
            ports = holder.choose(self._place.port_names(), state.ports, seed=str(home))
            lay(texts, home, ports[API])
            components = self._place.plan(ports, state.versions)
            supervisor = self._running.supervisor
            config = supervisor_config(components, home, supervisor.socket, state.id)
            state = replace(state, ports=ports, entry=key, digest=self._place.digest(config, key))
            save_state(home, state)
            try:
                supervisor.launch(config, self._settings.search_path)
                self._launch(components)
            except BaseException:
                self._running.stop(components)
                raise
        return state

    def _runs_well(self, state: PlaceState, texts: Kubeconfigs, key: str) -> bool:
        supervisor = self._running.supervisor
        components = self._place.plan_of(state.ports, state.versions)
        if not components or not supervisor.is_alive():
            return False
        lay(texts, self._place.spec.home, state.ports[API])
        config = supervisor_config(components, self._place.spec.home, supervisor.socket, state.id)
        if self._place.digest(config, key) != state.digest:
            return False
        return all(one.is_ready for one in look(_kept_up(components), self._running))

    def _launch(self, components: tuple[Component, ...]) -> None:
        def ask(component: Component, probe: Probe) -> Message | None:
            with make_pool(probe) as pool:
                return why_not_ready(pool, probe)

        launch = Launch(
            self._running.supervisor,
            ask,
            milestones={},
            within=READY_SECONDS,
            on_ready=self._tell_ready,
        )
        launch.run(_kept_up(components))
        self.remarks = tuple(
            say("{name} is not ready, and the lab works without it: {reason}", name=n, reason=r)
            for n, r in launch.late.items()
        )

    def _tell_ready(self, component: Component) -> None:
        what = (
            say("the API of the machine answers here")
            if component.name == TUNNEL
            else say("{name} is ready", name=component.name)
        )
        self._tell(Progress(what, time.monotonic() - self._started, is_done=True))


def _kept_up(components: tuple[Component, ...]) -> tuple[Component, ...]:
    return tuple(c for c in components if not c.is_on_demand)
