"""Step 5 of the second lab while it is still on its way, and when it never was."""

import json

import pytest

from checks.gpu_preemption.judge_evicted_file import require_noted
from checks.gpu_preemption.judge_preempting import (
    find_yielding,
    find_yieldings,
    require_waiting_again,
    require_yielding,
)
from checks.kit.expect import OnItsWay
from checks.outcome import Mismatch
from checks.scene import Scene
from tests.unit.checks.conftest import LONG_AGO, ListedCluster, condition
from tests.unit.checks.test_manifests import text_file
from tests.unit.checks.test_preemption import history, owned, workload
from tests.unit.checks.test_tenant_judges import lab, manifest

__all__ = ["lab"]  # a fixture

LOW, HIGH = "pretrain-01", "finetune-01"
MESSAGE = f"Preempted to accommodate a workload (UID: wl-{HIGH}, JobUID: tj-{HIGH})"
LEFT = (
    condition("Evicted", "True", "Preempted", MESSAGE),
    condition("Preempted", "True", "InClusterQueue", MESSAGE),
)
GPU = "nvidia.com/gpu"
HAS_QUOTA = (condition("QuotaReserved", "True"), condition("Admitted", "True"))


def train_job(name, *, suspend, priority="low"):
    labels = {"kueue.x-k8s.io/queue-name": "training", "kueue.x-k8s.io/priority-class": priority}
    metadata = {"name": name, "namespace": "team-b", "uid": f"tj-{name}", "labels": labels}
    return {"metadata": metadata, "spec": {"suspend": suspend, "trainer": {"numNodes": 4}}}


def high_job():
    """What step 5 asks for, as it stands in the cluster."""
    job = manifest("high.yaml")
    job["metadata"]["uid"] = f"tj-{HIGH}"
    return job


def open_queue(position):
    queue = manifest("tenant.yaml", position)
    queue["metadata"]["generation"] = 1
    queue["status"] = {"conditions": [condition("Active", "True", "Ready")]}
    return queue


def scene(train_jobs, workloads, pods=(), past=None):
    between = {
        "jobsets": [owned(LOW, "js", f"tj-{LOW}")],
        "jobs": [owned(f"{LOW}-node-0", "job", "js")],
        "pods": list(pods),
    }
    cluster = ListedCluster(
        trainjobs=train_jobs,
        workloads=workloads,
        clusterqueues=[open_queue(0)],
        localqueues=[open_queue(1)],
        resourceflavors=[{"metadata": {"name": "fake-gpu"}, "spec": {}}],
        **between,
    )
    return Scene(cluster, "team-b", "kueue.x-k8s.io/v1beta2", past)


def low_of(here):
    return here.train_job(LOW)


def test_it_left_and_waits(lab):
    jobs = [train_job(LOW, suspend=True), high_job()]
    here = scene(jobs, [workload(LOW, *LEFT), workload(HIGH, held="4")])
    found = find_yielding(here, lab)
    assert (found.preemptor.owner, found.preemption.preempted) == (HIGH, "InClusterQueue")
    require_waiting_again(here, lab, low_of(here))


def seen(kind, name, uid, **facts):
    return {"kind": kind, "name": name, "uid": uid, "version": "7", "facts": facts}


def told_facts(one):
    return [one[field] for field in ("status", "reason", "lastTransitionTime", "message")]


def asked(gpus):
    owner = {"owner": HIGH, "owner_uid": f"tj-{HIGH}"}
    return seen("Workload", f"w-{HIGH}", f"wl-{HIGH}", amounts={"nvidia.com/gpu": gpus}, **owner)


RIGHT = {"queue": "training", "priority_class": "high"}


@pytest.mark.parametrize(
    ("changes", "is_it"),
    [
        ([seen("TrainJob", HIGH, f"tj-{HIGH}", **RIGHT), asked("4")], True),
        ([seen("TrainJob", HIGH, f"tj-{HIGH}", **RIGHT), asked("2")], False),
        (
            [seen("TrainJob", HIGH, f"tj-{HIGH}", **RIGHT | {"priority_class": "low"}), asked("4")],
            False,
        ),
        ([seen("TrainJob", HIGH, f"tj-{HIGH}", **RIGHT | {"queue": "other"}), asked("4")], False),
        ([seen("TrainJob", HIGH, f"tj-{HIGH}", nodes=4, **RIGHT), asked("4")], True),
        ([seen("TrainJob", HIGH, f"tj-{HIGH}", nodes=1, **RIGHT), asked("4")], False),
        ([seen("Job", HIGH, f"tj-{HIGH}", **RIGHT), asked("4")], False),
        ([seen("TrainJob", HIGH, "another", **RIGHT), asked("4")], False),
    ],
    ids=["right", "two", "class", "queue", "nodes", "one-node", "a-job", "another-of-the-name"],
)
def test_one_that_is_gone_must_have_been_what_was_asked_for(lab, tmp_path, changes, is_it):
    low = workload(LOW, *LEFT)
    here = scene([train_job(LOW, suspend=True)], [low], past=history(tmp_path, *changes))
    assert (find_yielding(here, lab) is not None) is is_it


