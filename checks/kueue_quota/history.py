"""In what order the Jobs of this lab left and came, and what the ledger said meanwhile."""

from __future__ import annotations

from checks.history import Change, seconds
from checks.judging.past import holder_at, last_reservation, waiting_changes
from checks.kit.expect import mismatch
from checks.kueue_quota.facts import Facts
from checks.scene import Scene
from checks.watching import WorkloadNow
from provision.message import say


def find_leaving(scene: Scene, lab: Facts, workload: WorkloadNow) -> Change | None:
    """The deletion of the first Job that made room; None when the recorder did not see it.

    A Mismatch when the first Job still held its quota when the waiting one was let in: then the
    room came from elsewhere, such as a quota that was raised for a moment.
    """
    waits = waiting_changes(scene.history, workload.uid)
    entry = last_reservation(scene.history.of("Workload", uid=workload.uid))
    leaving = [
        c
        for c in scene.history.of("Job", name=lab.first_job.name)
        if waits and c.version > waits[0].version and (c.is_gone or c.deleting)
    ]
    if entry is None or not leaving:
        return None
    before = [c for c in leaving if c.version < entry.version]
    if before:
        return before[-1]
    if holder_at(scene.history, lab.first_job.name, entry.version) is None:
        return None
    raise mismatch(
        say("the recorder's history of Workload {workload}", workload=workload.name),
        say("let in after {first} was deleted", first=lab.first_job.name),
        say(
            "let in at {entry}, while {first} held its quota; {first} was deleted at {left}",
            entry=entry.seen,
            first=lab.first_job.name,
            left=leaving[0].seen,
        ),
        PLAY_AGAIN,
    )


def books_while_waiting(
    scene: Scene, lab: Facts, workload: WorkloadNow, moment: float
) -> Change | None:
    """The ClusterQueue at a time (seconds since the epoch) at which the Workload waited.

    None when it did not, or when the recorder did not look.
    """
    waits = waiting_changes(scene.history, workload.uid)
    if not waits or moment < seconds(waits[0].seen):
        return None
    return scene.history.when(moment, "ClusterQueue", lab.cluster_queue.name)


PLAY_AGAIN = say("play it again: make reset, and steps 4 and 5 before this one")
