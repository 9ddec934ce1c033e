"""What the API still tells about the past: that a Job waited before it was admitted."""

from __future__ import annotations

from checks.kit.proof import seconds_of
from checks.scene import Scene
from checks.watching import WorkloadNow

# Kueue admits what fits within a second; a longer gap without events left is a wait.
_CLEAR_GAP = 5.0


def waited_since(scene: Scene, workload: WorkloadNow) -> str:
    """Since when an admitted Workload had waited, RFC 3339; empty when nothing proves it.

    Kueue writes a Warning event when a Workload does not fit (the API keeps it for about an hour).
    Without events, a clear gap between creation and reservation proves it as well.
    """
    reserved = workload.conditions.get("QuotaReserved")
    if reserved is None or not reserved.is_true:
        return ""
    for event in scene.events_of(workload.uid):
        is_before = seconds_of(event.time) <= seconds_of(reserved.since) + 1
        if event.type == "Warning" and is_before:
            return event.time
    gap = seconds_of(reserved.since) - seconds_of(workload.created)
    return workload.created if gap >= _CLEAR_GAP else ""
