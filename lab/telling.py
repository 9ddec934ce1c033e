"""How a change of one object is told: in a sentence, or not at all when it is no news."""

from __future__ import annotations

from collections.abc import Callable, Mapping

from checks.history import Change, seconds
from lab.told import Telling, Told, ended, left, tell_any
from provision.message import say

__all__ = ["Told", "tell"]


def tell(
    change: Change,
    before: Change | None,
    waits: dict[str, str],
    gone: set[str],
    owners: Mapping[str, str],
) -> Telling:
    """What is new with an object since it was `before`.

    `waits` remembers by uid since when Workloads wait, `gone` which objects are deleted, `owners`
    whose the Workloads are that were seen.
    """
    if change.kind == "Workload":
        yield from _workload(change, before, waits, gone, owners)
    elif change.kind == "Pod":
        yield from _pod(change, before, gone)
    else:
        yield from _TELLERS.get(change.kind, tell_any)(change, before)


def _flavor(change: Change, before: Change | None) -> Telling:
    labels = ", ".join(f"{k}={v}" for k, v in change.amounts("labels").items()) or "-"
    if change.is_gone:
        yield Told("deleted", say("ResourceFlavor deleted"), change.deleting)
    elif before is None:
        yield Told("made", say("ResourceFlavor made: {labels}", labels=labels), change.created)
    elif change.amounts("labels") != before.amounts("labels"):
        yield Told("changed", say("ResourceFlavor changed: {labels}", labels=labels))


def _cluster_queue(change: Change, before: Change | None) -> Telling:
    quota = ", ".join(f"{name} {_amount(v)}" for name, v in sorted(change.amounts("quota").items()))
    if change.is_gone:
        yield Told("deleted", say("ClusterQueue deleted"), change.deleting)
        return
    if before is None:
        yield Told("made", say("ClusterQueue made: {quota}", quota=quota or "-"), change.created)
    elif change.amounts("quota") != before.amounts("quota"):
        yield Told("changed", say("ClusterQueue changed: {quota}", quota=quota or "-"))
    yield from _openness(change, before)


def _local_queue(change: Change, before: Change | None) -> Telling:
    target = str(change.facts.get("cluster_queue", "-"))
    if change.is_gone:
        yield Told("deleted", say("LocalQueue deleted"), change.deleting)
        return
    if before is None:
        what = say("LocalQueue made, leads to ClusterQueue {queue}", queue=target)
        yield Told("made", what, change.created)
    yield from _openness(change, before)


def _openness(change: Change, before: Change | None) -> Telling:
    """Stopped and open, Active and not; that a new queue is open goes without saying."""
    stop, was = change.facts.get("stop"), before.facts.get("stop") if before else "None"
    if stop != was:
        what = say("{kind} is open again", kind=change.kind)
        if stop != "None":
            what = say("{kind} is stopped: stopPolicy {policy}", kind=change.kind, policy=stop)
        yield Told("changed", what)
    active = change.condition("Active")
    old = before.condition("Active") if before else None
    if active is None or (old is not None and (old.status, old.reason) == _of(active)):
        return
    if not active.is_true:
        what = say("{kind} is not Active: {reason}: {message}", kind=change.kind, **_words(active))
        yield Told("inactive", what, active.since)
    elif old is not None:
        yield Told("active", say("{kind} is Active", kind=change.kind), active.since)


def _job(change: Change, before: Change | None) -> Telling:
    if change.owner:
        yield from ended(change, before)
        return
    if change.is_gone:
        yield Told("deleted", say("Job deleted"), change.deleting)
        return
    if before is None:
        what = say("Job submitted without a queue label, past Kueue")
        if change.facts.get("suspend") is True:
            what = say("Job submitted without a queue label, suspended")
        if change.queue:
            what = say("Job submitted to the queue {queue}", queue=change.queue)
        yield Told("submitted", what, change.created)
    elif change.queue != before.queue:
        what = say("queue label of the Job is now {queue}", queue=change.queue or "-")
        yield Told("changed", what)
    elif not change.queue and change.facts.get("suspend") != before.facts.get("suspend"):
        is_off = change.facts.get("suspend") is True
        yield Told(
            "changed", say("Job suspended by hand") if is_off else say("Job resumed by hand")
        )
    yield from ended(change, before)


