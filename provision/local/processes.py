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

from provision.local.supervising import PLACE_VARIABLE

COMPONENT_VARIABLE = "SUPERVISOR_PROCESS_NAME"  # set by supervisor for each of its children


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
    """All running processes of the place, in no order."""
    found = []
    for process in psutil.process_iter():
        with contextlib.suppress(psutil.Error, OSError):
            if process.uids().real != os.getuid():
                continue
            variables = process.environ()
            is_supervisor = str(home / "conf" / "supervisord.conf") in process.cmdline()
            is_marked = variables.get(PLACE_VARIABLE) == place_id
            names_home = any(str(home) in argument for argument in process.cmdline())
            if is_supervisor or (is_marked and names_home):
                name = "" if is_supervisor else variables.get(COMPONENT_VARIABLE, "")
                found.append(PlaceProcess(name, process))
    return tuple(found)


def end_processes(processes: Iterable[PlaceProcess], *, grace: float) -> None:
    """TERM, and KILL for those that outlive `grace` seconds; 0 kills at once."""
    left = [p.process for p in processes]
    if grace:
        _signal(left, "terminate")
        _, left = psutil.wait_procs(left, timeout=grace)
    _signal(left, "kill")
    psutil.wait_procs(left, timeout=5)


def _signal(processes: Iterable[psutil.Process], how: str) -> None:
    for process in processes:
        with contextlib.suppress(psutil.NoSuchProcess):
            getattr(process, how)()
