"""What Kueue says about a Workload, and whether a learner's text is about just that one."""

from __future__ import annotations

import json

from checks.judging.words import Said
from checks.scene import Scene
from checks.watching import WorkloadNow


def what_was_said(scene: Scene, workload: WorkloadNow) -> tuple[Said, ...]:
    """Reason and message of QuotaReserved=False, now and in the events that are left.

    A Workload that equals one already waiting gets no condition of its own (Kueue's scheduling
    equivalence): then the words are those of the others in its queue.
    """
    own = _conditions(workload) + [
        Said(event.reason, event.message)
        for event in scene.events_of(workload.uid)
        if event.type == "Warning"
    ]
    if own:
        return tuple(own)
    twins = [w for w in scene.workloads() if w.queue == workload.queue and not w.holds_quota]
    return tuple(said for twin in twins for said in _conditions(twin))


def whose_text(scene: Scene, workload: WorkloadNow, text: str) -> str:
    """The other Workload that a text is about: it is named there, and this one is not.

    A twin speaks for a Workload about which Kueue says nothing itself. Empty when it is about none.
    """
    is_silent = "QuotaReserved" not in workload.conditions
    if is_silent or workload.name in text or workload.owner_name in text:
        return ""
    others = [one.name for one in scene.workloads() if one.uid != workload.uid]
    return next((name for name in sorted(others) if name in text), "")


def without_others(scene: Scene, workload: WorkloadNow, text: str) -> str:
    """A text that names this Workload, without the lines that name another one (lists, events)."""
    others = [one.name for one in scene.workloads() if one.uid != workload.uid]
    if workload.name not in text or not any(name in text for name in others):
        return text
    lines = text.split("\n")
    return "\n".join("" if any(name in line for name in others) else line for line in lines)


def others_named(scene: Scene, uid: str, text: str) -> tuple[str, ...]:
    """Whose Workloads a text names beside that of this uid, in order; by the names of the owners.

    Whoever keeps what kubectl prints of all Workloads has those of others in it.
    """
    others = [one for one in scene.workloads() if one.uid != uid and one.name in text]
    return tuple(sorted({one.owner_name or one.name for one in others}))


def own_words(scene: Scene, workload: WorkloadNow) -> str:
    """All that the Workload's status and its events say, in one text."""
    events = [f"{event.reason} {event.message}" for event in scene.events_of(workload.uid)]
    return "\n".join([json.dumps(workload.raw.get("status", {})), *events])


def _conditions(workload: WorkloadNow) -> list[Said]:
    condition = workload.conditions.get("QuotaReserved")
    if condition is None or condition.is_true:
        return []
    return [Said(condition.reason, condition.message)]
