"""Whether the tenant's ClusterQueue had its admission mode from the beginning.

Kueue takes the order of a line when the ClusterQueue is made, or when Kueue itself starts. The
recorder keeps the mode: when it saw the ClusterQueue come with another one, the mode came later.
All else is left untold.
"""

from __future__ import annotations

from collections.abc import Sequence

from checks.gpu_preemption.facts import Facts
from checks.gpu_preemption.judge_tenant import made_anew
from checks.gpu_preemption.wanted import want_cluster_queue
from checks.history import Change, History, seconds
from checks.kit.cluster import Object
from checks.kit.expect import mismatch
from checks.kit.paths import dig_text
from checks.kit.witness import in_cluster
from checks.scene import Scene
from provision.message import say


def require_mode_from_start(scene: Scene, lab: Facts, live: Object) -> None:
    """Nothing on record shows that the ClusterQueue was made without its mode."""
    changes = scene.history.of("ClusterQueue", uid=dig_text(live, "metadata", "uid"))
    if not changes or changes[0].what != "added" or changes[0].is_late:
        return
    if _mode(changes[0]) in ("", lab.tenant.mode) or _was_taken(scene.history, lab, changes):
        return
    raise mismatch(
        in_cluster(want_cluster_queue(lab), "spec.admissionScope.admissionMode"),
        say("there when the ClusterQueue was made"),
        say("added later"),
        made_anew(lab),
    )


def _was_taken(history: History, lab: Facts, changes: Sequence[Change]) -> bool:
    """The place was started after the mode had come: Kueue has read it since."""
    brought = next((one for one in changes if _mode(one) == lab.tenant.mode), None)
    if brought is None:
        return False
    moment = seconds(brought.after if brought.is_late and brought.after else brought.seen)
    return any(seconds(start.seen) > moment for start in history.starts)


def _mode(change: Change) -> str:
    """Empty when it was written down before modes were kept."""
    return dig_text(change.facts, "mode")
