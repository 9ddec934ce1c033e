"""How much of a ClusterQueue's quota there is for a flavor's resource, and how much is free."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from fractions import Fraction

from checks.kit.paths import MISSING, dig, dig_list, dig_map, dig_text
from checks.kit.quantities import BadQuantity, parse_quantity, sum_amounts
from checks.scene import Scene
from checks.watching import QueueNow, WorkloadNow

_NONE = Fraction(0)


@dataclass(frozen=True, slots=True)
class Room:
    """`most` is what the queue can ever have (None: not known), `free` what is left of it now."""

    most: Fraction | None
    free: Fraction
    holders: tuple[WorkloadNow, ...]


def room_of(scene: Scene, queue: QueueNow, flavor: str, resource: str) -> Room:
    """The room for one resource of one flavor, with what a cohort lends."""
    nominal = _quota(queue, flavor, resource, "nominalQuota") or _NONE
    holders = _holders(scene, (queue,), flavor, resource)
    free = nominal - held(holders, flavor, resource)
    if not queue.cohort:
        return Room(nominal, free, holders)
    members = [one for one in scene.cluster_queues() if one.cohort == queue.cohort]
    others = [one for one in members if one.name != queue.name]
    limit = _quota(queue, flavor, resource, "borrowingLimit")
    lent = sum((_lent(one, flavor, resource) for one in others), _NONE)
    borrowed = lent if limit is None else min(lent, limit)
    total = sum((_quota(one, flavor, resource, "nominalQuota") or _NONE for one in members), _NONE)
    holders = _holders(scene, members, flavor, resource)
    free = min(free + borrowed, total - held(holders, flavor, resource))
    is_known = not scene.has_cohort_object(queue.cohort)
    return Room(nominal + borrowed if is_known else None, free, holders)


def held(workloads: Iterable[WorkloadNow], flavor: str, resource: str) -> Fraction:
    """What these Workloads hold of one resource of one flavor."""
    total = _NONE
    for workload in workloads:
        for item in dig_list(workload.raw, "status", "admission", "podSetAssignments"):
            if dig_text(item, "flavors", resource) in ("", flavor):
                total += sum_amounts([dig_map(item, "resourceUsage")]).get(resource, _NONE)
    return total


def _holders(
    scene: Scene, queues: Iterable[QueueNow], flavor: str, resource: str
) -> tuple[WorkloadNow, ...]:
    workloads = [workload for queue in queues for workload in scene.held(queue.name)]
    return tuple(one for one in workloads if held((one,), flavor, resource))


def _lent(queue: QueueNow, flavor: str, resource: str) -> Fraction:
    limit = _quota(queue, flavor, resource, "lendingLimit")
    return limit if limit is not None else _quota(queue, flavor, resource, "nominalQuota") or _NONE


def _quota(queue: QueueNow, flavor: str, resource: str, field: str) -> Fraction | None:
    for group in dig_list(queue.raw, "spec", "resourceGroups"):
        for one in dig_list(group, "flavors"):
            if dig_text(one, "name") != flavor:
                continue
            for item in dig_list(one, "resources"):
                value = dig(item, field)
                if dig_text(item, "name") == resource and value not in (MISSING, None):
                    try:
                        return parse_quantity(value)
                    except BadQuantity:
                        return None
    return None
