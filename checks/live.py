"""The cluster as watches show it: kept up by itself, looked at without asking the API."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TypeVar

from checks.kit.cluster import NODE, POD, Kind, Object
from checks.kit.following import Follower, Late
from checks.kit.paths import dig_text
from checks.kit.pulse import Pulse
from checks.kit.stream import ApiStream
from checks.painting import Painter
from checks.picture import Seen
from checks.things import Thing
from checks.watching import (
    LocalQueueNow,
    NodeNow,
    PodNow,
    QueueNow,
    WorkloadNow,
    read_cluster_queue,
    read_local_queue,
    read_node,
    read_pod,
    read_workload,
)

__all__ = ["LiveCluster", "Painter"]

T = TypeVar("T", bound=Thing)
_JOIN_SECONDS = 2.0
MOST_CHANGES = 100  # at one look; of more only the end is shown
_READERS: Mapping[str, Callable[[Object], Thing]] = {
    "ClusterQueue": read_cluster_queue,
    "LocalQueue": read_local_queue,
    "Workload": read_workload,
    "Pod": read_pod,
    "Node": read_node,
}


def kinds(kueue: str) -> tuple[Kind, ...]:
    """What a picture is drawn from; `kueue` is the group and version of Kueue's kinds."""
    return (
        Kind("ClusterQueue", "clusterqueues", kueue, is_namespaced=False),
        Kind("LocalQueue", "localqueues", kueue),
        Kind("Workload", "workloads", kueue),
        POD,
        NODE,
    )


@dataclass(frozen=True, slots=True)
class _Change:
    """One object as a watch told of it; `version` is the cluster's own count of changes."""

    version: int
    kind: str
    thing: Thing
    is_gone: bool


class LiveCluster:
    """Follows all kinds of a picture, one list and then one watch for each.

    `changed` is called, from any thread, when an object or what is in the way has changed.
    """

    def __init__(self, kubeconfig: Path, kueue: str, changed: Callable[[], None]) -> None:
        self._changed = changed
        self._lock = threading.Lock()
        self._things: dict[str, dict[str, Thing]] = {name: {} for name in _READERS}
        self._changes: list[_Change] = []
        self._stop = threading.Event()
        self._stream = ApiStream(kubeconfig)
        self._followers = [
            Follower(
                *(self._stream, self, kind, ""),
                stop=self._stop,
                log=lambda _: None,
                turned=changed,
            )
            for kind in kinds(kueue)
        ]
        self._pulse = Pulse(self._stream, stop=self._stop, turned=changed)

    def start(self) -> None:
        """Begin to follow."""
        for thread in (*self._followers, self._pulse):
            thread.start()

    def stop(self) -> None:
        """End all watches and wait a moment for their threads."""
        self._stop.set()
        self._stream.close()
        end = time.monotonic() + _JOIN_SECONDS
        for thread in (*self._followers, self._pulse):
            if thread.ident is not None:
                thread.join(max(0.0, end - time.monotonic()))

    @property
    def trouble(self) -> str:
        """Why not everything is seen right now; empty when it is."""
        broken = (f"{f.path}: {f.trouble}" for f in self._followers if not f.is_live)
        return next(broken, self._pulse.trouble)

    def look(self) -> list[Seen]:
        """Everything as it was after each change since the last look, at least as it is now.

        Watches of different kinds tell independently. What they have told is put into the order in
        which it happened: all kinds share one count of changes (KEP-5504).
        """
        with self._lock:
            changes = sorted(self._changes, key=lambda change: change.version)
            self._changes = []
            seen = []
            for change in changes:
                self._apply(change)
                if len(changes) <= MOST_CHANGES:
                    seen.append(self._seen())
            return seen or [self._seen()]

    def _apply(self, change: _Change) -> None:
        if change.is_gone:
            self._things[change.kind].pop(change.thing.uid, None)
        else:
            self._things[change.kind][change.thing.uid] = change.thing

    def _seen(self) -> Seen:
        return Seen(
            cluster_queues=self._of("ClusterQueue", QueueNow),
            local_queues=self._of("LocalQueue", LocalQueueNow),
            workloads=self._of("Workload", WorkloadNow),
            pods=self._of("Pod", PodNow),
            nodes=self._of("Node", NodeNow),
        )

    def _of(self, kind: str, what: type[T]) -> tuple[T, ...]:
        return tuple(one for one in self._things[kind].values() if isinstance(one, what))

    def version(self, kind: str, namespace: str) -> str:
        """Nothing is known from before: each kind begins with a list."""
        return ""

    def see(
        self, kind: str, raw: Object, *, is_gone: bool = False, late: Late | None = None
    ) -> None:
        """Take in what a watch tells."""
        version = dig_text(raw, "metadata", "resourceVersion")
        number = int(version) if version.isdigit() else 0
        change = _Change(number, kind, _READERS[kind](raw), is_gone)
        with self._lock:
            self._changes.append(change)
        self._changed()

    def relist(self, kind: str, namespace: str, items: Iterable[Object], late: Late) -> None:
        """Take in a whole list."""
        things = {dig_text(raw, "metadata", "uid"): _READERS[kind](raw) for raw in items}
        with self._lock:
            self._changes = [change for change in self._changes if change.kind != kind]
            self._things[kind] = things
        self._changed()