def _workload(
    change: Change,
    before: Change | None,
    waits: dict[str, str],
    gone: set[str],
    owners: Mapping[str, str],
) -> Telling:
    if change.is_gone:
        waits.pop(change.uid, None)
        if str(change.facts.get("owner_uid", "")) not in gone:
            yield Told("deleted", say("its Workload {name} is deleted", name=change.name))
        return
    reserved, admitted = change.condition("QuotaReserved"), change.condition("Admitted")
    old = before.condition("QuotaReserved") if before else None
    if reserved is not None and not reserved.is_true and (old is None or _of(old) != _of(reserved)):
        waits.setdefault(change.uid, reserved.since)
        evicted = change.condition("Evicted")
        if evicted is None or evicted.message != reserved.message:
            what = say("waits: {reason}: {message}", **_words(reserved))
            yield Told("waits", what, reserved.since)
    if admitted and admitted.is_true and not (before and before.is_true("Admitted")):
        yield _admission(change, waits.pop(change.uid, ""), admitted.since)
    yield from left(change, before, owners)
    if change.facts.get("active") is False and (before is None or before.facts.get("active")):
        yield Told("deactivated", say("its Workload is switched off: spec.active is false"))


def _admission(change: Change, since: str, until: str) -> Told:
    queue = str(change.facts.get("cluster_queue", "-"))
    if since and change.facts.get("evictions"):
        what = say(
            "let in again by ClusterQueue {queue} after {seconds} s in line",
            queue=queue,
            seconds=f"{max(0.0, seconds(until) - seconds(since)):.0f}",
        )
        return Told("admitted", what, until)
    if not since:
        return Told("admitted", say("admitted by ClusterQueue {queue}", queue=queue), until)
    what = say(
        "admitted by ClusterQueue {queue} after {seconds} s in line",
        queue=queue,
        seconds=f"{max(0.0, seconds(until) - seconds(since)):.0f}",
    )
    return Told("admitted", what, until)


def _pod(change: Change, before: Change | None, gone: set[str]) -> Telling:
    if change.is_gone:
        if str(change.facts.get("owner_uid", "")) not in gone:
            yield Told("pod-deleted", say("its pod {pod} is gone", pod=change.name))
        return
    phase, was = change.facts.get("phase"), before.facts.get("phase") if before else ""
    if phase != was and phase == "Running":
        node, ready = change.facts.get("node", "-"), change.condition("Ready")
        what = say("its pod {pod} runs on {node}", pod=change.name, node=node)
        yield Told("runs", what, ready.since if ready and ready.is_true else "")
    elif phase != was and phase in ("Succeeded", "Failed"):
        yield Told("pod-ended", say("its pod {pod} ended: {how}", pod=change.name, how=phase))
    trouble = change.facts.get("trouble")
    if trouble and not (before and before.facts.get("trouble") == trouble):
        yield Told("trouble", say("its pod {pod} is in {how}", pod=change.name, how=trouble))
    placed, old = change.condition("PodScheduled"), before and before.condition("PodScheduled")
    if placed and placed.status == "False" and not (old and _of(old) == _of(placed)):
        if gates := ", ".join(change.gates):
            what = say("its pod {pod} is held by gates: {gates}", pod=change.name, gates=gates)
            yield Told("unplaced", what, placed.since)
            return
        what = say("its pod is not placed: {message}", message=placed.message or placed.reason)
        yield Told("unplaced", what, placed.since)


def _of(condition: object) -> tuple[str, str]:
    return str(getattr(condition, "status", "")), str(getattr(condition, "reason", ""))


def _words(condition: object) -> dict[str, str]:
    message = " ".join(str(getattr(condition, "message", "")).split())
    return {"reason": str(getattr(condition, "reason", "")), "message": message}


def _amount(text: str) -> str:
    """Bytes in the largest unit that leaves no rest."""
    for power, unit in ((40, "Ti"), (30, "Gi"), (20, "Mi")):
        if text.isdigit() and int(text) and int(text) % (1 << power) == 0:
            return f"{int(text) >> power}{unit}"
    return text


_TELLERS: Mapping[str, Callable[[Change, Change | None], Telling]] = {
    "ResourceFlavor": _flavor,
    "ClusterQueue": _cluster_queue,
    "LocalQueue": _local_queue,
    "Job": _job,
}
