"""Judging whole situations: what runs, what waits, what step 8 changed, and what is on its way."""

from pathlib import Path

import pytest

from checks.judging.past import find_wait
from checks.judging.running import require_admitted
from checks.judging.said import what_was_said
from checks.kit.expect import OnItsWay
from checks.kit.files import TextFile
from checks.kit.proof import seconds_of
from checks.kueue_quota.after_step_8 import is_after_step_8
from checks.kueue_quota.ground import (
    require_ground,
    require_open_cluster_queue,
    require_open_local_queue,
)
from checks.kueue_quota.judge_handover import require_first_gone, require_same_job, require_waited
from checks.kueue_quota.judge_ledger import read_ledger_file, require_same_ledger
from checks.kueue_quota.judge_running import (
    require_flavor_on_pod,
    require_job,
    require_running,
)
from checks.kueue_quota.judge_waiting import require_waiting
from checks.outcome import Evidence, Mismatch
from provision.message import say
from tests.unit.checks.conftest import (
    ADMITTED,
    LONG_AGO,
    MESSAGE,
    WAITING,
    cluster_queue,
    condition,
    flavor,
    job,
    local_queue,
    workload,
)

LATER = "2027-01-15T07:10:00Z"
LATE_ADMISSION = tuple(c | {"lastTransitionTime": LATER} for c in ADMITTED)


def world(make_scene, *, jobs=(), workloads=(), **changes):
    ground = {
        "clusterqueues": [cluster_queue()],
        "localqueues": [local_queue()],
        "resourceflavors": [flavor()],
    }
    return make_scene(jobs=list(jobs), workloads=list(workloads), **ground | changes)


def told(call, kind=Mismatch):
    with pytest.raises(kind) as error:
        call()
    assert type(error.value) is kind
    finding = error.value.finding
    parts = (finding.looked_at, finding.expected, finding.found, finding.next_move)
    assert all(str(part) for part in parts)
    return " | ".join(str(part) for part in parts)


def pod(name="train-1", phase="Running", *, selector=None, waiting="", scheduled="True", **meta):
    selector = {"nvidia.com/gpu.present": "true"} if selector is None else selector
    state = {"waiting": {"reason": waiting}} if waiting else {"running": {}}
    return {
        "metadata": {
            "name": f"{name}-x1",
            "namespace": "team-a",
            "ownerReferences": [{"uid": f"uid-{name}", "name": name, "controller": True}],
            "labels": {"batch.kubernetes.io/job-name": name},
            **meta,
        },
        "spec": {"nodeSelector": selector},
        "status": {
            "phase": phase,
            "conditions": [condition("PodScheduled", scheduled, "Unschedulable", "no room")],
            "containerStatuses": [{"state": state}],
        },
    }


def test_ground_that_stands(make_scene, lab):
    require_ground(world(make_scene), lab, upto=3)


@pytest.mark.parametrize(
    ("changes", "words"),
    [
        ({"resourceflavors": []}, ["fake-gpu", "STEP=1"]),
        ({"resourceflavors": [flavor(labels={})]}, ["spec.nodeLabels", "STEP=1"]),
        ({"clusterqueues": []}, ["team-a", "STEP=2"]),
        ({"clusterqueues": [cluster_queue(stopPolicy="Hold")]}, ["Hold", "STEP=2"]),
        ({"localqueues": []}, ["lq", "STEP=3"]),
        ({"localqueues": [local_queue(clusterQueue="x")]}, ["spec.clusterQueue", "STEP=3"]),
    ],
)
def test_ground_that_is_gone_names_the_step(make_scene, lab, changes, words):
    scene = world(make_scene, **changes)
    text = told(lambda: require_ground(scene, lab, upto=3))
    assert all(word in text for word in words), text


def with_active(queue, *conditions, generation=1):
    queue["metadata"]["generation"] = generation
    queue["status"]["conditions"] = list(conditions)
    return [queue]


@pytest.mark.parametrize(
    ("queue", "kind", "word"),
    [
        (with_active(cluster_queue()), OnItsWay, "no such condition"),
        (with_active(cluster_queue(), condition("Active", "True"), generation=2), OnItsWay, "True"),
        (
            with_active(cluster_queue(), condition("Active", "False", "FlavorNotFound", "m")),
            OnItsWay,
            "FlavorNotFound",
        ),
        (with_active(cluster_queue(), condition("Active", "False", "X", "m")), Mismatch, "X: m"),
    ],
)
def test_a_cluster_queue_that_is_not_active(make_scene, lab, queue, kind, word):
    scene = world(make_scene, clusterqueues=queue)
    assert word in told(lambda: require_open_cluster_queue(scene, lab), kind)


