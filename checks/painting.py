"""Drawing the picture of the queue from live objects; nothing is asked here."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from fractions import Fraction
from typing import TypeVar

from checks.belonging import Belonging
from checks.kit.quantities import show_amount
from checks.picture import (
    Holding,
    Ledger,
    NodeShown,
    Picture,
    Resource,
    Seen,
    Slot,
    Stray,
    Unplaced,
    Waiting,
)
from checks.reasons.line import is_by_use, line_of, order_of, twin_among
from checks.reasons.turns import twin_says
from checks.things import Thing
from checks.watching import NodeNow, PodNow, QueueNow, WorkloadNow
from provision.message import Message, say

T = TypeVar("T", bound=Thing)
MOST_SLOTS = 64  # GPUs of one node that are drawn; a pod may name any number
_NONE = Fraction(0)
_BYTES = ((1 << 40, "Ti"), (1 << 30, "Gi"), (1 << 20, "Mi"), (1 << 10, "Ki"))


class Painter:
    """Draws one picture after another; a pod keeps its GPU from one to the next."""

    def __init__(self, gpu: str) -> None:
        """`gpu` is the resource that is shown."""
        self._gpu = gpu
        self._seats: Mapping[str, tuple[int, ...]] = {}

    def draw(self, seen: Seen) -> Picture:
        """The picture of these objects."""
        sitting = [pod for pod in seen.pods if pod.node and self._gpus(pod) and not pod.has_ended]
        self._seats = seat(sitting, {pod.uid: self._gpus(pod) for pod in sitting}, self._seats)
        whose = Belonging(seen.workloads)
        queues = tuple(_ledger(queue, seen, whose) for queue in _named(seen.cluster_queues))
        told = {one.uid for queue in queues for one in queue.holding}
        told |= {one.uid for queue in queues for one in queue.waiting}
        return Picture(
            queues,
            tuple(_stray(one) for one in _named(seen.workloads) if _is_stray(one, told)),
            tuple(self._node(node, sitting, whose) for node in _named(seen.nodes)),
            tuple(
                _unplaced(pod, whose.workload_of(pod))
                for pod in _named(seen.pods)
                if self._is_unplaced(pod)
            ),
        )

    def _gpus(self, pod: PodNow) -> int:
        return int(pod.asked.get(self._gpu, Fraction(0)))

    def _node(self, node: NodeNow, sitting: Iterable[PodNow], whose: Belonging) -> NodeShown:
        taken = {
            index: _slot(index, pod, whose.workload_of(pod))
            for pod in sitting
            if pod.node == node.name
            for index in self._seats[pod.uid]
        }
        gpus = int(node.allocatable.get(self._gpu, Fraction(0)))
        count = max([min(gpus, MOST_SLOTS), *(index + 1 for index in taken)])
        slots = tuple(taken.get(index, Slot(index)) for index in range(count))
        return NodeShown(node.name, slots)

    def _is_unplaced(self, pod: PodNow) -> bool:
        return not pod.node and bool(self._gpus(pod)) and not pod.has_ended


def _slot(index: int, pod: PodNow, workload: WorkloadNow | None) -> Slot:
    job = (workload.owner_name if workload else "") or pod.job_name or None
    is_known = workload is not None and workload.holds_quota
    return Slot(index, pod.name, job, pod.namespace, is_known, _phase(pod))


def seat(
    pods: Iterable[PodNow], gpus: Mapping[str, int], before: Mapping[str, tuple[int, ...]]
) -> dict[str, tuple[int, ...]]:
    """Indices of GPUs by the pods' uids: kept by who has some, else the lowest that are free.

    Kubernetes counts devices and does not say which is whose; `gpus` is how many each pod takes, of
    which a node has MOST_SLOTS at most here.
    """
    ordered = sorted(pods, key=lambda pod: (pod.placed or pod.created, pod.created, pod.name))
    seats = {pod.uid: before[pod.uid] for pod in ordered if pod.uid in before}
    taken = {(pod.node, index) for pod in ordered for index in seats.get(pod.uid, ())}
    for pod in ordered:
        if pod.uid not in seats:
            free = [index for index in range(MOST_SLOTS) if (pod.node, index) not in taken]
            seats[pod.uid] = tuple(free[: gpus[pod.uid]])
            taken |= {(pod.node, index) for index in seats[pod.uid]}
    return seats


def _ledger(queue: QueueNow, seen: Seen, whose: Belonging) -> Ledger:
    active = queue.conditions.get("Active")
    holding = [w for w in seen.workloads if w.holds_quota and w.cluster_queue == queue.name]
    line = line_of(queue.name, seen.local_queues, seen.workloads)
    return Ledger(
        name=queue.name,
        is_active=queue.is_true("Active"),
        reason="" if active is None or active.is_true else active.message or active.reason,
        resources=tuple(
            Resource(name, _spell(name, nominal), _spell(name, queue.reserved.get(name, _NONE)))
            for name, nominal in queue.quota.items()
        ),
        holding=tuple(_holding(one) for one in sorted(holding, key=_reserved_at)),
        waiting=tuple(_waiting(one, place, seen, whose) for place, one in _places(line, queue)),
        is_by_use=is_by_use(queue),
    )


def _places(line: list[WorkloadNow], queue: QueueNow) -> Iterable[tuple[int, WorkloadNow]]:
    """Who waits with the place in line; each LocalQueue counts for itself where use decides."""
    if not is_by_use(queue):
        return enumerate(line, 1)
    lines: dict[tuple[str, str], list[WorkloadNow]] = {}
    for one in line:
        lines.setdefault((one.namespace, one.queue), []).append(one)
    return [place for _, own in sorted(lines.items()) for place in enumerate(own, 1)]


def _reserved_at(workload: WorkloadNow) -> tuple[str, str, str]:
    return workload.conditions["QuotaReserved"].since, workload.created, workload.name


def _holding(workload: WorkloadNow) -> Holding:
    kind = "Admitted" if workload.is_admitted else "QuotaReserved"
    return Holding(
        *(workload.name, workload.owner_name, workload.namespace, workload.uid),
        state="admitted" if workload.is_admitted else "reserved",
        amounts=_amounts(workload),
        since=workload.conditions[kind].since,
        priority=workload.priority,
        priority_class=workload.priority_class,
        queue=workload.queue,
    )


def _waiting(workload: WorkloadNow, position: int, seen: Seen, whose: Belonging) -> Waiting:
    own = workload.conditions.get("QuotaReserved")
    twin = twin_among(seen.workloads, workload)
    message: str | Message = "" if own is None else own.message
    return Waiting(
        *(workload.name, workload.owner_name, workload.namespace, workload.uid),
        position=position,
        amounts=_amounts(workload),
        reason="" if own is None else own.reason,
        message=message if twin is None else twin_says(twin),
        since=order_of(workload)[1],
        priority=workload.priority,
        priority_class=workload.priority_class,
        evicted=_evicted(workload, whose),
        queue=workload.queue,
    )


def _is_stray(workload: WorkloadNow, told: set[str]) -> bool:
    return not (workload.is_finished or workload.is_deleting or workload.uid in told)


def _stray(workload: WorkloadNow) -> Stray:
    own = workload.conditions.get("QuotaReserved")
    # Of one without a queue Kueue says that the LocalQueue of no name is not there.
    words = "" if own is None or not workload.queue else own.message or own.reason
    name, job = workload.name, workload.owner_name
    rank = workload.priority, workload.priority_class
    return Stray(name, job, workload.namespace, workload.queue, words, *rank)


def _evicted(workload: WorkloadNow, whose: Belonging) -> str | Message:
    condition = workload.conditions.get("Evicted")
    if condition is None or not condition.is_true:
        return ""
    winner = whose.preemptor_of(workload)
    if winner is None:
        return f"{condition.reason}: {condition.message}"
    return say(
        "{reason}: it had to make room for {name}",
        reason=condition.reason,
        name=winner.owner_name or winner.name,
    )


def _unplaced(pod: PodNow, workload: WorkloadNow | None) -> Unplaced:
    said = None if pod.gates else pod.conditions.get("PodScheduled")
    reason = "" if said is None or said.is_true else said.message or said.reason
    job = (workload.owner_name if workload else "") or pod.job_name
    return Unplaced(pod.name, job, pod.namespace, _phase(pod), reason)


def _phase(pod: PodNow) -> str:
    if pod.is_deleting:
        return "Terminating"
    return pod.trouble or ("SchedulingGated" if pod.gates and not pod.node else pod.phase)


def _amounts(workload: WorkloadNow) -> dict[str, str]:
    return {name: _spell(name, amount) for name, amount in workload.amounts.items()}


def _spell(name: str, amount: Fraction) -> str:
    """An amount as people write it: bytes in the largest unit that leaves no rest."""
    if name in ("memory", "ephemeral-storage") and amount:
        for size, unit in _BYTES:
            if amount % size == 0:
                return f"{amount // size}{unit}"
    return show_amount(amount)


def _named(things: Iterable[T]) -> list[T]:
    return sorted(things, key=lambda thing: (thing.namespace, thing.name))
