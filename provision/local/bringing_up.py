"""Bringing a place up: from whatever is there to a cluster that is ready."""

from __future__ import annotations

import time
from contextlib import ExitStack
from dataclasses import replace
from pathlib import Path

from provision.local.api import Api, make_pool, why_not_ready
from provision.local.launching import Launch
from provision.local.laying_out import await_nodes, lay_late, lay_out
from provision.local.looking import describe, look
from provision.local.parts import Parts
from provision.local.place import Layout, Place
from provision.local.plan import Component, Probe
from provision.local.ports import PortHolder
from provision.local.preparing import Preparation
from provision.local.running import Running
from provision.local.snapshot import take_snapshot
from provision.local.supervising import Supervisor
from provision.message import Message, say
from provision.settings import Settings
from provision.state import PlaceState, ensure_life, save_state
from provision.target import Progress, Provisioned, Tell

READY_SECONDS = 90.0
API_SERVER = "kube-apiserver"


class BringUp:
    """One run of `up` for a place whose lock is held and whose parts are built."""

    def __init__(
        self,
        place: Place,
        settings: Settings,
        parts: Parts,
        running: Running,
        tell: Tell,
        started: float,
    ) -> None:
        self._place, self._settings, self._parts = place, settings, parts
        self._running, self._tell, self._started = running, tell, started
        self._remarks: tuple[Message, ...] = ()

    @property
    def _home(self) -> Path:
        return self._place.spec.home

    @property
    def _supervisor(self) -> Supervisor:
        return self._running.supervisor

    def run(self, state: PlaceState, *, snapshot: Path, data: Path) -> Provisioned:
        """Bring everything up, and keep a snapshot of the first complete cluster."""
        self._place.make_workspace()
        ensure_life(self._home)
        layout = self._layout_of_running(state)
        if layout is not None and state.is_prepared and self._is_ready(layout):
            return self._result(state, is_changed=False)
        if layout is None:
            state = self._start_anew(state)
        else:
            self._running.wake()
            self._launch(layout, state, is_first=False)
        if not (state.is_prepared and snapshot.is_dir()):
            take_snapshot(self._running.pids()["etcd"], data, snapshot)
            state = replace(state, is_prepared=True)
        save_state(self._home, state)
        return self._result(state, is_changed=True)

    def _result(self, state: PlaceState, *, is_changed: bool) -> Provisioned:
        seconds = time.monotonic() - self._started
        return Provisioned(describe(self._place, state), is_changed, seconds, self._remarks)

    def _layout_of_running(self, state: PlaceState) -> Layout | None:
        """What should run, if its supervisor is alive and was started with just that."""
        if not set(self._place.port_names()) <= state.ports.keys():
            return None
        if not self._supervisor.is_alive():
            return None
        layout = self._place.write(self._parts, state.ports, self._supervisor.socket, state.id)
        return layout if layout.digest == state.digest else None

    def _is_ready(self, layout: Layout) -> bool:
        return all(c.is_ready for c in look(_kept_up(layout), self._running))

    def _start_anew(self, state: PlaceState) -> PlaceState:
        """Stop what is left, choose ports, write everything, start everything."""
        self._running.stop(self._place.plan_of(state.ports, state.versions))
        self._place.check_room()
        with PortHolder(*self._settings.ports) as holder:
            ports = holder.choose(self._place.port_names(), state.ports, seed=str(self._home))
            layout = self._place.write(self._parts, ports, self._supervisor.socket, state.id)
            state = replace(
                state,
                ports=ports,
                versions=dict(self._parts.versions),
                entry=self._parts.key,
                digest=layout.digest,
                is_override=self._settings.kueue_version is not None,
            )
            save_state(self._home, state)
            try:
                self._supervisor.launch(layout.config, self._settings.search_path)
                self._launch(layout, state, is_first=True)
            except BaseException:
                self._running.stop(layout.components)
                raise
        return state

    def _launch(self, layout: Layout, state: PlaceState, *, is_first: bool) -> None:
        server = next(c for c in layout.components if c.name == API_SERVER)
        begun: list[Preparation] = []
        with ExitStack() as stack:
            components = _kept_up(layout)
            pools = {c.name: stack.enter_context(make_pool(c.probe)) for c in components}
            api = stack.enter_context(Api(server.probe))

            def prepare() -> None:
                self._say(say("laying out the cluster"))
                place, parts = self._place, self._parts
                given = (place.spec, place.folders, parts, state.ports, place.controllers())
                begun.append(lay_out(api, *given, place.own_manifests()))
                self._say(say("laying out the cluster"), is_done=True)

            def ask(component: Component, probe: Probe) -> Message | None:
                return why_not_ready(pools[component.name], probe)

            launch = Launch(
                self._supervisor,
                ask,
                milestones={"@definitions": ((API_SERVER,), prepare)},
                within=READY_SECONDS,
                on_ready=self._tell_ready,
                is_first=is_first,
            )
            launch.run(components)
            await_nodes(api, self._place.spec)
            lay_late(begun[0], self._place.late_objects(self._parts))
        self._remarks = tuple(
            say("{name} is not ready, and the lab works without it: {reason}", name=n, reason=r)
            for n, r in launch.late.items()
        )

    def _tell_ready(self, component: Component) -> None:
        name, version = component.name, component.version
        stage = say("{name} {version} is ready", name=name, version=version)
        self._say(stage if version else say("{name} is ready", name=name), is_done=True)

    def _say(self, stage: Message, *, is_done: bool = False) -> None:
        self._tell(Progress(stage, time.monotonic() - self._started, is_done))


def _kept_up(layout: Layout) -> tuple[Component, ...]:
    """What a place that is up runs; the rest is left as it is, off or on."""
    return tuple(c for c in layout.components if not c.is_on_demand)