def test_a_local_queue_follows_its_cluster_queue(make_scene, lab):
    local = with_active(local_queue(), condition("Active", "False", "ClusterQueueIsInactive", "m"))
    scene = world(make_scene, localqueues=local)
    assert "Inactive" in told(lambda: require_open_local_queue(scene, lab), OnItsWay)
    closed = with_active(cluster_queue(), condition("Active", "False", "X", "m"))
    scene = world(make_scene, localqueues=local, clusterqueues=closed)
    assert "Inactive" in told(lambda: require_open_local_queue(scene, lab))


def test_a_job_in_another_namespace_and_none_at_all(make_scene):
    other = job()
    other["metadata"] = other["metadata"] | {"namespace": "default"}
    scene = world(make_scene, jobs=[other])
    text = told(lambda: require_job(scene, "train-1", say("x")))
    assert "default" in text
    assert "team-a" in text
    scene = world(make_scene, jobs=[job("train1")])
    assert "train1" in told(lambda: require_job(scene, "train-1", say("x")))


@pytest.mark.parametrize(
    ("pods", "kind", "words"),
    [
        ([], OnItsWay, ["no pod"]),
        ([pod(phase="Pending")], OnItsWay, ["Pending"]),
        ([pod(deletionTimestamp=LONG_AGO)], OnItsWay, ["no pod"]),
        ([pod(waiting="CrashLoopBackOff")], Mismatch, ["CrashLoopBackOff"]),
        ([pod(phase="Pending", waiting="ErrImagePull")], Mismatch, ["ErrImagePull"]),
        ([pod(phase="Pending", scheduled="False")], Mismatch, ["Pending", "no room"]),
        (
            [pod(phase="Pending", scheduled="False", selector={"disk": "ssd"})],
            Mismatch,
            ["Pending", "disk=ssd", "nodeSelector"],
        ),
        (
            [pod(phase="Pending", scheduled="False"), pod("old", deletionTimestamp=LONG_AGO)],
            OnItsWay,
            ["no room"],
        ),
    ],
)
def test_pods_that_do_not_run(make_scene, pods, kind, words):
    node = {"metadata": {"name": "n", "labels": {"nvidia.com/gpu.present": "true"}}}
    scene = world(make_scene, jobs=[job(suspend=False)], pods=pods, nodes=[node])
    text = told(lambda: require_running(scene, scene.job("train-1")), kind)
    assert all(word in text for word in words), text


def test_a_node_that_takes_no_pods_is_named_with_what_opens_it(make_scene):
    node = {
        "metadata": {"name": "gpu-node-0", "labels": {"nvidia.com/gpu.present": "true"}},
        "spec": {"unschedulable": True},
    }
    waits = pod(phase="Pending", scheduled="False")
    scene = world(make_scene, jobs=[job(suspend=False)], pods=[waits], nodes=[node])
    text = told(lambda: require_running(scene, scene.job("train-1")))
    assert "gpu-node-0" in text
    assert "kubectl uncordon" in text


def test_pods_that_nobody_places_or_makes_are_the_learner_s(make_scene):
    astray = pod(phase="Pending")
    astray["spec"]["schedulerName"] = "volcano"
    astray["status"]["conditions"] = []
    scene = world(make_scene, jobs=[job(suspend=False)], pods=[astray])
    assert "volcano" in told(lambda: require_running(scene, scene.job("train-1")))
    refused = {
        "metadata": {"namespace": "team-a", "name": "e"},
        "involvedObject": {"uid": "uid-train-1"},
        "type": "Warning",
        "reason": "FailedCreate",
        "message": 'pods "train-1-x1" is forbidden: no serviceaccount "trainer"',
    }
    scene = world(make_scene, jobs=[job(suspend=False)], events=[refused])
    assert "trainer" in told(lambda: require_running(scene, scene.job("train-1")))


