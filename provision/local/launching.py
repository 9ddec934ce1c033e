"""Starting components in the order of their needs, each once what it needs is ready."""

from __future__ import annotations

import re
import time
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from graphlib import TopologicalSorter
from pathlib import Path
from typing import Protocol

from provision.errors import TargetError
from provision.local.plan import Component, Probe
from provision.local.supervising import ProcessInfo
from provision.message import Message, say
from provision.waiting import wait_until

EVERY = 0.05
LOG_LINES = 8
COMPANION_SECONDS = 10.0
CRASHED = frozenset({"BACKOFF", "EXITED", "FATAL", "UNKNOWN"})


class Starter(Protocol):
    """The part of a supervisor that launching needs."""

    log: Path

    def start(self, name: str) -> None:
        """Spawn a process unless it runs."""

    def processes(self) -> dict[str, ProcessInfo]:
        """All processes by name."""


Probing = Callable[[Component, Probe], Message | None]
Ready = Callable[[Component], None]


@dataclass(slots=True)
class _Pending:
    component: Component
    deadline: float
    pid: int | None = None
    reason: Message | None = None
    is_open: bool = False


class Launch:
    """One launch: `run` starts everything and returns when all of it is ready.

    `milestones` are things to do between: a name such as "@definitions" in a component's `after`,
    what it needs itself, and the work. `why_not_ready` asks a component's probe. A component that
    exits at its first start (when `is_first`), or is not ready after `within` seconds, raises
    TargetError; stopping what was started before is the caller's. A companion that is not ready in
    ten seconds is only noted in `late`.
    """

    def __init__(
        self,
        starter: Starter,
        why_not_ready: Probing,
        *,
        milestones: Mapping[str, tuple[tuple[str, ...], Callable[[], None]]],
        within: float,
        on_ready: Ready,
        is_first: bool = True,
    ) -> None:
        self._starter, self._why_not_ready = starter, why_not_ready
        self._milestones, self._within, self._on_ready = milestones, within, on_ready
        self._is_first = is_first
        self._pending: dict[str, _Pending] = {}
        self.late: dict[str, Message] = {}
        self._log_start = 0

    def run(self, components: Iterable[Component]) -> None:
        """Start the components; returns when each is ready."""
        known = {c.name: c for c in components}
        steps = known.keys() | self._milestones.keys()
        after = {name: c.after for name, c in known.items()}
        after |= {name: needs for name, (needs, _) in self._milestones.items()}
        sorter = TopologicalSorter({n: [a for a in after[n] if a in steps] for n in after})
        sorter.prepare()
        self._log_start = _size(self._starter.log)
        while sorter.is_active():
            for name in sorted(sorter.get_ready(), key=lambda n: n in self._milestones):
                if name in known:
                    self._start(known[name])
                else:
                    self._milestones[name][1]()
                    sorter.done(name)
            if sorter.is_active() and self._pending:
                sorter.done(*self._next_open())
        while self._pending:
            self._next_open()

    def _start(self, component: Component) -> None:
        self._starter.start(component.name)
        within = self._within if component.is_needed else min(COMPANION_SECONDS, self._within)
        self._pending[component.name] = _Pending(component, time.monotonic() + within)

    def _next_open(self) -> tuple[str, ...]:
        """Wait until something new is open or ready; the names of what others may now build on."""
        news: list[str] = []
        opened: list[str] = []

        def missing() -> Message | None:
            processes = self._starter.processes()
            for name, pending in tuple(self._pending.items()):
                if self._is_first and pending.component.is_needed:
                    self._check_alive(pending, processes.get(name))
                if self._advance(pending, opened):
                    news.append(name)
            return None if news else say("nothing is ready yet")

        wait_until(missing, within=self._within + 1, every=EVERY)
        return tuple(opened)

    def _advance(self, pending: _Pending, opened: list[str]) -> bool:
        """Ask the probe that is due; True if it answered well for the first time."""
        component = pending.component
        is_opening = component.opens is not None and not pending.is_open
        probe = component.opens if is_opening and component.opens else component.probe
        pending.reason = self._why_not_ready(component, probe)
        if pending.reason is not None:
            if time.monotonic() < pending.deadline:
                return False
            if component.is_needed:
                raise self._too_slow(pending)
            self.late[component.name] = pending.reason
            return self._let_go(pending, opened)
        if not pending.is_open:
            pending.is_open = True
            opened.append(component.name)
        if not is_opening:
            del self._pending[component.name]
            self._on_ready(component)
        return True

    def _let_go(self, pending: _Pending, opened: list[str]) -> bool:
        """Wait no longer for a companion, which nothing needs; the supervisor goes on with it."""
        del self._pending[pending.component.name]
        opened.append(pending.component.name)
        return True

    def _check_alive(self, pending: _Pending, info: ProcessInfo | None) -> None:
        if pending.pid is None and info is not None:
            pending.pid = info.pid
        if info is None or info.state in CRASHED or info.pid != pending.pid:
            component = pending.component
            raise TargetError(
                say(
                    "{name} ended while it was starting: {how}. Its last lines:\n{lines}",
                    name=component.name,
                    how=exit_of(component.name, self._starter.log, self._log_start),
                    lines=last_lines(component.log),
                ),
                next_move=say("Look at {path}.", path=component.log),
            )

    def _too_slow(self, pending: _Pending) -> TargetError:
        component = pending.component
        return TargetError(
            say(
                "{name} runs, but is not ready after {seconds} s: {reason}. "
                "Its last lines:\n{lines}",
                name=component.name,
                seconds=f"{self._within:g}",
                reason=pending.reason or say("no answer"),
                lines=last_lines(component.log),
            ),
            next_move=say("Look at {path}.", path=component.log),
        )


def exit_of(name: str, supervisor_log: Path, start: int) -> str:
    """How a process ended first after byte `start` of the supervisor's log: "exit status 3".

    The supervisor's own answer is no help: it reports status 0 for a program that ended early.
    """
    pattern = (
        rf"(?:exited|stopped): {re.escape(name)} \((.*?)(?:; (?:not )?expected)?\)|spawnerr: (.*)"
    )
    found = re.search(pattern, _text(supervisor_log, start))
    return (found.group(1) or found.group(2)) if found else "no exit status known"


def last_lines(log: Path) -> str:
    """The end of a log, indented, or a dash when there is nothing in it."""
    lines = _text(log, max(0, _size(log) - 8192)).strip().splitlines()[-LOG_LINES:]
    return "\n".join(f"  {line[:400]}" for line in lines) or "  -"


def _size(path: Path) -> int:
    try:
        return path.stat().st_size
    except OSError:
        return 0


def _text(path: Path, start: int) -> str:
    try:
        with path.open("rb") as file:
            file.seek(start)
            return file.read().decode(errors="replace")
    except OSError:
        return ""
