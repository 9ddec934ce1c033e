"""The queue as a picture: each ClusterQueue's ledger beside the nodes' GPUs and who holds them.

Drawn by `checks.painting` from typed objects. Ledger and GPUs are two witnesses: quota is Kueue's
own account of Workloads, a GPU is held by a pod that the scheduler has placed, whoever let it in.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from checks.watching import LocalQueueNow, NodeNow, PodNow, QueueNow, WorkloadNow
from provision.message import Message


@dataclass(frozen=True, slots=True)
class Seen:
    """All objects that a picture is drawn from, of all namespaces."""

    cluster_queues: tuple[QueueNow, ...] = ()
    local_queues: tuple[LocalQueueNow, ...] = ()
    workloads: tuple[WorkloadNow, ...] = ()
    pods: tuple[PodNow, ...] = ()
    nodes: tuple[NodeNow, ...] = ()


@dataclass(frozen=True, slots=True)
class Resource:
    """One resource of a ClusterQueue, all flavors together, by its own ledger."""

    name: str
    nominal: str
    reserved: str


@dataclass(frozen=True, slots=True)
class Holding:
    """A Workload that holds quota. `state`: "reserved", or "admitted" when nothing is left to wait
    for; `since` is RFC 3339. `priority_class` is empty for a priority that comes from no class;
    `queue` is its LocalQueue.
    """

    workload: str
    job: str
    namespace: str
    uid: str
    state: str
    amounts: Mapping[str, str]
    since: str
    priority: int = 0
    priority_class: str = ""
    queue: str = ""


@dataclass(frozen=True, slots=True)
class Waiting:
    """A Workload in line, `position` 1 in front of all, or of its LocalQueue `queue` where use
    decides between LocalQueues. `reason` and `message` are its own words; when it
    has none, `message` says what is known of it. `since`: when it was queued, RFC 3339. `evicted`:
    that it had quota and lost it, why and for whom; empty when it did not.
    """

    workload: str
    job: str
    namespace: str
    uid: str
    position: int
    amounts: Mapping[str, str]
    reason: str
    message: str | Message
    since: str
    priority: int = 0
    priority_class: str = ""
    evicted: str | Message = ""
    queue: str = ""


@dataclass(frozen=True, slots=True)
class Ledger:
    """One ClusterQueue. `reason` says why it is not active, in its own words.

    `is_by_use`: its LocalQueues have lines of their own, and what they used decides between them.
    """

    name: str
    is_active: bool
    reason: str
    resources: tuple[Resource, ...]
    holding: tuple[Holding, ...]
    waiting: tuple[Waiting, ...]
    is_by_use: bool = False


@dataclass(frozen=True, slots=True)
class Stray:
    """A Workload in no line and without quota: its queue is not there or closed, or it is off."""

    workload: str
    job: str
    namespace: str
    queue: str
    reason: str
    priority: int = 0
    priority_class: str = ""


@dataclass(frozen=True, slots=True)
class Slot:
    """One GPU of a node and the pod on it, None for free. `in_ledger`: Kueue's ledger knows it."""

    index: int
    pod: str | None = None
    job: str | None = None
    namespace: str | None = None
    in_ledger: bool = False
    phase: str = ""


@dataclass(frozen=True, slots=True)
class NodeShown:
    """A node and its GPUs."""

    name: str
    slots: tuple[Slot, ...]


@dataclass(frozen=True, slots=True)
class Unplaced:
    """A pod that asks for GPUs and sits on no node; `reason` is the scheduler's.

    One that gates keep from the scheduler has the phase SchedulingGated and no reason: it waits.
    """

    pod: str
    job: str
    namespace: str
    phase: str
    reason: str


@dataclass(frozen=True, slots=True)
class Picture:
    """Everything, each list in a fixed order, so that equal pictures are equal."""

    queues: tuple[Ledger, ...] = ()
    unqueued: tuple[Stray, ...] = ()
    nodes: tuple[NodeShown, ...] = ()
    unplaced: tuple[Unplaced, ...] = ()
