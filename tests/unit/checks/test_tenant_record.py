"""What the recorder tells of what was changed in between and is back: quota, queues, Workloads."""

import pytest

from checks.gpu_preemption.held_pods import most_at_once, stands_of
from checks.gpu_preemption.judge_ceiling import require_refused
from checks.gpu_preemption.judge_classes import require_ready
from checks.gpu_preemption.judge_refused import require_forgotten
from checks.gpu_preemption.judge_waiting import require_high_holds
from checks.outcome import Mismatch
from checks.serving import read_deployment
from tests.unit.checks.conftest import LONG_AGO, condition
from tests.unit.checks.test_preemption import history, workload
from tests.unit.checks.test_tenant_judges import lab, manifest
from tests.unit.checks.test_tenant_past import (
    HIGH_GONE,
    HIGH_HELD,
    QUOTA,
    SERVE,
    change,
    pod,
    scene,
    stood,
)
from tests.unit.checks.test_yielding import HAS_QUOTA, high_job, open_queue

__all__ = ["lab"]  # a fixture

GPU = "nvidia.com/gpu"
FLAVOR = {"metadata": {"name": "fake-gpu"}, "spec": {}}


def refused(message, reason="WaitingForQuota"):
    return {"conditions": {"QuotaReserved": ["False", reason, LONG_AGO, message]}}


@pytest.mark.parametrize(
    ("message", "is_behind"),
    [(f"insufficient unused quota for {GPU}", True), ("LocalQueue training is stopped", False)],
)
def test_a_closed_queue_is_no_wait_behind_an_equal(lab, tmp_path, message, is_behind):
    rival = high_job()
    rival["metadata"] |= {"name": "finetune-02", "uid": "tj-finetune-02"}
    about = ("Workload", "w-finetune-02", "wl-finetune-02")
    past = history(
        tmp_path,
        *HIGH_HELD,
        change(*about, 20, **refused(message)),
        *HIGH_GONE,
        change(*about, 40, **QUOTA),
    )
    holds = workload("finetune-02", *HAS_QUOTA, held="4", priority=1000)
    here = scene(past, trainjobs=[rival], workloads=[holds])
    if is_behind:
        assert require_high_holds(here, lab) is None
        return
    with pytest.raises(Mismatch):
        require_high_holds(here, lab)


RUSH = {"owner": "rush-01", "owner_uid": "tj"}
ASKS = {"amounts": {GPU: "5"}, **RUSH, **refused(f"insufficient quota for {GPU}")}


def queue(version, gpus):
    return change("ClusterQueue", "team-b", "q", version, quota={GPU: gpus})


@pytest.mark.parametrize(
    ("quotas", "is_ceiling"),
    [([queue(1, "4")], True), ([queue(1, "8"), queue(9, "4")], False), ([], True)],
    ids=["four", "eight-for-a-moment", "unknown"],
)
def test_a_larger_quota_is_no_ceiling(lab, tmp_path, quotas, is_ceiling):
    job = change("TrainJob", "rush-01", "tj", 2, queue="training", priority_class="critical")
    job["facts"]["priority_class"] = lab.big_job.priority
    about = ("Workload", "w", "w")
    past = history(
        tmp_path, job, *quotas, change(*about, 5, **ASKS), change(*about, 6, "deleted", **ASKS)
    )
    if is_ceiling:
        assert require_refused(scene(past), lab).name == "w"
        return
    with pytest.raises(Mismatch, match="the quota was large enough"):
        require_refused(scene(past), lab)


ALONE, MORE = {GPU: "1"}, {GPU: "1", "cpu": "100m"}


@pytest.mark.parametrize(
    ("pods", "most"),
    [([ALONE], 1), ([MORE, MORE], 0), ([MORE, MORE, ALONE], 3)],
    ids=["alone", "with-cpu", "corrected"],
)
def test_pods_that_ask_for_more_than_gpus_do_not_wait_for_them(lab, tmp_path, pods, most):
    waits = (
        one
        for name, amounts in zip("abc", pods, strict=False)
        for one in (pod(name, 20), stood(name, 21, amounts=amounts))
    )
    past = history(tmp_path, *HIGH_HELD, *waits)
    assert most_at_once(stands_of(scene(past), lab, read_deployment(SERVE))) == most


def test_a_job_whose_workload_was_deleted_by_hand_is_not_forgotten(lab, tmp_path):
    job = manifest("orphan.yaml")
    job["metadata"] |= {"uid": "o", "creationTimestamp": LONG_AGO}
    job["spec"]["suspend"] = True
    about = {"owner": lab.orphan.name, "owner_uid": "o"}
    for uid, is_known in (("o", True), ("of-one-before", False)):
        past = history(tmp_path, change("Workload", "w", "w", 1, **about | {"owner_uid": uid}))
        queues = {"clusterqueues": [open_queue(0)], "localqueues": [open_queue(1)]}
        here = scene(past, jobs=[job], resourceflavors=[FLAVOR], **queues)
        if not is_known:
            require_forgotten(here, lab)
            continue
        with pytest.raises(Mismatch, match="Workload w: the class was there"):
            require_forgotten(here, lab)


@pytest.mark.parametrize(
    ("owner", "words"),
    [("team", "namespace team: delete"), ("team-b", "delete both"), ("", "delete both")],
)
def test_who_has_the_name_of_the_class(lab, owner, words):
    mine = manifest("urgent.yaml")
    mine["status"] = {"conditions": [condition("Ready", "False", "NameConflict")]}
    marks = {"kakaocloud.io/namespace": owner} if owner else {}
    taken = {"metadata": {"name": lab.urgent.name, "annotations": marks}, "value": 1}
    lists = {lab.custom_class_kind.plural: [mine], "workloadpriorityclasses": [taken]}
    with pytest.raises(Mismatch) as told:
        require_ready(scene(**lists), lab)
    assert words in str(told.value.finding.next_move)
