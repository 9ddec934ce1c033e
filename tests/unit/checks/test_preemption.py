"""Who had to leave for whom: by the conditions, by what was recorded, by count and events."""

import json

import pytest

from checks.history import History
from checks.journal import SCHEMA
from checks.judging.preemption import (
    CONDITIONS,
    COUNTED,
    EVENTS,
    RECORDER,
    preemptions_of,
    preemptor_of,
)
from checks.reasons.preempting import makes_room
from checks.scene import Scene
from checks.serving import read_deployment
from checks.training import read_train_job
from checks.watching import read_cluster_queue, read_workload
from tests.unit.checks.conftest import LONG_AGO, ListedCluster, condition

LATER = "2027-01-15T07:30:00Z"
MESSAGE = (
    "Preempted to accommodate a workload (UID: wl-high, JobUID: tj-high) due to prioritization"
)


def workload(name, *conditions, priority=100, held="0", asked="4", **status):
    admission = {
        "clusterQueue": "team-b",
        "podSetAssignments": [{"name": "node", "resourceUsage": {"nvidia.com/gpu": held}}],
    }
    wanted = [{"name": "node", "resources": {"nvidia.com/gpu": asked}}]
    owner = {"uid": f"tj-{name}", "name": name, "controller": True}
    metadata = {"name": f"trainjob-{name}", "namespace": "team-b", "uid": f"wl-{name}"}
    return {
        "metadata": {**metadata, "creationTimestamp": LONG_AGO, "ownerReferences": [owner]},
        "spec": {"priority": priority, "queueName": "training", "active": True},
        "status": {
            "conditions": list(conditions),
            **({"admission": admission} if held != "0" else {"resourceRequests": wanted}),
            **status,
        },
    }


LEFT = (
    condition("Evicted", "True", "Preempted", MESSAGE),
    condition("Preempted", "True", "InClusterQueue", MESSAGE),
)
BACK = (
    condition("Evicted", "False", "QuotaReserved", f"Previously: {MESSAGE}", LATER),
    condition("Preempted", "False", "QuotaReserved", f"Previously: {MESSAGE}", LATER),
)
HIGH = workload("high", priority=1000, held="4")


def history(tmp_path, *changes):
    file = tmp_path / "history.jsonl"
    (tmp_path / "cluster.id").write_text("life")
    lines = [
        {"schema": SCHEMA, "life": "life"},
        *({"seen": LONG_AGO, "change": "modified", "kind": "Workload", **c} for c in changes),
    ]
    file.write_text("".join(json.dumps(line, separators=(",", ":")) + "\n" for line in lines))
    return History(file)


def scene(*workloads, past=None, events=()):
    cluster = ListedCluster(workloads=list(workloads), events=list(events))
    return Scene(cluster, "team-b", "kueue.x-k8s.io/v1beta2", past)


def test_conditions_tell_it_themselves():
    (found,) = preemptions_of(scene(workload("low", *LEFT), HIGH), "wl-low")
    assert (found.evicted, found.preempted, found.message) == (
        "Preempted",
        "InClusterQueue",
        MESSAGE,
    )
    assert found.source is CONDITIONS
    assert found.remark is None


def test_the_recorder_tells_it_when_the_conditions_are_false_again(tmp_path):
    facts = {"owner": "low", "owner_uid": "tj-low"}
    told = {one["type"]: [one["status"], one["reason"], LONG_AGO, one["message"]] for one in LEFT}
    change = {"name": "trainjob-low", "uid": "wl-low", "version": "7"}
    past = history(tmp_path, {**change, "facts": {**facts, "conditions": told}})
    (found,) = preemptions_of(scene(workload("low", *BACK), HIGH, past=past), "wl-low")
    assert found.source is RECORDER
    assert found.preempted == "InClusterQueue"
    assert found.remark is not None
    assert "history" in str(found.remark)


