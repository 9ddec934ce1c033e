"""When a cluster is quiet: nothing that the controllers still owe, or nothing that moves."""

from __future__ import annotations

import time
from collections.abc import Mapping, Sequence

from lab.casework.api import Api, Object
from provision.message import Message, say
from provision.waiting import wait_until

WATCHED = ("Job", "Pod", "Workload", "LocalQueue", "ClusterQueue")
QUIET = 1.2  # seconds without any change: longer than a pod takes from scheduled to Running
STILL = 1.5  # the same while a Workload waits: Kueue looks at those again once a second

State = Mapping[str, Sequence[Object]]


def read(api: Api, kinds: Sequence[str]) -> dict[str, list[Object]]:
    """All objects of some kinds, each list read once."""
    return {kind: api.items(kind) for kind in kinds}


def condition(thing: Object, kind: str) -> Object | None:
    """The condition of that type, or None."""
    for found in thing.get("status", {}).get("conditions") or []:
        if found["type"] == kind:
            return dict(found)
    return None


def is_true(thing: Object, kind: str) -> bool:
    """Whether the condition of that type is there and True."""
    found = condition(thing, kind)
    return found is not None and found["status"] == "True"


def owned(things: Sequence[Object], owner: Object) -> list[Object]:
    """Those of the things whose owner is that object."""
    uid = owner["metadata"]["uid"]
    return [
        thing
        for thing in things
        if any(ref["uid"] == uid for ref in thing["metadata"].get("ownerReferences") or [])
    ]


def _label(thing: Object) -> str:
    return f"{thing['kind']} {thing['metadata']['name']}"


def _owed_queue(queue: Object) -> str | None:
    active = condition(queue, "Active")
    seen = active.get("observedGeneration") if active else None
    if active is None or (seen is not None and seen != queue["metadata"]["generation"]):
        return "its Active condition"
    return None if active["status"] == "True" else "to be Active"


def _owed_pod(pod: Object) -> str | None:
    unscheduled = condition(pod, "PodScheduled")
    if pod["status"].get("phase") != "Pending":
        return None
    is_refused = unscheduled is not None and unscheduled["status"] == "False"
    return None if is_refused else "to leave Pending"


def _owed_job(job: Object, state: State) -> str | None:
    if any(is_true(job, kind) for kind in ("Complete", "Failed")):
        return None
    if job["spec"].get("suspend"):
        if job["metadata"].get("ownerReferences"):
            return None  # its owner is what waits, or not
        workloads = owned(state["Workload"], job)
        if not workloads or condition(workloads[0], "QuotaReserved") is None:
            return "a Workload with QuotaReserved"
        return "to be started" if is_true(workloads[0], "Admitted") else None
    pods = owned(state["Pod"], job)
    if len(pods) < job["spec"].get("parallelism", 1):
        return "its pods"
    running = sum(is_true(pod, "Ready") for pod in pods)
    return "its status" if job.get("status", {}).get("ready", 0) != running else None


def _owed_ledger(queue: Object, state: State) -> str | None:
    """Whether the numbers in a ClusterQueue's status are those of its Workloads."""
    admitted = sum(
        workload["status"].get("admission", {}).get("clusterQueue") == queue["metadata"]["name"]
        and is_true(workload, "Admitted")
        and not is_true(workload, "Finished")
        for workload in state["Workload"]
        if "status" in workload
    )
    said = queue.get("status", {}).get("admittedWorkloads", 0)
    return None if said == admitted else "its number of admitted Workloads"


def owed(state: State) -> Message | None:
    """What a controller has still to do, or None when all is settled."""
    for thing in (thing for kind in WATCHED for thing in state[kind]):
        what: str | None
        if thing["metadata"].get("deletionTimestamp"):
            what = "to go"
        elif thing["kind"] == "Job":
            what = _owed_job(thing, state)
        elif thing["kind"] == "Pod":
            what = _owed_pod(thing)
        elif thing["kind"] == "ClusterQueue":
            what = _owed_queue(thing) or _owed_ledger(thing, state)
        elif thing["kind"] == "LocalQueue":
            what = _owed_queue(thing)
        else:
            what = None
        if what:
            return say("{thing} still waits for {what}", thing=_label(thing), what=what)
    return None


def mark(state: State) -> tuple[tuple[str, str], ...]:
    """What changes whenever any of the objects does.

    A LocalQueue under fair admission is written every second with what it has used up to now.
    """
    return tuple(
        (thing["metadata"]["uid"], _mark_of(thing)) for kind in state for thing in state[kind]
    )


def _mark_of(thing: Object) -> str:
    status = thing.get("status", {})
    if thing["kind"] != "LocalQueue" or "fairSharing" not in status:
        return str(thing["metadata"]["resourceVersion"])
    kept = {key: value for key, value in status.items() if key != "fairSharing"}
    return repr((thing["metadata"]["generation"], kept))


def _still(state: State) -> float:
    """For how many seconds nothing may have moved before a state with nothing owed is believed."""
    is_waiting = any(not is_true(workload, "Admitted") for workload in state["Workload"])
    return STILL if is_waiting else 0.1


def settle(api: Api, *, rest: float = 0.0, within: float = 20) -> None:
    """Return when nothing is owed and all is still, or nothing has moved for QUIET seconds.

    `rest` asks for more seconds of stillness than the state itself does.
    """
    moved = time.monotonic()
    seen: object = None

    def missing() -> Message | None:
        nonlocal moved, seen
        state = read(api, WATCHED)
        now = mark(state)
        if now != seen:
            seen, moved = now, time.monotonic()
        reason = owed(state)
        wanted = QUIET if reason else max(rest, _still(state))
        if time.monotonic() - moved >= wanted:
            return None
        return reason or say("nothing is owed, but it moved just now")

    wait_until(missing, within=within, every=0.08)
