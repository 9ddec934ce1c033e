"""What is known of a Workload's past: that it waited, and since when it has its quota.

Two sources: the recorder's history, and where it has nothing, what the API itself still tells.
"""

from __future__ import annotations

from dataclasses import dataclass

from checks.history import Change, History, newest
from checks.kit.proof import seconds_of
from checks.scene import Scene
from checks.watching import WorkloadNow
from provision.message import Message, say

# Kueue admits what fits within a second; a longer gap without events left is a wait.
_CLEAR_GAP = 5.0


@dataclass(frozen=True, slots=True)
class Wait:
    """Since when a Workload had waited before it was admitted, and what that rests on."""

    since: str
    source: Message

    @property
    def remark(self) -> Message | None:
        """Worth telling when the recorder did not see it."""
        if self.source is RECORDER:
            return None
        return say(
            "the recorder did not see that it waited: this rests on {source}", source=self.source
        )


RECORDER = say("the recorder's history")
EVENTS = say("the events that the API still has")
TIMES = say("the Workload's own times")


def find_wait(scene: Scene, workload: WorkloadNow) -> Wait | None:
    """The wait of an admitted Workload before its admission; None when nothing proves one.

    Kueue writes a Warning event when a Workload does not fit (the API keeps it for about an hour).
    Without events, a clear gap between creation and reservation proves it as well.
    """
    reserved = workload.conditions.get("QuotaReserved")
    if reserved is None or not reserved.is_true:
        return None
    seen = waiting_changes(scene.history, workload.uid)
    if seen:
        condition = seen[0].condition("QuotaReserved")
        return Wait(condition.since if condition else seen[0].seen, RECORDER)
    for event in scene.events_of(workload.uid):
        is_before = seconds_of(event.time) <= seconds_of(reserved.since) + 1
        if event.type == "Warning" and is_before:
            return Wait(event.time, EVENTS)
    gap = seconds_of(reserved.since) - seconds_of(workload.created)
    return Wait(workload.created, TIMES) if gap >= _CLEAR_GAP else None


def waiting_changes(history: History, uid: str) -> tuple[Change, ...]:
    """A Workload while it had no quota and Kueue said so, up to its last reservation."""
    changes = history.of("Workload", uid=uid)
    last = last_reservation(changes)
    if last is None:
        return ()
    return tuple(
        change
        for change in changes
        if change.version < last.version and _is_refused(change) and not change.is_gone
    )


def last_reservation(changes: tuple[Change, ...]) -> Change | None:
    """The change that gave a Workload the quota which it has since then."""
    entry = None
    for change in changes:
        if not change.is_true("QuotaReserved"):
            entry = None
        elif entry is None:
            entry = change
    return entry if entry is not None and entry.version else None


def holder_at(history: History, owner: str, version: int) -> Change | None:
    """The Workload of an owner of that name that surely held quota at a version of the cluster.

    When the deletion of one went unseen, nobody knows until when it did.
    """
    changes = history.of("Workload", owner=owner)
    unsure = {change.uid for change in changes if change.is_gone and not change.version}
    then = newest(changes, version)
    return then if then is not None and then.holds_quota and then.uid not in unsure else None


def _is_refused(change: Change) -> bool:
    condition = change.condition("QuotaReserved")
    return condition is not None and condition.status == "False"
