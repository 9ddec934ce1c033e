"""Why a Job waits, from live objects: one cause each, and whether it is coming."""

import pytest

from checks.explain import Cause, explain
from checks.reasons.words import near_names
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
