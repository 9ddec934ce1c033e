"""What is kept of an object: the few facts that later steps and the lab's story need.

Kueue's fields are those of apis/kueue/v1beta2; two objects with the same facts count as unchanged.
"""

from __future__ import annotations

import hashlib
import json
from collections import Counter
from collections.abc import Callable, Mapping

from checks.kit.paths import dig, dig_count, dig_list, dig_map, dig_text, dig_texts
from checks.kit.quantities import show_amount
from checks.things import common_facts, owner_of
from checks.watching import (
    JOB_SET_LABEL,
    QUEUE_LABEL,
    Object,
    Thing,
    read_cluster_queue,
    read_job,
    read_local_queue,
    read_pod,
    read_workload,
)

Facts = dict[str, object]
# Facts that change all the time: kept with what else is news, and no news by themselves.
PASSING = frozenset({"consumed"})
_SHARING = ("status", "fairSharing", "admissionFairSharingStatus")
_LONGEST = 600
_PRIORITY_LABEL = "kueue.x-k8s.io/priority-class"
NO_MODE = "NoAdmissionFairSharing"  # what Kueue takes when a ClusterQueue names no admissionMode
_POD_CONDITIONS = ("PodScheduled", "Ready")


def facts_of(kind: str, raw: Object) -> Facts:
    """The facts of an object; empty values are left out.

    A kind that no reader is written for gives what a queued thing of any kind may have.
    """
    found = _READERS.get(kind, _any)(raw)
    found["deleting"] = dig_text(raw, "metadata", "deletionTimestamp")
    if kind != "Pod":
        found["digest"] = digest_of(dig_map(raw, "spec"))
    return {key: value for key, value in found.items() if value not in ("", None, [], {}, ())}


def digest_of(spec: Mapping[str, object]) -> str:
    """A short mark that changes with the spec; whether a Job is suspended is left out."""
    kept = {key: value for key, value in spec.items() if key != "suspend"}
    return hashlib.sha256(json.dumps(kept, sort_keys=True).encode()).hexdigest()[:12]


def _job(raw: Object) -> Facts:
    job = read_job(raw)
    conditions = _conditions(job)
    uid, owner = owner_of(raw) if dig_text(raw, "metadata", "labels", JOB_SET_LABEL) else ("", "")
    return {
        "owner": owner,
        "owner_uid": uid,
        "queue": job.queue,
        "suspend": job.is_suspended,
        "conditions": conditions,
    }


def _workload(raw: Object) -> Facts:
    workload = read_workload(raw)
    return {
        "owner": workload.owner_name,
        "owner_uid": workload.owner_uid,
        "queue": workload.queue,
        "cluster_queue": workload.cluster_queue,
        "priority": dig(raw, "spec", "priority") or None,
        "priority_class": dig_text(raw, "spec", "priorityClassRef", "name"),
        "evictions": _evictions(raw),
        "active": workload.is_active,
        "amounts": {name: show_amount(value) for name, value in workload.amounts.items()},
        "conditions": _conditions(workload),
    }


def _pod(raw: Object) -> Facts:
    pod = read_pod(raw)
    conditions = _conditions(pod)
    return {
        "owner": pod.job_name,
        "owner_uid": pod.owner_uid,
        "node": dig_text(raw, "spec", "nodeName"),
        "phase": pod.phase,
        "trouble": pod.trouble,
        "gates": [dig_text(gate, "name") for gate in dig_list(raw, "spec", "schedulingGates")],
        "conditions": {name: conditions[name] for name in _POD_CONDITIONS if name in conditions},
    }


def _cluster_queue(raw: Object) -> Facts:
    queue = read_cluster_queue(raw)
    return {
        "stop": queue.stop_policy,
        "cohort": queue.cohort,
        "mode": dig_text(raw, "spec", "admissionScope", "admissionMode") or NO_MODE,
        "flavors": list(queue.flavors),
        "quota": {name: show_amount(value) for name, value in queue.quota.items()},
        "reserved": {name: show_amount(value) for name, value in queue.reserved.items()},
        "admitted": queue.admitted,
        "pending": queue.pending,
        "conditions": _conditions(queue),
    }


def _local_queue(raw: Object) -> Facts:
    queue = read_local_queue(raw)
    return {
        "cluster_queue": queue.cluster_queue,
        "stop": queue.stop_policy,
        "weight": dig_text(raw, "spec", "fairSharing", "weight"),
        "consumed": dict(dig_texts(raw, *_SHARING, "consumedResources")),
        "admitted": dig(raw, "status", "admittedWorkloads") or 0,
        "pending": dig(raw, "status", "pendingWorkloads") or 0,
        "conditions": _conditions(queue),
    }


def _flavor(raw: Object) -> Facts:
    taints = [dig_text(taint, "key") for taint in dig_list(raw, "spec", "nodeTaints")]
    return {"labels": dict(dig_texts(raw, "spec", "nodeLabels")), "taints": taints}


def _any(raw: Object) -> Facts:
    thing = Thing(**common_facts(raw))
    suspend = dig(raw, "spec", "suspend")
    return {
        "queue": dig_text(raw, "metadata", "labels", QUEUE_LABEL),
        "priority_class": dig_text(raw, "metadata", "labels", _PRIORITY_LABEL),
        "suspend": suspend if isinstance(suspend, bool) else None,
        "conditions": _conditions(thing),
    }


def _train_job(raw: Object) -> Facts:
    """Without numNodes it is one node, unless its runtime says otherwise."""
    nodes = dig(raw, "spec", "trainer", "numNodes")
    return _any(raw) | {"nodes": nodes if isinstance(nodes, int) else 1}


def _evictions(raw: Object) -> dict[str, object]:
    """How often a Workload was evicted, by reason; Kueue counts on when conditions turn again."""
    counts: Counter[str] = Counter()
    for one in dig_list(raw, "status", "schedulingStats", "evictions"):
        counts[dig_text(one, "reason")] += dig_count(one, "count")
    return dict(counts)


def _conditions(thing: Thing) -> dict[str, list[str]]:
    """Status, reason, since and message of each condition by its type."""
    return {
        name: [one.status, one.reason, one.since, one.message[:_LONGEST]]
        for name, one in sorted(thing.conditions.items())
    }


_READERS: Mapping[str, Callable[[Object], Facts]] = {
    "Job": _job,
    "Workload": _workload,
    "Pod": _pod,
    "ClusterQueue": _cluster_queue,
    "LocalQueue": _local_queue,
    "ResourceFlavor": _flavor,
    "TrainJob": _train_job,
}
