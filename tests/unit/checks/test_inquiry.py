"""Asked about trainings and Deployments, from what a real cluster answered."""

import copy
import json
from pathlib import Path

import pytest

from checks.explain import Cause
from checks.inquiry import NotThere, inquire_of
from tests.pictures import KINDS, MAKERS
from tests.unit.checks.conftest import ListedCluster

FILE = Path(__file__).parents[2] / "golden" / "picture" / "gated.json"
API = "kueue.x-k8s.io/v1beta2"
PLURALS = {kind.name: kind.plural for kind in (*KINDS, *MAKERS)}


class Recorded(ListedCluster):
    """The lists of a recording; what it has no list of is served and empty."""

    requests = 0

    def require_served(self, kind):
        """All kinds are."""


@pytest.fixture(scope="module")
def lists():
    found = json.loads(FILE.read_text())
    return {PLURALS[kind]: items for kind, items in found.items()}


def ask(lists, name):
    return inquire_of(Recorded(**lists), name, ("team-b",), API, only=True)


def told(answer, key):
    return " ".join(str(one.text) for one in answer.why.details if one.key == key)


def named(lists, plural, start):
    return next(
        one["metadata"]["name"]
        for one in lists[plural]
        if one["metadata"]["name"].startswith(start)
    )


@pytest.mark.parametrize(
    ("plural", "start"),
    [
        ("trainjobs", "pretrain-01"),
        ("jobs", "pretrain-01"),
        ("workloads", "trainjob-pretrain-01"),
    ],
)
def test_who_had_to_leave_says_for_whom_however_it_is_asked(lists, plural, start):
    answer = ask(lists, named(lists, plural, start))
    assert (answer.job, answer.job_kind) == ("pretrain-01", "TrainJob")
    assert answer.why.cause is Cause.QUOTA
    assert not answer.why.is_coming
    assert told(answer, "preemptor").startswith("TrainJob finetune-01, priority 1000 (high)")
    assert answer.way[0] == "TrainJob pretrain-01"


def test_a_kind_before_the_name_chooses(lists):
    assert ask(lists, "pretrain-01").kind == "TrainJob"
    assert ask(lists, "jobset/pretrain-01").kind == "JobSet"
    with pytest.raises(NotThere):
        ask(lists, "deploy/pretrain-01")


def test_equal_priority_does_not_make_anybody_leave(lists):
    answer = ask(lists, "finetune-02")
    assert answer.why.cause is Cause.QUOTA
    assert "finetune-01 1000 (high)" in told(answer, "priority")
    assert told(answer, "preemptor") == ""


def test_a_pod_of_a_training_is_its_training(lists):
    answer = ask(lists, named(lists, "pods", "finetune-01"))
    assert (answer.kind, answer.job, answer.why.cause) == ("Pod", "finetune-01", Cause.RUNNING)


def test_a_deployment_waits_with_its_pods_which_are_workloads_of_their_own(lists):
    answer = ask(lists, "web-x")
    assert (answer.kind, answer.job_kind, answer.why.cause) == (
        "Deployment",
        "Deployment",
        Cause.QUOTA,
    )
    assert "0 of 2 run" in told(answer, "replicas")
    assert "wait for Kueue" in told(answer, "replicas")
    pod = ask(lists, named(lists, "pods", "web-x"))
    assert (pod.kind, pod.job_kind, pod.why.cause) == ("Pod", "Pod", Cause.QUOTA)
    work = ask(lists, named(lists, "workloads", "pod-web-x"))
    assert (work.kind, work.job_kind, work.why.cause) == ("Workload", "Pod", Cause.QUOTA)


def test_a_class_that_does_not_exist_keeps_a_pod_without_workload(lists):
    answer = ask(lists, "web-none")
    assert answer.why.cause is Cause.PRIORITY
    assert "nothere" in str(answer.why.what)
    assert "no Workload" in told(answer, "also")


@pytest.mark.parametrize("name", ["nolabel", "bare"])
def test_what_has_no_queue_is_held_where_kueue_manages_that_too(lists, name):
    answer = ask(lists, name)
    assert answer.why.cause is Cause.UNQUEUED
    assert "manageJobsWithoutQueueName" in str(answer.why.what)


def test_without_preemption_nothing_is_said_about_priorities(lists):
    plain = copy.deepcopy(lists)
    plain["clusterqueues"][0]["spec"]["preemption"] = {"withinClusterQueue": "Never"}
    assert told(ask(plain, "finetune-02"), "priority") == ""


def test_a_deployment_whose_pods_run(lists):
    running = copy.deepcopy(lists)
    for pod in running["pods"]:
        if pod["metadata"]["name"].startswith("web-x"):
            pod["spec"].pop("schedulingGates")
            pod["spec"]["nodeName"] = "gpu-node-0"
            pod["status"] = {"phase": "Running"}
    answer = ask(running, "web-x")
    assert answer.why.cause is Cause.RUNNING
    assert told(answer, "replicas") == "2 of 2 run"


def test_names_that_may_have_been_meant_are_those_of_trainings_too(lists):
    with pytest.raises(NotThere) as found:
        ask(lists, "finetune-2")
    assert "finetune-02" in found.value.near
