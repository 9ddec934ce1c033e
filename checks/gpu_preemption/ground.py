"""Whether the tenant of step 1 still stands, and its queues are open."""

from __future__ import annotations

from functools import partial

from checks.gpu_preemption.facts import Facts
from checks.gpu_preemption.wanted import want_cluster_queue, want_local_queue
from checks.judging import ground
from checks.judging.ground import Layer, require_layers
from checks.scene import Scene
from checks.watching import LocalQueueNow, QueueNow
from provision.message import say


def require_ground(scene: Scene, lab: Facts) -> None:
    """The tenant's ClusterQueue and LocalQueue are right and open; a Mismatch names step 1."""
    layers = (
        Layer(1, want_cluster_queue(lab), _open_cluster_queue),
        Layer(1, want_local_queue(lab), ground.require_open_local_queue),
    )
    require_layers(scene, layers)


def require_open_cluster_queue(scene: Scene, lab: Facts) -> QueueNow:
    """The ClusterQueue is Active. It must exist."""
    return _open_cluster_queue(scene, want_cluster_queue(lab))


def require_open_local_queue(scene: Scene, lab: Facts) -> LocalQueueNow:
    """The LocalQueue is Active. It must exist."""
    return ground.require_open_local_queue(scene, want_local_queue(lab))


_open_cluster_queue = partial(
    ground.require_open_cluster_queue,
    flavor=say("it was there from the start: make reset brings it back"),
)
