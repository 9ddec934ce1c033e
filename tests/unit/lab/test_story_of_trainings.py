"""The story of trainings, Deployments and custom kinds, in the shape of what Kueue writes."""

import json

import pytest

from checks.history import History
from checks.journal import Journal
from checks.recording.facts import facts_of
from checks.recording.keeper import Keeper
from lab.story import tell_story
from tests.unit.checks.conftest import ADMITTED, WAITING, condition, job, workload

START = 1_800_000_000.0
LEFT = "Preempted to accommodate a workload (UID: uid-job-high-abcde, JobUID: x) due to priority"
PREEMPTED = (
    condition("QuotaReserved", "False", "PendingEvaluation", LEFT),
    condition("Evicted", "True", "Preempted", LEFT),
    condition("Preempted", "True", "InClusterQueue", LEFT),
)


@pytest.fixture
def record(tmp_path):
    (tmp_path / "cluster.id").write_text("life")
    file = tmp_path / "history.jsonl"
    clock = [START]

    def tick():
        clock[0] += 1
        return clock[0]

    keeper = Keeper(Journal(file, "life"), now=tick)
    keeper.begin(0.0)

    def see(kind, raw, **how):
        raw = {**raw, "metadata": {**raw["metadata"], "uid": f"uid-{raw['metadata']['name']}"}}
        keeper.see(kind, raw, **how)
        return [f"{m.name}: {m.what}" for m in tell_story(History(file))][1:]

    return see


def thing(name, *, labels=None, conditions=(), **spec):
    queue = {"kueue.x-k8s.io/queue-name": "lq", "kueue.x-k8s.io/priority-class": "low"}
    meta = {"name": name, "namespace": "team-a", "labels": queue if labels is None else labels}
    return {"metadata": meta, "spec": spec, "status": {"conditions": list(conditions)}}


def test_a_training_is_let_in_preempted_and_let_in_again(record):
    record("TrainJob", thing("low", suspend=True))
    record("Workload", workload("low", ADMITTED))
    record("Workload", workload("high", WAITING))
    record("Workload", workload("low", PREEMPTED))
    record("Workload", workload("high", ADMITTED))
    again = workload("low", ADMITTED)
    again["status"]["schedulingStats"] = {"evictions": [{"reason": "Preempted", "count": 1}]}
    record("Workload", again)
    done = [condition("Complete", "True", "AllJobsCompleted")]
    record("TrainJob", thing("low", suspend=False, conditions=done))
    lines = record("TrainJob", thing("low"), is_gone=True)
    mine = [line.removeprefix("low: ") for line in lines if line.startswith("low: ")]
    assert mine[:3] == [
        "TrainJob submitted to the queue lq with the class low",
        "admitted by ClusterQueue team-a",
        "preempted by high: it lost its quota (InClusterQueue)",
    ]
    assert mine[3].startswith("let in again by ClusterQueue team-a after ")
    assert mine[4:] == ["TrainJob ended: Complete", "TrainJob deleted"]


def test_who_is_preempted_for_one_that_nobody_saw_is_told_in_kueues_words(record):
    assert record("Workload", workload("low", PREEMPTED))[-1] == f"low: Preempted: {LEFT}"


def test_an_eviction_for_another_reason_is_told(record):
    late = condition("Evicted", "True", "PodsReadyTimeout", "not ready for 5m")
    assert record("Workload", workload("low", (late,)))[-1] == "low: Evicted: not ready for 5m"


def test_a_job_of_a_jobset_is_its_own_and_nobody_bypassed_kueue(record):
    made = job("low-node-0", labels={"jobset.sigs.k8s.io/jobset-name": "low"})
    made["metadata"]["ownerReferences"] = [{"uid": "js", "name": "low", "controller": True}]
    assert record("Job", made) == []
    made["spec"]["suspend"] = False
    assert record("Job", made) == []


def test_a_job_without_label_that_is_suspended_did_not_go_past_kueue(record):
    (line,) = record("Job", job("plain", labels={"a": "b"}))
    assert line == "plain: Job submitted without a queue label, suspended"


def test_pods_of_a_deployment_are_held_by_gates(record):
    meta = {
        "name": "serve-5d-x",
        "namespace": "team-a",
        "labels": {"pod-template-hash": "5d"},
        "ownerReferences": [{"uid": "rs", "name": "serve-5d", "controller": True}],
    }
    gated = [condition("PodScheduled", "False", "SchedulingGated", "blocked")]
    pod = {
        "metadata": meta,
        "spec": {"schedulingGates": [{"name": "kueue.x-k8s.io/admission"}]},
        "status": {"phase": "Pending", "conditions": gated},
    }
    record("Deployment", thing("serve", replicas=1))
    assert record("Pod", pod) == [
        "serve: Deployment submitted to the queue lq with the class low",
        "serve: its pod serve-5d-x is held by gates: kueue.x-k8s.io/admission",
    ]


def test_a_kind_that_nobody_knows_is_ready_or_says_why_not(record):
    ready = [condition("Ready", "True", "Ready", "has the value 1200")]
    conflict = [condition("Ready", "False", "NameConflict", "exists already")]
    record("Custom", thing("urgent", labels={}))
    record("Custom", thing("urgent", labels={}, conditions=ready))
    lines = record("Custom", thing("batch", labels={}, conditions=conflict))
    assert lines == [
        "urgent: Custom made",
        "urgent: Custom is ready",
        "batch: Custom made",
        "batch: Custom is not ready: NameConflict: exists already",
    ]


def test_a_class_or_queue_that_changes_is_told(record):
    record("TrainJob", thing("low"))
    other = {"kueue.x-k8s.io/queue-name": "lq", "kueue.x-k8s.io/priority-class": "high"}
    assert record("TrainJob", thing("low", labels=other))[-1] == (
        "low: priority class of the TrainJob is now high"
    )
    assert record("TrainJob", thing("low", labels={}))[-1] == (
        "low: queue label of the TrainJob is now -"
    )


@pytest.mark.parametrize("spec", [{}, {"suspend": True}, {"suspend": "yes"}])
def test_facts_of_any_kind_can_be_written_down(spec):
    """A Deployment has no spec.suspend."""
    found = facts_of("Deployment", thing("serve", **spec))
    assert json.loads(json.dumps(found)) == found
    assert found.get("suspend", True) is True
