"""Why a Job waits, from live objects: one cause each, and whether it is coming."""

import pytest

from checks.explain import Cause, explain, explain_fully
from checks.reasons.words import near_names, there_is
from tests.unit.checks.conftest import (
    ADMITTED,
    JUST_NOW,
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


def queues(**changes):
    return {
        "clusterqueues": [cluster_queue()],
        "localqueues": [local_queue()],
        "resourceflavors": [flavor()],
        **changes,
    }


def why(make_scene, the_job, *workloads, **changes):
    scene = make_scene(jobs=[the_job], workloads=list(workloads), **queues(**changes))
    return explain(scene, scene.job(the_job["metadata"]["name"]))


FULL = (workload("a", ADMITTED), workload("b", ADMITTED))
LIMITED = workload("train-1", WAITING, gpus="3")
ELSEWHERE = (condition("QuotaReserved", "False", "NoMatchingFlavor", "untolerated taint x"),)
FRESH = (condition("QuotaReserved", "False", "NoMatchingFlavor", "taint", since=JUST_NOW),)
INACTIVE = cluster_queue()
INACTIVE["status"]["conditions"] = [condition("Active", "False", "FlavorNotFound", "missing")]
SELECTING = job()
SELECTING["spec"]["template"]["spec"]["nodeSelector"] = {"nvidia.com/gpu.present": "false"}


@pytest.mark.parametrize(
    ("the_job", "workloads", "changes", "cause", "words"),
    [
        (job(conditions=[condition("Failed", "True")]), (), {}, Cause.ENDED, ["Failed"]),
        (job(labels={}), (), {}, Cause.UNQUEUED, ["label"]),
        (job(), (), {"localqueues": []}, Cause.NO_QUEUE, ["lq", "team-a"]),
        (job(), (), {"clusterqueues": []}, Cause.NO_QUEUE, ["ClusterQueue team-a"]),
        (job(), (), {"localqueues": [local_queue(stopPolicy="Hold")]}, Cause.STOPPED, ["Hold"]),
        (job(), (), {"clusterqueues": [cluster_queue(stopPolicy="Hold")]}, Cause.STOPPED, ["Hold"]),
        (job(), (), {"clusterqueues": [INACTIVE]}, Cause.INACTIVE, ["FlavorNotFound"]),
        (job(priorityClassName="urgent"), (), {}, Cause.PRIORITY, ["PriorityClass urgent"]),
        (job(), (workload("train-1", ADMITTED),), {}, Cause.ADMITTED, ["admitted"]),
        (job(), (workload("train-1", WAITING, active=False),), {}, Cause.DEACTIVATED, ["active"]),
        (job(), (LIMITED,), {}, Cause.NEVER_FITS, ["3", "nvidia.com/gpu", "2", MESSAGE]),
        (SELECTING, (workload("train-1", ELSEWHERE),), {}, Cause.NO_FLAVOR, ["false", "true"]),
        (job(), (workload("train-1", ELSEWHERE),), {}, Cause.REFUSED, ["taint"]),
        (job(), (*FULL, workload("train-1", WAITING)), {}, Cause.QUOTA, ["a, b", "0 of 2"]),
    ],
)
def test_causes_that_stay(make_scene, the_job, workloads, changes, cause, words):
    found = why(make_scene, the_job, *workloads, **changes)
    assert found.cause is cause
    assert not found.is_coming
    assert all(word in str(found.what) for word in words), str(found.what)


def test_a_workload_is_awaited_when_the_priority_class_is_there(make_scene):
    there = {"priorityclasses": [{"metadata": {"name": "urgent"}}]}
    found = why(make_scene, job(priorityClassName="urgent"), **there)
    assert found.cause is Cause.NO_WORKLOAD
    assert found.is_coming


@pytest.mark.parametrize(
    ("workloads", "cause"),
    [
        ((), Cause.NO_WORKLOAD),
        ((workload("train-1", ()),), Cause.TURN),
        ((workload("train-1", WAITING), workload("a", ADMITTED)), Cause.TURN),
        ((workload("train-1", FRESH),), Cause.TURN),
        (
            (
                workload("train-1", WAITING),
                FULL[0],
                workload("b", ADMITTED, deletionTimestamp=LONG_AGO),
            ),
            Cause.QUOTA,
        ),
    ],
)
def test_causes_that_kueue_ends_by_itself(make_scene, workloads, cause):
    found = why(make_scene, job(), *workloads)
    assert (found.cause, found.is_coming) == (cause, True)


def test_what_a_resource_without_quota_does(make_scene):
    odd = workload("train-1", WAITING)
    odd["status"]["resourceRequests"][0]["resources"]["ephemeral-storage"] = "1Gi"
    found = why(make_scene, job(), odd)
    assert found.cause is Cause.NOT_COVERED
    assert "ephemeral-storage" in str(found.what)


def test_a_finished_workload_holds_no_quota(make_scene):
    ended = workload("a", (*ADMITTED, condition("Finished", "True")))
    found = why(make_scene, job(), ended, FULL[1], workload("train-1", WAITING))
    assert found.cause is Cause.TURN


def test_in_a_cohort_what_others_lend_counts(make_scene):
    lender = cluster_queue(cohortName="lab")
    lender["metadata"] = {"name": "team-b", "generation": 1}
    alone = [cluster_queue(cohortName="lab")]
    assert why(make_scene, job(), LIMITED, clusterqueues=alone).cause is Cause.NEVER_FITS
    both = [*alone, lender]
    lent = (workload("a", ADMITTED), workload("b", ADMITTED), workload("c", ADMITTED))
    assert why(make_scene, job(), LIMITED, *lent, clusterqueues=both).cause is Cause.QUOTA
    assert why(make_scene, job(), LIMITED, clusterqueues=both).cause is Cause.TURN


@pytest.mark.parametrize(
    ("name", "near"),
    [("TRAIN-3", "train-3"), ("train3", "train-3"), ("Sneaky", "sneaky"), ("zzz", "")],
)
def test_near_names_are_found_in_any_case(name, near):
    assert next(iter(near_names(name, ["train-1", "sneaky", "train-3"])), "") == near


def test_without_kueues_words_nothing_stands_in_brackets(make_scene):
    silent = workload("train-1", ())
    odd = workload("train-1", ())
    odd["status"]["resourceRequests"][0]["resources"]["ephemeral-storage"] = "1Gi"
    for one, cause in ((silent, Cause.TURN), (odd, Cause.NOT_COVERED)):
        found = why(make_scene, job(), one)
        assert found.cause is cause
        assert "(" not in str(found.what)


def test_before_there_is_any_local_queue_it_is_made_and_not_the_job(make_scene):
    found = why(make_scene, job(), localqueues=[])
    assert str(found.next_move).startswith("create that LocalQueue")
    other = local_queue()
    other["metadata"]["name"] = "other"
    found = why(make_scene, job(), localqueues=[other])
    assert str(found.next_move).startswith("delete it and submit it")


def test_all_names_that_there_are_stand_below_the_near_ones_first():
    known = ["high", "low", "normal", "team-b-batch"]
    assert str(there_is("team-b-urgent", known).text) == "team-b-batch, high, low, normal"
    assert str(there_is("x", ()).text) == "-"
    assert str(there_is("x", map(str, range(9))).text) == "0, 1, 2, 3, 4, 5, ..."


def test_of_a_workload_without_a_queue_kueues_words_are_left_out(make_scene):
    left = workload(
        "train-1", (condition("QuotaReserved", "False", "Inadmissible", "LocalQueue "),)
    )
    left["spec"]["queueName"] = ""
    scene = make_scene(jobs=[job(labels={})], workloads=[left], **queues())
    found = explain_fully(scene, scene.job("train-1"))
    assert found.cause is Cause.UNQUEUED
    assert "says" not in {one.key for one in found.details}


def test_where_use_decides_the_numbers_of_all_local_queues_are_told(make_scene):
    fair = cluster_queue(admissionScope={"admissionMode": "UsageBasedAdmissionFairSharing"})
    mine, other = local_queue(fairSharing={"weight": 3}), local_queue()
    other["metadata"]["name"] = "research"
    status = {"consumedResources": {"nvidia.com/gpu": "393913396n"}}
    mine["status"]["fairSharing"] = {"admissionFairSharingStatus": status}
    waiting = (*FULL, workload("train-1", WAITING))
    changes = {"clusterqueues": [fair], "localqueues": [mine, other]}
    found = why(make_scene, job(), *waiting, **changes)
    (turn,) = [one for one in found.details if one.key == "turn"]
    assert str(turn.text).endswith("nvidia.com/gpu used/weight: lq 0.394/3; research 0/1")
    plain = why(make_scene, job(), *waiting, **changes | {"clusterqueues": [cluster_queue()]})
    assert "turn" not in {one.key for one in plain.details}
