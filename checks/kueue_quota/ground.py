"""Whether what steps 1 to 3 built still stands, and the queues are open."""

from __future__ import annotations

from functools import partial

from checks.judging import ground
from checks.judging.ground import Layer, require_layers
from checks.kueue_quota.facts import Facts
from checks.kueue_quota.wanted import want_cluster_queue, want_flavor, want_local_queue
from checks.scene import Scene
from checks.watching import LocalQueueNow, QueueNow
from provision.message import say


def require_ground(scene: Scene, lab: Facts, *, upto: int) -> None:
    """The objects of steps 1 to `upto` (at most 3) are right and open; Mismatch names the step."""
    layers = (
        Layer(1, want_flavor(lab)),
        Layer(2, want_cluster_queue(lab), _open_cluster_queue),
        Layer(3, want_local_queue(lab), ground.require_open_local_queue),
    )
    require_layers(scene, layers[:upto])


def require_open_cluster_queue(scene: Scene, lab: Facts) -> QueueNow:
    """The ClusterQueue is Active. It must exist."""
    return _open_cluster_queue(scene, want_cluster_queue(lab))


def require_open_local_queue(scene: Scene, lab: Facts) -> LocalQueueNow:
    """The LocalQueue is Active. It must exist and lead to the lab's ClusterQueue."""
    return ground.require_open_local_queue(scene, want_local_queue(lab))


_open_cluster_queue = partial(
    ground.require_open_cluster_queue, flavor=say("apply the ResourceFlavor of step 1")
)