def test_count_and_events_tell_it_without_a_recorder():
    stats = {"evictions": [{"reason": "Preempted", "count": 1}]}
    event = {
        "involvedObject": {"uid": "wl-low"},
        "type": "Normal",
        "reason": "Preempted",
        "message": MESSAGE,
        "firstTimestamp": LONG_AGO,
        "metadata": {"name": "e", "namespace": "team-b"},
    }
    low = workload("low", *BACK, schedulingStats=stats)
    (found,) = preemptions_of(scene(low, HIGH, events=[event]), "wl-low")
    assert (found.source, found.preempted) == (EVENTS, "")
    (found,) = preemptions_of(scene(low, HIGH), "wl-low")
    assert found.source is COUNTED
    assert preemptor_of(scene(HIGH), found) is not None
    uncounted = workload("low", *BACK)
    assert preemptions_of(scene(uncounted, HIGH, events=[event]), "wl-low") == ()


def test_an_eviction_for_another_cause_is_none():
    low = workload("low", condition("Evicted", "True", "PodsReadyTimeout", "late"), BACK[1])
    assert preemptions_of(scene(low), "wl-low") == ()


def test_the_preemptor_is_found_by_its_uid_now_or_before(tmp_path):
    (found,) = preemptions_of(scene(workload("low", *LEFT), HIGH), "wl-low")
    who = preemptor_of(scene(HIGH), found)
    assert (who.name, who.owner, who.owner_uid) == ("trainjob-high", "high", "tj-high")
    facts = {"owner": "high", "owner_uid": "tj-high"}
    past = history(tmp_path, {"name": "trainjob-high", "uid": "wl-high", "facts": facts})
    assert preemptor_of(scene(past=past), found) == who
    assert preemptor_of(scene(workload("other")), found) is None


def queue(within):
    groups = [
        {
            "coveredResources": ["nvidia.com/gpu"],
            "flavors": [
                {"name": "f", "resources": [{"name": "nvidia.com/gpu", "nominalQuota": 4}]}
            ],
        }
    ]
    spec = {"preemption": {"withinClusterQueue": within}, "resourceGroups": groups}
    return read_cluster_queue({"metadata": {"name": "team-b"}, "spec": spec})


@pytest.mark.parametrize(
    ("within", "priority", "asked", "is_enough"),
    [
        ("LowerPriority", 1000, "4", True),
        ("LowerPriority", 100, "4", False),
        ("Never", 1000, "4", False),
        ("LowerPriority", 1000, "5", False),
    ],
)
def test_who_can_make_room(within, priority, asked, is_enough):
    low = read_workload(workload("low", held="4", priority=100))
    new = read_workload(workload("new", priority=priority, asked=asked))
    assert makes_room([low], new, queue(within), "nvidia.com/gpu") is is_enough


def owned(name, uid, owner, **rest):
    reference = {"uid": owner, "controller": True, "name": "x"}
    metadata = {"name": name, "uid": uid, "namespace": "team-b", "ownerReferences": [reference]}
    return {"metadata": metadata, **rest}


def test_pods_are_found_through_what_stands_between():
    cluster = ListedCluster(
        jobsets=[owned("t", "js", "tj"), owned("u", "js2", "other")],
        jobs=[owned("t-node-0", "job", "js"), owned("u-node-0", "job2", "js2")],
        replicasets=[owned("d-1", "rs", "dep")],
        pods=[owned("a", "a", "job"), owned("b", "b", "job2"), owned("c", "c", "rs")],
    )
    here = Scene(cluster, "team-b", "kueue.x-k8s.io/v1beta2")
    training = read_train_job({"metadata": {"name": "t", "uid": "tj"}})
    serving = read_deployment({"metadata": {"name": "d", "uid": "dep"}, "spec": {"replicas": 0}})
    assert [pod.name for pod in here.pods_of(training)] == ["a"]
    assert [pod.name for pod in here.pods_of(serving)] == ["c"]
    assert (training.nodes, serving.replicas) == (1, 0)
