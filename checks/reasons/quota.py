"""Whether a Workload fits into its ClusterQueue: group by group, flavor by flavor, as in Kueue.

A resource group is served by one flavor. The first thing that keeps every flavor out is the cause:
the flavor itself, a quota that is smaller than the request, or a quota that others hold.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from fractions import Fraction

from checks.kit.paths import dig_list, dig_text
from checks.kit.quantities import show_amount
from checks.reasons.cause import Cause, Detail, Explanation
from checks.reasons.flavors import FlavorObstacle, flavor_obstacle
from checks.reasons.preempting import makes_room, who_stays
from checks.reasons.room import Room, held, room_of
from checks.reasons.words import detail, kueue_says, names_of, quoting
from checks.scene import Scene
from checks.training import Submitted
from checks.watching import QueueNow, WorkloadNow
from provision.message import say


@dataclass(frozen=True, slots=True)
class _Try:
    """One flavor tried for one group: what it asks, and the room for each resource."""

    flavor: str
    asked: Mapping[str, Fraction]
    rooms: Mapping[str, Room]

    def too_large(self) -> list[str]:
        """Resources of which the queue can never have as much."""
        mosts = {resource: room.most for resource, room in self.rooms.items()}
        return [r for r, most in mosts.items() if most is not None and self.asked[r] > most]

    def short(self) -> list[str]:
        """Resources of which not as much is free now."""
        return [r for r, room in self.rooms.items() if self.asked[r] > room.free]


def explain_room(
    scene: Scene, job: Submitted | None, workload: WorkloadNow, queue: QueueNow
) -> Explanation | None:
    """Why the Workload does not fit into the ClusterQueue now; None when it does."""
    uncovered = _not_covered(workload, queue)
    if uncovered is not None:
        return uncovered
    for group in dig_list(queue.raw, "spec", "resourceGroups"):
        found = _explain_group(scene, job, workload, queue, group)
        if found is not None:
            return found
    return None


def _explain_group(
    scene: Scene, job: Submitted | None, workload: WorkloadNow, queue: QueueNow, group: object
) -> Explanation | None:
    covered = [c for c in dig_list(group, "coveredResources") if isinstance(c, str)]
    asked = {name: workload.amounts[name] for name in covered if workload.amounts.get(name)}
    if not asked:
        return None
    says = kueue_says(workload)
    flavors = [dig_text(one, "name") for one in dig_list(group, "flavors")]
    obstacles = {one: flavor_obstacle(scene, job, one, says) for one in flavors if job is not None}
    open_ones = [one for one in flavors if obstacles.get(one) is None]
    if not open_ones:
        return _no_flavor([one for one in obstacles.values() if one])
    tries = [
        _Try(one, asked, {name: room_of(scene, queue, one, name) for name in asked})
        for one in open_ones
    ]
    possible = [one for one in tries if not one.too_large()]
    if not possible:
        return _never_fits(workload, tries[0])
    if any(not one.short() for one in possible):
        return None
    return _quota_short(workload, queue, possible[0])


def _no_flavor(obstacles: list[FlavorObstacle]) -> Explanation:
    found = Explanation(Cause.NO_FLAVOR, obstacles[0].what, move=obstacles[0].move)
    return found.told(*(detail("also", one.what) for one in obstacles[1:]))


def _not_covered(workload: WorkloadNow, queue: QueueNow) -> Explanation | None:
    missing = [r for r, amount in workload.amounts.items() if amount and r not in queue.quota]
    if not missing:
        return None
    what = say(
        "it asks {resource}, which ClusterQueue {queue} does not cover",
        resource=missing[0],
        queue=queue.name,
    )
    found = Explanation(Cause.NOT_COVERED, quoting(what, kueue_says(workload)))
    return found.told(detail("missing", names_of(missing)), detail("there", names_of(queue.quota)))


def _never_fits(workload: WorkloadNow, tried: _Try) -> Explanation:
    resource = tried.too_large()[0]
    what = say(
        "it asks {amount} of {resource} and never fits: the quota is {quota}",
        amount=show_amount(tried.asked[resource]),
        resource=resource,
        quota=show_amount(tried.rooms[resource].most or Fraction(0)),
    )
    return Explanation(Cause.NEVER_FITS, quoting(what, kueue_says(workload)))


def _quota_short(workload: WorkloadNow, queue: QueueNow, tried: _Try) -> Explanation:
    resource = tried.short()[0]
    room = tried.rooms[resource]
    quota = room.most if room.most is not None else queue.quota.get(resource, Fraction(0))
    what = say(
        "it asks {amount} of {resource}; free: {free} of {quota}, held by {holders}",
        amount=show_amount(tried.asked[resource]),
        resource=resource,
        free=show_amount(max(room.free, Fraction(0))),
        quota=show_amount(quota),
        holders=names_of(_owner(one) for one in room.holders),
    )
    what = quoting(what, kueue_says(workload))
    is_releasing = any(other.is_deleting for other in room.holders)
    is_preempting = all(
        makes_room(tried.rooms[name].holders, workload, queue, name) for name in tried.short()
    )
    found = Explanation(Cause.QUOTA, what, is_coming=is_releasing or is_preempting)
    holders = [one for name in tried.short() for one in tried.rooms[name].holders]
    stays = None if is_preempting else who_stays(holders, workload, queue)
    return found.told(stays, *_figures(tried, tried.short()), _cohort(queue))


def _figures(tried: _Try, short: list[str]) -> list[Detail]:
    holders: dict[str, list[str]] = {}
    for resource in short:
        for one in tried.rooms[resource].holders:
            amount = show_amount(held((one,), tried.flavor, resource))
            holders.setdefault(_owner(one), []).append(f"{amount} {resource}")
    missing = [
        f"{show_amount(tried.asked[r] - max(tried.rooms[r].free, Fraction(0)))} {r}" for r in short
    ]
    return [
        detail("asked", ", ".join(f"{show_amount(tried.asked[r])} {r}" for r in short)),
        detail("missing", ", ".join(missing)),
        *(
            detail("holders", f"{name}: {', '.join(what)}")
            for name, what in list(holders.items())[:6]
        ),
    ]


def _cohort(queue: QueueNow) -> Detail | None:
    if not queue.cohort:
        return None
    return detail("also", say("the queue borrows in the cohort {cohort}", cohort=queue.cohort))


def _owner(workload: WorkloadNow) -> str:
    return workload.owner_name or workload.name
