"""Processes of a place that no supervisor watches any more, found by what marks them as its own.

A process is the place's when its environment holds the place's random id, its arguments name the
place's folder, and it runs as our user. Its name says nothing, and a process id alone is never
trusted: psutil compares the start time before it signals.
"""

from __future__ import annotations

import contextlib
import os
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path

import psutil

from provision.errors import TimedOut
from provision.local.supervising import PLACE_VARIABLE
from provision.message import Message, say
from provision.waiting import wait_until

COMPONENT_VARIABLE = "SUPERVISOR_PROCESS_NAME"  # set by supervisor for each of its children

KILL_SECONDS = 10.0


@dataclass(frozen=True, slots=True)
class PlaceProcess:
    """A running process of the place; `component` is empty for the supervisor itself."""

    component: str
    process: psutil.Process

    @property
    def pid(self) -> int:
        """Its process id."""
        return int(self.process.pid)


def place_processes(home: Path, place_id: str) -> tuple[PlaceProcess, ...]:
    """All running processes of the place, in no order.

    An empty `place_id`, of a place whose state is lost, stands for any id: the folder decides.
    """
    found = []
    for process in psutil.process_iter():
        with contextlib.suppress(psutil.Error, OSError):
            if process.uids().real != os.getuid():
                continue
            variables = process.environ()
            is_supervisor = str(home / "conf" / "supervisord.conf") in process.cmdline()
            mark = variables.get(PLACE_VARIABLE)
            is_marked = mark == place_id or (mark is not None and not place_id)
            names_home = any(
                f"{home}/" in argument or argument.endswith(str(home))
                for argument in process.cmdline()
            )
            if is_supervisor or (is_marked and names_home):
                name = "" if is_supervisor else variables.get(COMPONENT_VARIABLE, "")
                found.append(PlaceProcess(name, process))
    return tuple(found)


def end_processes(processes: Iterable[PlaceProcess], *, grace: float) -> None:
    """TERM, and KILL for those that outlive `grace` seconds; 0 kills at once."""
    left = [p.process for p in processes]
    if grace:
        _signal(left, "terminate")
        with contextlib.suppress(TimedOut):
            await_end(left, within=grace)
    _signal(left, "kill")
    await_end(left, within=KILL_SECONDS)


def await_end(processes: Iterable[psutil.Process], *, within: float) -> None:
    """Wait until none of them runs; TimedOut when one still does after `within` seconds.

    A zombie has ended: who reaps it, and when, is not ours to say.
    """
    chosen = tuple(processes)

    def missing() -> Message | None:
        left = [str(p.pid) for p in chosen if is_alive(p)]
        return say("processes {pids} did not end yet", pids=", ".join(left)) if left else None

    wait_until(missing, within=within, every=0.02)


def is_alive(process: psutil.Process) -> bool:
    """Whether it is the same process as when it was found, and not a zombie."""
    try:
        return bool(process.is_running()) and process.status() != psutil.STATUS_ZOMBIE
    except psutil.NoSuchProcess:
        return False


def _signal(processes: Iterable[psutil.Process], how: str) -> None:
    for process in processes:
        with contextlib.suppress(psutil.NoSuchProcess):
            getattr(process, how)()
