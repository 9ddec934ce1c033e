"""What a target does through the supervisor that it keeps on this machine, whatever the cluster."""

from __future__ import annotations

import contextlib
import time
from abc import ABC, abstractmethod
from collections.abc import Iterator

from provision.files import plain_file_errors
from provision.local.demanding import OnDemand, Planned
from provision.local.running import Running
from provision.local.supervising import Supervisor, socket_path
from provision.settings import Settings
from provision.state import LOCK_FILE, PlaceState, load_state, locked
from provision.target import PlaceSpec, Tell, silent


class SupervisedTarget(ABC):
    """The companions of `provision.target.Target`, and the lock of the place."""

    _spec: PlaceSpec
    _settings: Settings
    _place: Planned

    @abstractmethod
    def _state(self) -> PlaceState:
        """What the place remembers; TargetError when it was never brought up."""

    def start(self, companion: str, tell: Tell) -> int:
        """Start a companion that is on demand; see the protocol."""
        started = time.monotonic()
        self._state()
        with plain_file_errors(), self._alone(tell, started):
            return self._on_demand(companion).start(tell, started)

    def stop(self, companion: str) -> bool:
        """End a companion that is on demand."""
        self._state()
        with plain_file_errors(), self._alone(silent, time.monotonic()):
            return self._on_demand(companion).stop()

    def is_running(self, companion: str) -> bool:
        """Whether a process of that companion exists."""
        state = load_state(self._spec.home)
        return state is not None and companion in self._running(state).pids()

    def port(self, companion: str) -> int | None:
        """The port kept here for a companion."""
        state = load_state(self._spec.home)
        return None if state is None else state.ports.get(companion)

    def _on_demand(self, companion: str) -> OnDemand:
        state = self._state()
        return OnDemand(self._place, self._settings, self._running(state), state, companion)

    def _running(self, state: PlaceState) -> Running:
        socket_file = socket_path(self._spec.home, self._settings.runtime)
        return Running(self._spec.home, state.id, Supervisor(self._spec.home, socket_file))

    @contextlib.contextmanager
    def _alone(self, tell: Tell, started: float) -> Iterator[None]:
        """One command at a time works on a place."""
        with locked(self._spec.home / LOCK_FILE, tell, started):
            yield