def test_a_label_of_the_flavor_that_no_node_has_is_put_right_in_the_flavor(make_scene):
    labels = {"nvidia.com/gpu.present": "true", "zone": "nowhere"}
    admitted = workload("train-1", ADMITTED)
    admitted["status"]["admission"]["podSetAssignments"][0]["flavors"] = {"cpu": "fake-gpu"}
    scene = world(
        make_scene,
        jobs=[job(suspend=False)],
        workloads=[admitted],
        pods=[pod(phase="Pending", scheduled="False", selector={**labels, "disk": "ssd"})],
        nodes=[{"metadata": {"name": "n", "labels": {"nvidia.com/gpu.present": "true"}}}],
        resourceflavors=[flavor(labels=labels)],
    )
    text = told(lambda: require_running(scene, scene.job("train-1")))
    assert "no node has zone=nowhere, disk=ssd" in text
    assert "zone=nowhere comes from flavor fake-gpu" in text
    assert "correct spec.nodeLabels of the flavor" in text


def test_a_taint_of_the_flavor_is_put_right_in_the_flavor(make_scene):
    tainted = flavor()
    taint = {"key": "gpu", "value": "yes", "effect": "NoSchedule"}
    tainted["spec"]["nodeTaints"] = [taint]
    waiting = workload("train-1", WAITING)
    scene = world(make_scene, jobs=[job()], workloads=[waiting], resourceflavors=[tainted])
    text = told(lambda: require_admitted(scene, scene.job("train-1")))
    assert "take gpu=yes:NoSchedule out of spec.nodeTaints of ResourceFlavor fake-gpu" in text


def test_pods_that_run(make_scene, lab):
    scene = world(make_scene, jobs=[job(suspend=False)], pods=[pod(), pod("other")])
    running = require_running(scene, scene.job("train-1"))
    require_flavor_on_pod(running, lab)
    bare = world(make_scene, jobs=[job(suspend=False)], pods=[pod(selector={})])
    running = require_running(bare, bare.job("train-1"))
    assert "nodeSelector" in told(lambda: require_flavor_on_pod(running, lab))


def test_suspended_jobs_are_told_by_who_could_resume_them(make_scene):
    scene = world(make_scene, jobs=[job(labels={})])
    assert "spec.suspend" in told(lambda: require_running(scene, scene.job("train-1")))
    scene = world(make_scene, jobs=[job()])
    told(lambda: require_running(scene, scene.job("train-1")), OnItsWay)


def five(third, *more):
    names = ("train-1", "train-2")
    return {
        "jobs": [*(job(name, suspend=False) for name in names), job("train-3")],
        "workloads": [*(workload(name, ADMITTED) for name in names), third, *more],
    }


def test_the_third_job_waits_and_what_kueue_said(make_scene, lab):
    scene = world(make_scene, **five(workload("train-3", WAITING)))
    waiting = require_waiting(scene, lab, scene.job("train-3"))
    assert [(s.reason, s.message) for s in what_was_said(scene, waiting)] == [
        ("WaitingForQuota", MESSAGE)
    ]
    with pytest.raises(Mismatch):
        require_admitted(scene, scene.job("train-3"))


def test_a_twin_speaks_for_a_workload_that_got_no_condition(make_scene, lab):
    silent = workload("train-3", ())
    scene = world(make_scene, **five(silent, workload("train-4", WAITING)))
    waiting = require_waiting(scene, lab, scene.job("train-3"))
    assert what_was_said(scene, waiting)[0].reason == "WaitingForQuota"
    alone = world(make_scene, **five(silent))
    assert what_was_said(alone, require_waiting(alone, lab, alone.job("train-3"))) == ()


def test_why_the_third_job_did_not_wait(make_scene, lab):
    admitted = five(workload("train-3", ADMITTED))
    scene = world(make_scene, **admitted)
    assert "train-1, train-2" in told(lambda: require_waiting(scene, lab, scene.job("train-3")))
    scene = world(make_scene, **admitted, clusterqueues=[cluster_queue(cohortName="lab")])
    assert "cohort lab" in told(lambda: require_waiting(scene, lab, scene.job("train-3")))
    scene = world(make_scene, **five(workload("train-3", WAITING, gpus="3")))
    assert "3" in told(lambda: require_waiting(scene, lab, scene.job("train-3")))


