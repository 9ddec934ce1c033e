"""Which pods of the Deployment stood in the line while the high TrainJob held the GPUs.

A pod that was let in has no gate any more, and one that was replaced is gone, so the recorder is
asked as well. Of two equal Workloads Kueue gives only the first one a condition QuotaReserved: that
one has no quota is what counts, and that it came before the TrainJob left. What asks anything
beside GPUs waits for what the queue does not cover: such pods count only with one that asks no more
than GPUs, since a Deployment that is corrected makes new pods one by one.
"""

from __future__ import annotations

import sys
from collections.abc import Iterable
from dataclasses import dataclass

from checks.gpu_preemption.facts import Facts
from checks.history import Change, newest
from checks.judging.past import holder_at
from checks.scene import Scene
from checks.serving import DeploymentNow
from checks.watching import PodNow

_NOW = sys.maxsize


@dataclass(frozen=True, slots=True)
class Stand:
    """One pod's time in the line, in versions of the cluster: up to `end`, or up to now."""

    pod: str
    start: int
    end: int = _NOW
    is_alone: bool = True  # it asks for GPUs alone

    def holds(self, version: int) -> bool:
        """It stood there at that version."""
        return self.start <= version < self.end or self.end == version == _NOW


def stands_of(scene: Scene, lab: Facts, service: DeploymentNow) -> tuple[Stand, ...]:
    """The times of all pods of this Deployment that waited behind the high TrainJob."""
    live = {pod.uid: pod for pod in scene.pods_of(service) if not pod.is_deleting}
    names = {uid: pod.name for uid, pod in live.items()}
    for change in scene.history.of("Pod", owner=service.name):
        if change.created >= service.created:
            names.setdefault(change.uid, change.name)
    every = (_stand(scene, lab, uid, name, live.get(uid)) for uid, name in names.items())
    found = tuple(one for one in every if one is not None)
    return found if any(one.is_alone for one in found) else ()


def most_at_once(stands: Iterable[Stand]) -> int:
    """How many pods stood there at the same time, at most."""
    every = tuple(stands)
    return max((sum(one.holds(other.start) for one in every) for other in every), default=0)


def _stand(scene: Scene, lab: Facts, uid: str, name: str, pod: PodNow | None) -> Stand | None:
    changes = scene.history.of("Workload", owner=name, owner_uid=uid)
    high = lab.high_job.name
    for change in changes:
        if _waits(change) and _held_then(scene, high, change.version):
            later = (c.version for c in changes if c.version > change.version and not _waits(c))
            is_alone = change.amounts("amounts").keys() <= {lab.gpu}
            return Stand(name, change.version, next(later, _NOW), is_alone)
    workload = None if pod is None else scene.workload_of(pod)
    holder = scene.train_job(high)
    held = None if holder is None else scene.workload_of(holder)
    is_behind = held is not None and held.holds_quota
    return Stand(name, _NOW) if workload and workload.is_waiting and is_behind else None


def _held_then(scene: Scene, high: str, version: int) -> bool:
    """It held quota, and was not deleted yet: its Workload may outlive it by a moment."""
    job = newest(scene.history.of("TrainJob", name=high), version)
    is_there = job is not None and not job.is_gone and not job.deleting
    return is_there and holder_at(scene.history, high, version) is not None


def _waits(change: Change) -> bool:
    return bool(change.version) and not change.is_gone and not change.is_true("QuotaReserved")
