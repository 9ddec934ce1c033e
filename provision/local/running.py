"""What runs of a place, and how it is ended: with its supervisor, or without one that died."""

from __future__ import annotations

import contextlib
import os
import signal
from collections.abc import Iterable, Mapping
from graphlib import TopologicalSorter
from pathlib import Path

import psutil

from provision.errors import TargetError, TimedOut
from provision.local.plan import Component
from provision.local.processes import PlaceProcess, await_end, end_processes, place_processes
from provision.local.supervising import Supervisor
from provision.message import Message, say
from provision.waiting import wait_until

STOP_SECONDS = 25.0
GRACE = 10.0


class Running:
    """The processes of one place."""

    def __init__(self, home: Path, place_id: str, supervisor: Supervisor) -> None:
        self._home, self._id, self.supervisor = home, place_id, supervisor

    def pids(self) -> Mapping[str, int]:
        """Process ids of the components that run, supervised or not, by name."""
        with contextlib.suppress(OSError):
            infos = self.supervisor.processes().values()
            return {i.name: i.pid for i in infos if i.pid is not None}
        return {p.component: p.pid for p in self._left_over() if p.component}

    def wake(self) -> None:
        """Let processes go on that a broken-off snapshot left stopped."""
        for pid in self.pids().values():
            with contextlib.suppress(ProcessLookupError, PermissionError):
                os.kill(pid, signal.SIGCONT)

    def stop(self, components: Iterable[Component]) -> bool:
        """End everything, dependants first; True if anything ran."""
        levels = stop_levels({c.name: c.after for c in components})
        was_alive = self.supervisor.is_alive()
        self.wake()
        if was_alive:
            # One that hangs is ended below like any other process.
            with contextlib.suppress(OSError, TimedOut):
                self._stop_supervised(levels)
        rest = self._left_over()
        self._end(rest, levels)
        return was_alive or bool(rest)

    def kill(self) -> None:
        """End everything at once, for when the data are not kept; the supervisor first."""
        self.wake()
        found = self._left_over()
        end_processes([p for p in found if not p.component], grace=0)
        end_processes(self._left_over(), grace=0)
        self.supervisor.socket.unlink(missing_ok=True)

    def _stop_supervised(self, levels: Iterable[tuple[str, ...]]) -> None:
        for level in levels:
            self.stop_some(level)
        process = psutil.Process(self.supervisor.pid())
        self.supervisor.shut_down()
        await_end([process], within=STOP_SECONDS)

    def stop_some(self, names: tuple[str, ...]) -> None:
        """End these, which the supervisor keeps; TimedOut when one outlives STOP_SECONDS."""
        for name in names:
            with contextlib.suppress(TargetError):  # a name that this supervisor does not know
                self.supervisor.stop(name)
        wait_until(lambda: self._still_running(names), within=STOP_SECONDS, every=0.05)

    def _still_running(self, names: tuple[str, ...]) -> Message | None:
        infos = self.supervisor.processes()
        left = [n for n in names if n in infos and infos[n].is_running]
        return say("{names} did not stop yet", names=", ".join(left)) if left else None

    def _left_over(self) -> tuple[PlaceProcess, ...]:
        return place_processes(self._home, self._id)

    def _end(self, found: Iterable[PlaceProcess], levels: Iterable[tuple[str, ...]]) -> None:
        left = list(found)
        end_processes([p for p in left if not p.component], grace=0)
        for level in levels:
            end_processes([p for p in left if p.component in level], grace=GRACE)
        end_processes(self._left_over(), grace=0)


def stop_levels(needs: Mapping[str, Iterable[str]]) -> tuple[tuple[str, ...], ...]:
    """Names grouped so that a group may stop together, each after all that need it.

    Names beginning with @ are moments, not processes, and are left out.
    """
    sorter = TopologicalSorter(
        {name: [n for n in after if not n.startswith("@")] for name, after in needs.items()}
    )
    sorter.prepare()
    levels: list[tuple[str, ...]] = []
    while sorter.is_active():
        ready = tuple(sorted(sorter.get_ready()))
        levels.append(ready)
        sorter.done(*ready)
    return tuple(reversed(levels))