def event(uid, reason="WaitingForQuota", kind="Warning", time=LONG_AGO):
    return {
        "metadata": {"name": "e", "namespace": "team-a"},
        "involvedObject": {"uid": uid},
        "type": kind,
        "reason": reason,
        "message": MESSAGE,
        "eventTime": time,
    }


def test_a_job_that_waits_for_a_node_that_is_not_there(make_scene, lab):
    there = five(workload("train-3", WAITING))
    there["jobs"][2] = job("train-3", nodeSelector={"zone": "attic"})
    node = {"metadata": {"name": "n", "labels": {"zone": "cellar"}}}
    scene = world(make_scene, **there, nodes=[node])
    text = told(lambda: require_waiting(scene, lab, scene.job("train-3")))
    assert "nodeSelector" in text
    assert "zone=attic" in text


def test_what_proves_a_wait(make_scene):
    at_once, late = workload("train-3", ADMITTED), workload("train-3", LATE_ADMISSION)

    def waited(item, **changes):
        scene = world(make_scene, jobs=[job("train-3")], workloads=[item], **changes)
        wait = find_wait(scene, scene.workload_of(scene.job("train-3")))
        return wait.since if wait else ""

    assert waited(at_once) == ""
    assert waited(late) == LONG_AGO
    assert waited(at_once, events=[event("uid-w-train-3")]) == LONG_AGO
    assert waited(at_once, events=[event("uid-w-other")]) == ""
    assert waited(at_once, events=[event("uid-w-train-3", kind="Normal")]) == ""
    assert waited(workload("train-3", WAITING)) == ""


def eight(third=None, *, first=None, **changes):
    third = third or workload("train-3", LATE_ADMISSION)
    jobs = [job("train-2", suspend=False), job("train-3", suspend=False)]
    workloads = [workload("train-2", ADMITTED), third]
    if first is not None:
        jobs.append(first)
    return {"jobs": jobs, "workloads": workloads, **changes}


def credit(**uids):
    return {
        5: [
            *(
                Evidence("Job", name.replace("_", "-"), "x", LONG_AGO, uid=uid)
                for name, uid in uids.items()
            )
        ]
    }


def test_the_same_job_waited_and_came_in(make_scene, lab):
    scene = world(make_scene, **eight())
    assert is_after_step_8(scene, lab)
    require_first_gone(scene, lab, {})
    third = require_same_job(scene, lab, credit(train_3="uid-train-3"))
    workload_now = require_admitted(scene, third)
    assert require_waited(scene, lab, third, workload_now, {}).since == LONG_AGO


def test_evidence_of_step_5_stands_in_for_a_lost_history(make_scene, lab):
    scene = world(make_scene, **eight(workload("train-3", ADMITTED)))
    third = require_same_job(scene, lab, credit(train_3="uid-train-3"))
    now = require_admitted(scene, third)
    assert "uid" in told(lambda: require_waited(scene, lab, third, now, {}))
    assert "nothing shows that it waited" in told(lambda: require_same_job(scene, lab, {}))
    seen = Evidence("Workload", "w", "QuotaReserved=False", LATER, uid="uid-w-train-3")
    assert require_waited(scene, lab, third, now, {5: [seen]}).since == LATER
    assert require_same_job(scene, lab, {5: [seen]}).uid == "uid-train-3"


@pytest.mark.parametrize("third", [ADMITTED, LATE_ADMISSION, WAITING])
def test_a_job_that_was_submitted_again(make_scene, lab, third):
    scene = world(make_scene, **eight(workload("train-3", third)))
    text = told(lambda: require_same_job(scene, lab, credit(train_3="11112222-33")))
    assert "| uid 11112222 |" in text
    assert "uid uid-trai: train-3 is not the Job that step 5 was passed with" in text
    assert "check step 5, then delete train-1" in text
    assert require_same_job(scene, lab, credit(train_3="uid-train-3")).uid == "uid-train-3"


def test_another_train_3_is_told_before_train_1_is_deleted(make_scene, lab):
    scene = world(make_scene, **five(workload("train-3", WAITING)))
    text = told(lambda: require_first_gone(scene, lab, credit(train_3="uid-old")))
    assert "check step 5 first" in text
    text = told(lambda: require_first_gone(scene, lab, credit(train_3="uid-train-3")))
    assert "check step 5 first" not in text


