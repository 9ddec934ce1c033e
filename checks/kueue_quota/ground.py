"""Whether queues are open, and whether what earlier steps built still stands."""

from __future__ import annotations

from dataclasses import replace

from checks.kit.expect import OnItsWay, mismatch, plain
from checks.kit.witness import find_fault, in_cluster
from checks.kueue_quota.facts import Facts
from checks.kueue_quota.wanted import want_cluster_queue, want_flavor, want_local_queue
from checks.outcome import CannotTell, Finding, Mismatch
from checks.scene import Scene
from checks.watching import LocalQueueNow, QueueNow
from provision.message import Message, say


def require_ground(scene: Scene, lab: Facts, *, upto: int) -> None:
    """The objects of steps 1 to `upto` (at most 3) are right and open; Mismatch names the step."""
    wants = (want_flavor, want_cluster_queue, want_local_queue)
    opens = {2: require_open_cluster_queue, 3: require_open_local_queue}
    for step in range(1, upto + 1):
        finding = find_fault(scene.cluster, wants[step - 1](lab))
        if finding is not None:
            raise Mismatch(go_back(finding, step))
        if step in opens:
            try:
                opens[step](scene, lab)
            except OnItsWay:
                raise
            except Mismatch as error:
                raise Mismatch(go_back(error.finding, step)) from None


def go_back(finding: Finding, step: int) -> Finding:
    """The same finding, its next move naming the step that it belongs to."""
    move = say(
        "this belongs to step {step}: go back with make step STEP={step}; {move}",
        step=step,
        move=finding.next_move,
    )
    return replace(finding, next_move=move)


def require_open_cluster_queue(scene: Scene, lab: Facts) -> QueueNow:
    """The ClusterQueue is Active. It must exist."""
    queue = scene.cluster_queue(lab.cluster_queue.name)
    if queue is None:
        raise Mismatch(_gone(scene, lab))
    active = queue.conditions.get("Active")
    if active is not None and active.is_true and active.generation == queue.generation:
        return queue
    if queue.is_deleting:
        scene.cluster.require_kind_stays(lab.cluster_queue_kind)
    where = in_cluster(want_cluster_queue(lab), "status.conditions[Active]")
    missing = [name for name in queue.flavors if scene.flavor_labels(name) is None]
    is_stale = active is None or active.generation != queue.generation
    if is_stale or (active and active.reason == "FlavorNotFound" and not missing):
        raise _kueue_owes(where, queue)
    if missing:
        found = say("False: there is no ResourceFlavor {name}", name=", ".join(missing))
        raise mismatch(where, plain("True"), found, say("apply the ResourceFlavor of step 1"))
    raise mismatch(where, plain("True"), _state(queue), say("read the condition's message"))


def require_open_local_queue(scene: Scene, lab: Facts) -> LocalQueueNow:
    """The LocalQueue is Active. It must exist and lead to the lab's ClusterQueue."""
    local = scene.local_queue(lab.local_queue.name)
    if local is None:
        raise Mismatch(_gone(scene, lab))
    active = local.conditions.get("Active")
    if active is not None and active.is_true and active.generation == local.generation:
        return local
    where = in_cluster(want_local_queue(lab), "status.conditions[Active]")
    is_stale = active is None or active.generation != local.generation
    queue = scene.cluster_queue(local.cluster_queue)
    if is_stale or (queue is not None and queue.is_true("Active") and local.stop_policy == "None"):
        raise _kueue_owes(where, local)
    raise mismatch(where, plain("True"), _state(local), say("read the condition's message"))


def kueue_is_idle(what: Message) -> CannotTell:
    """What it means when Kueue does not do what it does within a second when it runs."""
    return CannotTell(
        say("Kueue does not act: {what}", what=what),
        next_move=say("see make status and make logs NAME=kueue"),
    )


def _kueue_owes(where: Message, queue: QueueNow | LocalQueueNow) -> OnItsWay:
    found = _state(queue)
    what = say("it has not looked at {name} since its last change", name=queue.name)
    finding = Finding(where, plain("True"), found, say("wait a second and check again"))
    return OnItsWay(finding, overdue=kueue_is_idle(what))


def _state(queue: QueueNow | LocalQueueNow) -> Message:
    active = queue.conditions.get("Active")
    if active is None:
        return say("no such condition yet")
    return plain(f"{active.status}: {active.reason}: {active.message}")


def _gone(scene: Scene, lab: Facts) -> Finding:
    for want in (want_cluster_queue, want_local_queue):
        finding = find_fault(scene.cluster, want(lab))
        if finding is not None:
            return finding
    raise LookupError("both queues are there")
