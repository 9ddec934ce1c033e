"""Whether queues are open, and whether what earlier steps built still stands."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass, replace

from checks.kit.expect import OnItsWay, mismatch, plain
from checks.kit.witness import Wanted, find_fault, in_cluster
from checks.outcome import CannotTell, Finding, Mismatch
from checks.scene import Scene
from checks.watching import LocalQueueNow, QueueNow
from provision.message import Message, say

Opened = QueueNow | LocalQueueNow
_FLAVOR = say("create that ResourceFlavor, or name one that exists in the ClusterQueue")


@dataclass(frozen=True, slots=True)
class Layer:
    """One object of the ground: what a step asked for, and, for a queue, that it must be open."""

    step: int
    wanted: Wanted
    opened: Callable[[Scene, Wanted], Opened] | None = None


def require_layers(scene: Scene, layers: Iterable[Layer]) -> None:
    """The objects of earlier steps are right, and the queues open; a Mismatch names the step."""
    for layer in layers:
        finding = find_fault(scene.cluster, layer.wanted)
        if finding is not None:
            raise Mismatch(go_back(finding, layer.step))
        if layer.opened is None:
            continue
        try:
            layer.opened(scene, layer.wanted)
        except OnItsWay:
            raise
        except Mismatch as error:
            raise Mismatch(go_back(error.finding, layer.step)) from None


def go_back(finding: Finding, step: int) -> Finding:
    """The same finding, its next move naming the step that it belongs to."""
    move = say(
        "this belongs to step {step}: go back with make step STEP={step}; {move}",
        step=step,
        move=finding.next_move,
    )
    return replace(finding, next_move=move)


def require_open_cluster_queue(
    scene: Scene, wanted: Wanted, *, flavor: Message = _FLAVOR
) -> QueueNow:
    """The ClusterQueue is Active. What it must say was asked before.

    `flavor` is the next move when a ResourceFlavor that it names is absent.
    """
    queue = scene.cluster_queue(wanted.name)
    if queue is None:
        raise _gone(scene, wanted)
    active = queue.conditions.get("Active")
    if active is not None and active.is_true and active.generation == queue.generation:
        return queue
    if queue.is_deleting:
        scene.cluster.require_kind_stays(wanted.kind)
    where = in_cluster(wanted, "status.conditions[Active]")
    missing = [name for name in queue.flavors if scene.flavor_labels(name) is None]
    is_stale = active is None or active.generation != queue.generation
    if is_stale or (active and active.reason == "FlavorNotFound" and not missing):
        raise _kueue_owes(where, queue)
    if missing:
        found = say("False: there is no ResourceFlavor {name}", name=", ".join(missing))
        raise mismatch(where, plain("True"), found, flavor)
    raise mismatch(where, plain("True"), _state(queue), say("read the condition's message"))


def require_open_local_queue(scene: Scene, wanted: Wanted) -> LocalQueueNow:
    """The LocalQueue is Active. What it must say was asked before."""
    local = scene.local_queue(wanted.name)
    if local is None:
        raise _gone(scene, wanted)
    active = local.conditions.get("Active")
    if active is not None and active.is_true and active.generation == local.generation:
        return local
    where = in_cluster(wanted, "status.conditions[Active]")
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


def _kueue_owes(where: Message, queue: Opened) -> OnItsWay:
    found = _state(queue)
    what = say("it has not looked at {name} since its last change", name=queue.name)
    finding = Finding(where, plain("True"), found, say("wait a second and check again"))
    return OnItsWay(finding, overdue=kueue_is_idle(what))


def _state(queue: Opened) -> Message:
    active = queue.conditions.get("Active")
    if active is None:
        return say("no such condition yet")
    return plain(f"{active.status}: {active.reason}: {active.message}")


def _gone(scene: Scene, wanted: Wanted) -> Exception:
    """It was there a moment ago, when its content was judged."""
    finding = find_fault(scene.cluster, wanted)
    return LookupError(wanted.title) if finding is None else Mismatch(finding)
