"""How a place fares, for `lab doctor`: what lies on disk, what runs, and what the cluster answers.

Nothing here changes anything, neither on disk nor in the cluster.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping

import psutil

from provision.health import Diagnosis, bad, good, note, skipped
from provision.local.answering import TRAINER, examine_cluster
from provision.local.keeping import examine_certificates, examine_disk, examine_programs
from provision.local.place import Place
from provision.local.plan import Component
from provision.local.ports import is_free
from provision.message import say
from provision.settings import Settings
from provision.state import PlaceState
from provision.target import ComponentStatus

API_SERVER = "kube-apiserver"
ASKED = ("versions", "clock", "webhooks")
UP = say("make provision brings it up")


def examine(
    place: Place,
    settings: Settings,
    state: PlaceState | None,
    components: Iterable[Component],
    statuses: Iterable[ComponentStatus],
    pids: Iterable[int],
) -> tuple[Diagnosis, ...]:
    """Everything that can be told; `state` is None when the place was never provisioned.

    `pids` are the place's own processes.
    """
    seen = tuple(statuses)
    found = list(examine_disk(place, settings))
    if state is None:
        found.append(bad("place", say("the place was not provisioned yet"), UP))
        return tuple(found)
    found += examine_programs(place)
    found += examine_certificates(place, state)
    found += examine_ports(state.ports, set(pids))
    found += examine_components(state, seen)
    server = next((c for c in components if c.name == API_SERVER), None)
    is_ready = any(s.name == API_SERVER and s.is_ready for s in seen)
    if server is None or not is_ready:
        why = say("not looked at, since {name} is not ready", name=API_SERVER)
        asked = (*ASKED, *((f"webhooks.{TRAINER}",) if TRAINER in place.names() else ()))
        found += [skipped(name, why) for name in asked]
    else:
        found += examine_cluster(place, state, server.probe)
    return tuple(found)


def examine_components(
    state: PlaceState, statuses: Iterable[ComponentStatus]
) -> Iterator[Diagnosis]:
    """One finding for each component: running and ready are two facts."""
    seen = tuple(statuses)
    if not seen or not any(s.is_running for s in seen):
        yield bad("components", say("the place is down: no component runs"), UP)
        return
    if not state.is_prepared:
        yield bad("place", say("the place was never complete: an earlier start broke off"), UP)
    for status in seen:
        name = f"component.{status.name}"
        label = f"{status.name} {status.version}".strip()
        if status.is_ready:
            yield good(name, say("{name} runs and is ready", name=label))
            continue
        if status.is_off:
            yield good(name, say("{name} is off: it runs only when it is asked for", name=label))
            continue
        reason = status.detail or say("no reason is known")
        state_word = (
            say("{name} runs, but is not ready: {reason}", name=label, reason=reason)
            if status.is_running
            else say("{name} does not run", name=label)
        )
        mend = say(
            "make provision brings it back; make logs NAME={name} says why it ended",
            name=status.name,
        )
        yield bad(name, state_word, mend) if status.is_needed else note(name, state_word, mend)


def examine_ports(ports: Mapping[str, int], ours: set[int]) -> Iterator[Diagnosis]:
    """Whether the place's ports are held by its own processes or by nobody."""
    holders = _holders(set(ports.values()))
    taken = {
        name: (port, holders.get(port))
        for name, port in ports.items()
        if not is_free(port) and not _is_ours(holders.get(port), ours)
    }
    for name, (port, pid) in taken.items():
        yield note(
            "ports",
            say(
                "port {port} on 127.0.0.1, kept for {name}, is used by process {pid}",
                port=port,
                name=name,
                pid=pid or "?",
            ),
            say("another one is taken when {name} is started", name=name),
        )
    if not taken:
        yield good(
            "ports",
            say("{count} ports on 127.0.0.1 are the place's own or free", count=len(ports)),
        )


def _holders(ports: set[int]) -> Mapping[int, int]:
    """Which process listens on each port, as far as it may be known."""
    try:
        connections = psutil.net_connections(kind="tcp")
    except (psutil.Error, OSError):
        return {}
    return {
        c.laddr.port: c.pid
        for c in connections
        if c.status == psutil.CONN_LISTEN and c.laddr and c.laddr.port in ports and c.pid
    }


def _is_ours(pid: int | None, ours: set[int]) -> bool:
    """Of a process that cannot be seen nothing bad is said while the place runs."""
    return bool(ours) if pid is None else pid in ours or _parent(pid) in ours


def _parent(pid: int) -> int | None:
    try:
        return psutil.Process(pid).ppid()
    except psutil.Error:
        return None
