"""That a Workload had to make room for another one: told by itself, by the recorder, by events.

Its conditions Evicted and Preempted are True until it gets quota again; then they say what was only
after "Previously", and no longer with which reason (Kueue: pkg/workload/workload.go). So the past
is asked of the recorder's history first, then of status.schedulingStats and the events.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from checks.history import History
from checks.kit.paths import dig_list, dig_text
from checks.scene import Scene
from checks.things import Condition
from checks.watching import WorkloadNow
from provision.message import Message, say

CONDITIONS = say("the conditions of the Workload")
RECORDER = say("the recorder's history")
EVENTS = say("schedulingStats of the Workload and the events that the API still has")
COUNTED = say("schedulingStats of the Workload and what its conditions say of before")
_EVICTED, _PREEMPTED = "Evicted", "Preempted"


@dataclass(frozen=True, slots=True)
class Preemption:
    """One time that a Workload had to leave.

    `evicted` and `preempted` are the reasons of the conditions of that name; the second is empty
    when only counts and events are left, which do not tell it. `message` is what both said, `since`
    when it was, or when it was over.
    """

    evicted: str
    preempted: str
    message: str
    since: str
    source: Message

    @property
    def remark(self) -> Message | None:
        """Worth telling when the Workload does not say it itself any more."""
        if self.source is CONDITIONS:
            return None
        return say(
            "its conditions say no more that it had to leave: this rests on {source}",
            source=self.source,
        )


@dataclass(frozen=True, slots=True)
class Preemptor:
    """The Workload that somebody made room for; `owner_uid` is what Kueue calls its JobUID."""

    name: str
    uid: str
    owner: str
    owner_uid: str


def preemptions_of(scene: Scene, uid: str) -> tuple[Preemption, ...]:
    """The times that a Workload had to leave, the last one first; empty when nothing tells of one.

    The Workload need not be there any more.
    """
    live = next((one for one in scene.workloads() if one.uid == uid), None)
    now = () if live is None else tuple(_now(live))
    seen = _recorded(scene.history, uid)
    found = [*now, *(one for one in seen if one.since not in {known.since for known in now})]
    if not found and live is not None:
        found = list(_left(scene, live))
    return tuple(sorted(found, key=lambda one: one.since, reverse=True))


def preemptor_of(scene: Scene, preemption: Preemption) -> Preemptor | None:
    """The Workload whose uid stands in the message; None when nobody knows one of these."""
    for one in scene.workloads():
        if one.uid and one.uid in preemption.message:
            return Preemptor(one.name, one.uid, one.owner_name, one.owner_uid)
    for change in reversed(scene.history.of("Workload")):
        if change.uid and change.uid in preemption.message:
            owner_uid = dig_text(change.facts, "owner_uid")
            return Preemptor(change.name, change.uid, change.owner, owner_uid)
    return None


def _now(workload: WorkloadNow) -> Iterator[Preemption]:
    evicted, preempted = (workload.conditions.get(kind) for kind in (_EVICTED, _PREEMPTED))
    if evicted is not None and preempted is not None and evicted.is_true and preempted.is_true:
        yield _both(evicted, preempted, CONDITIONS)


def _recorded(history: History, uid: str) -> list[Preemption]:
    found: dict[str, Preemption] = {}
    for change in history.of("Workload", uid=uid):
        evicted, preempted = (change.condition(kind) for kind in (_EVICTED, _PREEMPTED))
        if evicted is not None and preempted is not None and evicted.is_true and preempted.is_true:
            found.setdefault(preempted.since, _both(evicted, preempted, RECORDER))
    return list(found.values())


def _left(scene: Scene, workload: WorkloadNow) -> Iterator[Preemption]:
    """From what the Workload counts, with its events or what is left of its conditions: for whom.

    The count alone says nothing of that.
    """
    reasons = [
        dig_text(one, "reason")
        for one in dig_list(workload.raw, "status", "schedulingStats", "evictions")
    ]
    if _PREEMPTED not in reasons:
        return
    events = [one for one in scene.events_of(workload.uid) if one.reason == _PREEMPTED]
    for event in events:
        yield Preemption(_PREEMPTED, "", event.message, event.time, EVENTS)
    over = workload.conditions.get(_PREEMPTED)
    if not events and over is not None and not over.is_true:
        yield Preemption(_PREEMPTED, "", over.message, over.since, COUNTED)


def _both(evicted: Condition, preempted: Condition, source: Message) -> Preemption:
    return Preemption(evicted.reason, preempted.reason, preempted.message, preempted.since, source)
