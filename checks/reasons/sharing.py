"""Whose turn it is where use decides: LocalQueues, what they have used, and their weights."""

from __future__ import annotations

from checks.kit.paths import dig_map
from checks.kit.quantities import BadQuantity, parse_quantity
from checks.reasons.cause import Detail
from checks.reasons.line import is_by_use
from checks.reasons.words import detail
from checks.scene import Scene
from checks.watching import LocalQueueNow, QueueNow, WorkloadNow
from provision.message import say

_STATUS = ("status", "fairSharing", "admissionFairSharingStatus", "consumedResources")


def turn_by_use(scene: Scene, workload: WorkloadNow, queue: QueueNow) -> Detail | None:
    """Between which LocalQueues use decides, and by which numbers; None where it does not."""
    rivals = [one for one in scene.local_queues() if one.cluster_queue == queue.name]
    if not is_by_use(queue) or len(rivals) < 2:
        return None
    devices = [name for name in workload.amounts if "/" in name]
    resource = (devices or sorted(workload.amounts) or [""])[0]
    told = say(
        "the LocalQueue that used less for its weight goes first. {resource} used/weight: {uses}",
        resource=resource,
        uses="; ".join(_use(one, resource, rivals) for one in rivals),
    )
    return detail("turn", told)


def _use(local: LocalQueueNow, resource: str, rivals: list[LocalQueueNow]) -> str:
    is_alone = all(one is local or one.name != local.name for one in rivals)
    name = local.name if is_alone else f"{local.namespace}/{local.name}"
    used = _rounded(dig_map(local.raw, *_STATUS).get(resource, 0))
    weight = _rounded(dig_map(local.raw, "spec", "fairSharing").get("weight", 1))
    return f"{name} {used}/{weight}"


def _rounded(value: object) -> str:
    try:
        return f"{float(parse_quantity(value)):.3g}"
    except (BadQuantity, OverflowError):
        return "?"
