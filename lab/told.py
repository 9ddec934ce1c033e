"""What is told of any kind: made, submitted, ready, ended; and of Workloads that had to leave."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from checks.history import Change
from provision.message import Message, say


@dataclass(frozen=True, slots=True)
class Told:
    """A word for programs, a sentence for people, and the API's own time for it (may be empty)."""

    word: str
    what: Message
    since: str = ""


Telling = Iterator[Told]
_ENDINGS = ("Complete", "Completed", "Failed")


def tell_any(change: Change, before: Change | None) -> Telling:
    """What is new with an object of a kind that nothing special is told of."""
    kind, rank = change.kind, str(change.facts.get("priority_class", ""))
    if change.is_gone:
        yield Told("deleted", say("{kind} deleted", kind=kind), change.deleting)
        return
    if before is None:
        yield _made(change, rank)
    elif change.queue != before.queue:
        what = say("queue label of the {kind} is now {queue}", kind=kind, queue=change.queue or "-")
        yield Told("changed", what)
    elif rank != str(before.facts.get("priority_class", "")):
        what = say("priority class of the {kind} is now {name}", kind=kind, name=rank or "-")
        yield Told("changed", what)
    yield from ended(change, before)
    yield from _readiness(change, before)


def ended(change: Change, before: Change | None) -> Telling:
    """That it ended, and how."""
    for ending in _ENDINGS:
        if change.is_true(ending) and not (before and before.is_true(ending)):
            condition = change.condition(ending)
            since = condition.since if condition else ""
            what = say("{kind} ended: {how}", kind=change.kind, how=ending)
            if change.kind == "Job":
                what = say("Job ended: {how}", how=ending)
            yield Told("ended", what, since)


def left(change: Change, before: Change | None, owners: Mapping[str, str]) -> Telling:
    """That a Workload lost its quota; for whom, when `owners` has the Workload of that uid."""
    evicted, preempted = change.condition("Evicted"), change.condition("Preempted")
    is_preempted = preempted is not None and preempted.is_true
    is_news = evicted and evicted.is_true and not (before and before.is_true("Evicted"))
    if evicted and is_news and not (is_preempted and evicted.reason == "Preempted"):
        yield Told("evicted", say("{kind}: {message}", kind="Evicted", message=evicted.message))
    if preempted is None or not is_preempted or (before and before.is_true("Preempted")):
        return
    winner = next((name for uid, name in owners.items() if uid and uid in preempted.message), "")
    what = say("{kind}: {message}", kind="Preempted", message=preempted.message)
    if winner:
        what = say(
            "preempted by {name}: it lost its quota ({reason})",
            name=winner,
            reason=preempted.reason,
        )
    yield Told("preempted", what)


def _made(change: Change, rank: str) -> Told:
    if not change.queue:
        return Told("made", say("{kind} made", kind=change.kind), change.created)
    what = say("{kind} submitted to the queue {queue}", kind=change.kind, queue=change.queue)
    if rank:
        what = say(
            "{kind} submitted to the queue {queue} with the class {name}",
            kind=change.kind,
            queue=change.queue,
            name=rank,
        )
    return Told("submitted", what, change.created)


def _readiness(change: Change, before: Change | None) -> Telling:
    ready, old = change.condition("Ready"), before.condition("Ready") if before else None
    if ready is None or (old and (old.status, old.reason) == (ready.status, ready.reason)):
        return
    if ready.is_true:
        yield Told("active", say("{kind} is ready", kind=change.kind), ready.since)
        return
    what = say(
        "{kind} is not ready: {reason}: {message}",
        kind=change.kind,
        reason=ready.reason,
        message=ready.message,
    )
    yield Told("inactive", what, ready.since)