@pytest.mark.parametrize(
    ("first", "words"),
    [
        (
            job(suspend=False, conditions=[condition("Complete", "True")]),
            ["there: it has ended: Complete"],
        ),
        (job(), ["train-1 is still there: it ", "train-3 is admitted"]),
        (
            job() | {"metadata": job()["metadata"] | {"creationTimestamp": "2027-01-15T07:20:00Z"}},
            ["again"],
        ),
    ],
)
def test_the_first_job_is_still_there(make_scene, lab, first, words):
    scene = world(make_scene, **eight(first=first))
    text = told(lambda: require_first_gone(scene, lab, {}))
    assert all(word in text for word in words), text


def test_the_first_job_is_on_its_way_out(make_scene, lab):
    first = job(suspend=False)
    first["metadata"]["deletionTimestamp"] = LATER
    scene = world(make_scene, **eight(first=first))
    told(lambda: require_first_gone(scene, lab, {}), OnItsWay)


def test_the_first_job_is_about_to_be_complete(make_scene, lab):
    first, ended = job(suspend=False), pod(phase="Succeeded")
    scene = world(make_scene, **eight(first=first), pods=[ended])
    told(lambda: require_first_gone(scene, lab, {}), OnItsWay)


def books(admitted=2, pending=1, gpus="2"):
    queue = cluster_queue()
    queue["status"] |= {
        "admittedWorkloads": admitted,
        "pendingWorkloads": pending,
        "flavorsReservation": [
            {"name": "fake-gpu", "resources": [{"name": "nvidia.com/gpu", "total": gpus}]}
        ],
    }
    return [queue]


def usage(text, mtime=LONG_AGO):
    return TextFile("usage.json", Path("/w/usage.json"), text, len(text), int(seconds_of(mtime)))


RIGHT = '{"admitted": 2, "pending": "1", "gpu_reserved": 2.0, "more": null}'


def test_a_ledger_that_agrees_lags_or_is_off(make_scene, lab):
    scene = world(make_scene, **five(workload("train-3", WAITING)), clusterqueues=books())
    file = usage(RIGHT)
    fact, past = require_same_ledger(scene, lab, file, read_ledger_file(file, lab))
    assert "pending 1" in fact
    assert past is None
    file = usage(RIGHT.replace("2,", "3,"))
    off = read_ledger_file(file, lab)
    assert "admitted 3" in told(lambda: require_same_ledger(scene, lab, file, off))
    lagging = world(make_scene, **five(workload("train-3", WAITING)), clusterqueues=books(1))
    told(lambda: require_same_ledger(lagging, lab, file, off), OnItsWay)


@pytest.mark.parametrize(
    ("mtime", "third", "is_right"),
    [
        (LONG_AGO, workload("train-3", LATE_ADMISSION), True),
        (LATER, workload("train-3", LATE_ADMISSION), True),
        ("2027-01-15T07:10:01Z", workload("train-3", LATE_ADMISSION), False),
        (LONG_AGO, workload("train-3", ADMITTED), False),
    ],
)
def test_the_books_of_before_step_8(make_scene, lab, mtime, third, is_right):
    scene = world(make_scene, **eight(third), clusterqueues=books(pending=0))
    file = usage(RIGHT, mtime)
    written = read_ledger_file(file, lab)
    if is_right:
        fact, past = require_same_ledger(scene, lab, file, written)
        assert "before train-3" in fact
        assert "pending 0" in str(past)
    else:
        assert "pending" in told(lambda: require_same_ledger(scene, lab, file, written))


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("[]", ["object"]),
        ('{"admited": 2, "pending": 1, "gpuReserved": 2}', ["admitted", "gpu_reserved", "admited"]),
        ('{"team-a": {"admitted": 2}}', ["admitted", "team-a"]),
        ('{"admitted": 2, "pending": null, "gpu_reserved": 2}', ["pending", "null"]),
        ('{"admitted": 2, "pending": 1, "gpu_reserved": 1e999}', ["gpu_reserved"]),
        ('{"admitted": true, "pending": 1, "gpu_reserved": 1}', ["admitted", "true"]),
        ('{"admitted": "two", "pending": 1, "gpu_reserved": 1}', ["admitted", "two"]),
    ],
)
def test_files_that_hold_no_ledger(lab, text, words):
    found = told(lambda: read_ledger_file(usage(text), lab))
    assert "usage.json" in found
    assert all(word in found for word in words), found