def test_the_right_one_does_not_answer_for_another_of_its_name(lab, tmp_path):
    """One of another class made the low one leave; the right one found room."""
    there = high_job() | {"metadata": high_job()["metadata"] | {"uid": "tj-new"}}
    past = history(
        tmp_path,
        seen("TrainJob", HIGH, f"tj-{HIGH}", **RIGHT | {"priority_class": "critical"}),
        asked("4"),
    )
    new = workload(HIGH, *HAS_QUOTA, held="4", priority=1000)
    new["metadata"] |= {"uid": "wl-new"}
    new["metadata"]["ownerReferences"][0]["uid"] = "tj-new"
    jobs = [train_job(LOW, suspend=True), there]
    with pytest.raises(Mismatch, match="another finetune-01: its class was critical"):
        require_yielding(scene(jobs, [workload(LOW, *LEFT), new], past=past), lab)


def told(uid, second):
    message = f"Preempted to accommodate a workload (UID: wl-{uid}, JobUID: {uid})"
    since = f"2027-01-15T07:00:{second:02}Z"
    return [
        condition("Evicted", "True", "Preempted", message, since),
        condition("Preempted", "True", "InClusterQueue", message, since),
    ]


def test_notes_may_tell_of_an_earlier_time(lab, tmp_path):
    first, last = "tj-1-1-1-1", "tj-2-2-2-2"
    before = {one["type"]: told_facts(one) for one in told(first, 1)}
    past = history(
        tmp_path,
        seen("TrainJob", HIGH, first, **RIGHT),
        seen("Workload", "w1", f"wl-{first}", owner=HIGH, owner_uid=first, amounts={GPU: "4"}),
        seen("Workload", f"w-{LOW}", f"wl-{LOW}", owner=LOW, conditions=before),
    )
    new = workload(HIGH, *HAS_QUOTA, held="4")
    new["metadata"] |= {"uid": f"wl-{last}"}
    new["metadata"]["ownerReferences"][0]["uid"] = last
    there = high_job() | {"metadata": high_job()["metadata"] | {"uid": last}}
    jobs = [train_job(LOW, suspend=True), there]
    found = find_yieldings(scene(jobs, [workload(LOW, *told(last, 9)), new], past=past), lab)
    assert [one.preemptor.owner_uid for one in found] == [last, first]
    for uid, second in ((first, 1), (last, 9)):
        file = text_file(json.dumps(told(uid, second)), "evicted.txt")
        assert require_noted(file, lab, found).preemptor.owner_uid == uid
    with pytest.raises(Mismatch, match="JobUID is tj-3"):
        require_noted(text_file(json.dumps(told("tj-3-3-3-3", 9)), "evicted.txt"), lab, found)


@pytest.mark.parametrize("then", ["high", "critical"])
def test_the_class_that_it_had_at_the_time_counts(lab, tmp_path, then):
    """The label was changed in place since."""
    left = {"conditions": {"Preempted": ["True", "InClusterQueue", LONG_AGO, MESSAGE]}}
    about = seen("Workload", f"w-{HIGH}", f"wl-{HIGH}", priority_class=then)
    past = history(
        tmp_path,
        about | {"version": "5"},
        seen("Workload", "low", f"wl-{LOW}", **left),
        about | {"version": "9", "facts": {"priority_class": "high"}},
    )
    jobs = [train_job(LOW, suspend=True), high_job()]
    here = scene(jobs, [workload(LOW, *LEFT), workload(HIGH, *HAS_QUOTA, held="4")], past=past)
    assert (find_yielding(here, lab) is not None) is (then == "high")
    if then == "critical":
        with pytest.raises(Mismatch, match="its class was critical"):
            require_yielding(here, lab)


@pytest.mark.parametrize(
    ("suspend", "conditions", "pods", "kind"),
    [
        (True, LEFT, [owned("p", "p", "job")], OnItsWay),
        (False, LEFT, [], OnItsWay),
        (False, HAS_QUOTA, [], Mismatch),
    ],
    ids=["pods-are-left", "not-suspended-yet", "has-quota-again"],
)
def test_it_does_not_wait_yet(lab, suspend, conditions, pods, kind):
    here = scene([train_job(LOW, suspend=suspend)], [workload(LOW, *conditions)], pods)
    with pytest.raises(kind) as told:
        require_waiting_again(here, lab, low_of(here))
    assert type(told.value) is kind


def test_a_preemption_that_is_about_to_come_is_waited_for(lab):
    running = workload(LOW, *HAS_QUOTA, held="4")
    new = workload(HIGH, priority=1000)
    jobs = [train_job(LOW, suspend=False), train_job(HIGH, suspend=True, priority="high")]
    with pytest.raises(OnItsWay):
        require_yielding(scene(jobs, [running, new]), lab)
    equal = workload(HIGH, priority=100)
    with pytest.raises(Mismatch) as told:
        require_yielding(scene(jobs, [running, equal]), lab)
    assert type(told.value) is Mismatch


def test_nobody_left_for_one_that_found_room(lab):
    jobs = [train_job(LOW, suspend=True), train_job(HIGH, suspend=False, priority="high")]
    workloads = [workload(LOW), workload(HIGH, *HAS_QUOTA, held="4", priority=1000)]
    with pytest.raises(Mismatch, match="nobody had to leave"):
        require_yielding(scene(jobs, workloads), lab)


@pytest.mark.parametrize(("there", "word"), [([], "STEP=4"), ([LOW], "high.yaml")])
def test_without_one_of_the_two(lab, there, word):
    here = scene([train_job(name, suspend=False) for name in there], [])
    with pytest.raises(Mismatch) as told:
        require_yielding(here, lab)
    assert word in str(told.value.finding.next_move)
