"""Why a Job is not admitted: each cause made on a real Kueue, and named by what is there."""

from __future__ import annotations

import time

import pytest

from checks.inquiry import NotThere
from checks.reasons.cause import Cause
from provision.message import say
from provision.waiting import wait_until
from tests.integration.local.why_world import (
    GPU,
    LABEL,
    QUEUES,
    World,
    cluster_queue,
    flavor,
    job,
    local_queue,
    thing,
)

pytestmark = [pytest.mark.integration, pytest.mark.full, pytest.mark.timeout(120, func_only=True)]

TYPO_LABELS = {"kueue.x-k8s.io/queue": "lq"}
ZONE = {"zone": "a"}
TAINT = {"key": "spot", "value": "true", "effect": "NoSchedule"}
AFFINITY = {
    "nodeAffinity": {
        "requiredDuringSchedulingIgnoredDuringExecution": {
            "nodeSelectorTerms": [
                {"matchExpressions": [{"key": "zone", "operator": "In", "values": ["b"]}]}
            ]
        }
    }
}
ONLY_B = {"matchLabels": {"team": "b"}}
SPOT = {"spot": {"cpu": "2", "memory": "2Gi", GPU: "1"}}
TWO = {"fake-gpu": {"cpu": "2", "memory": "2Gi", GPU: "1"}, **SPOT}
CHECKED = {"admissionChecks": [{"name": "budget"}]}
LIMITS = thing(
    "LimitRange",
    "defaults",
    {"limits": [{"type": "Container", "defaultRequest": {"ephemeral-storage": "1Gi"}}]},
    "v1",
    namespace="team-a",
)
MAXIMUM = thing(
    "LimitRange", "small", {"limits": [{"type": "Container", "max": {"cpu": "1"}}]}, "v1",
    namespace="team-a",
)  # fmt: skip
BIG_CPU = {GPU: 1, "cpu": "1500m", "memory": "64Mi"}

# What is submitted after the flavor, the ClusterQueue and the LocalQueue, why train-1 is not
# admitted, and what must be told.
SITUATIONS = {
    "larger-than-the-quota": ([*QUEUES, job(gpus=3)], Cause.NEVER_FITS, ["3", GPU, "quota is 2"]),
    "no-label": ([*QUEUES, job(labels={})], Cause.UNQUEUED, ["pods: Job train-1 runs"]),
    "label-key-typo": ([*QUEUES, job(labels=TYPO_LABELS)], Cause.UNQUEUED, ["x-k8s.io/queue:"]),
    "label-in-annotations": (
        [*QUEUES, job(labels={}, metadata={"annotations": {LABEL: "lq"}})],
        Cause.UNQUEUED,
        ["metadata.annotations"],
    ),
    "label-on-the-template": (
        [*QUEUES, job(labels={"app": "x"}, pod_labels={LABEL: "lq"})],
        Cause.UNQUEUED,
        ["spec.template.metadata.labels"],
    ),
    "suspended-by-hand": (
        [*QUEUES, job(labels={}, job_spec={"suspend": True})],
        Cause.UNQUEUED,
        ["spec.suspend is true, and nobody"],
    ),
    "local-queue-absent": (
        [*QUEUES, job(labels={LABEL: "lqq"})],
        Cause.NO_QUEUE,
        ["LocalQueue lqq", "there: lq"],
    ),
    "cluster-queue-in-the-label": (
        [*QUEUES, job(labels={LABEL: "team-a"})],
        Cause.NO_QUEUE,
        ["team-a is the ClusterQueue; the label takes the LocalQueue: lq"],
    ),
    "local-queue-elsewhere": (
        [flavor(), cluster_queue(), local_queue(namespace="team-b"), job()],
        Cause.NO_QUEUE,
        ["does not exist in team-a", "is in team-b"],
    ),
    "cluster-queue-absent": (
        [flavor(), cluster_queue(), local_queue(to="teama"), job()],
        Cause.NO_QUEUE,
        ["ClusterQueue teama", "there: team-a"],
    ),
    "local-queue-held": (
        [flavor(), cluster_queue(), local_queue(stopPolicy="Hold"), job()],
        Cause.STOPPED,
        ["LocalQueue lq has stopPolicy: Hold"],
    ),
    "cluster-queue-held": (
        [flavor(), cluster_queue(stopPolicy="HoldAndDrain"), local_queue(), job()],
        Cause.STOPPED,
        ["ClusterQueue team-a has stopPolicy: HoldAndDrain"],
    ),
    "flavor-absent": (
        [flavor("gpu-fake"), cluster_queue(), local_queue(), job()],
        Cause.INACTIVE,
        ["FlavorNotFound", "no ResourceFlavor fake-gpu", "there: gpu-fake"],
    ),
    "admission-check-absent": (
        [flavor(), cluster_queue(admissionChecksStrategy=CHECKED), local_queue(), job()],
        Cause.INACTIVE,
        ["AdmissionCheckNotFound", "budget"],
    ),
    "selector-null": (
        [flavor(), cluster_queue(namespaceSelector=None), local_queue(), job()],
        Cause.SELECTOR,
        ["no namespaceSelector", "{} is all"],
    ),
    "selector-for-others": (
        [flavor(), cluster_queue(namespaceSelector=ONLY_B), local_queue(), job()],
        Cause.SELECTOR,
        ["does not match namespace team-a", "team=b"],
    ),
    "memory-not-covered": (
        [flavor(), cluster_queue(quota={"cpu": "2", GPU: "2"}), local_queue(), job()],
        Cause.NOT_COVERED,
        ["asks memory", "there: cpu, nvidia.com/gpu"],
    ),
    "default-not-covered": (
        [LIMITS, *QUEUES, job()],
        Cause.NOT_COVERED,
        ["asks ephemeral-storage", "LimitRange defaults"],
    ),
    "limit-range-broken": (
        [MAXIMUM, *QUEUES, job(amounts=BIG_CPU)],
        Cause.LIMITS,
        ["cpu", "LimitRange small has max 1"],
    ),
    "flavor-labels-differ": (
        [flavor(labels=ZONE), *QUEUES[1:], job(nodeSelector={"zone": "b"})],
        Cause.NO_FLAVOR,
        ["zone=b", "fake-gpu", "has a"],
    ),
    "flavor-affinity": (
        [flavor(labels=ZONE), *QUEUES[1:], job(affinity=AFFINITY)],
        Cause.NO_FLAVOR,
        ["affinity", "flavor fake-gpu"],
    ),
    "flavor-taint": (
        [flavor(nodeTaints=[TAINT]), *QUEUES[1:], job()],
        Cause.NO_FLAVOR,
        ["taint spot=true:NoSchedule"],
    ),
    "two-flavors-too-small": (
        [flavor(), flavor("spot"), cluster_queue(flavors=TWO), local_queue(), job(gpus=2)],
        Cause.NEVER_FITS,
        ["asks 2 of nvidia.com/gpu", "quota is 1"],
    ),
    "cohort-too-small": (
        [
            flavor(),
            cluster_queue(cohortName="lab"),
            cluster_queue("team-b", flavors={"fake-gpu": SPOT["spot"]}, cohortName="lab"),
            local_queue(),
            job(gpus=4),
        ],
        Cause.NEVER_FITS,
        ["asks 4 of nvidia.com/gpu", "quota is 3"],
    ),
    "priority-class-absent": (
        [*QUEUES, job(labels={LABEL: "lq", "kueue.x-k8s.io/priority-class": "hihg"}),
         {**thing("WorkloadPriorityClass", "high", None), "value": 10}],
        Cause.PRIORITY,
        ["WorkloadPriorityClass hihg", "there: high"],
    ),
    "ended-in-failure": (
        [*QUEUES, job(job_spec={"activeDeadlineSeconds": 1})],
        Cause.ENDED,
        ["DeadlineExceeded"],
    ),
    "ended-well": ([*QUEUES, job(command="sleep 0")], Cause.ENDED, ["Complete"]),
    "queue-named-default": (
        [*QUEUES[:2], local_queue("default", to="nowhere"), job(labels={})],
        Cause.NO_QUEUE,
        ["ClusterQueue nowhere", "default on every Job without a label"],
    ),
    "larger-than-cpu": (
        [*QUEUES, job(amounts={GPU: 1, "cpu": "3", "memory": "64Mi"})],
        Cause.NEVER_FITS,
        ["asks 3 of cpu"],
    ),
}  # fmt: skip


@pytest.mark.parametrize("name", SITUATIONS)
def test_why_train_1_is_not_admitted(world: World, name: str):
    manifests, cause, words = SITUATIONS[name]
    world.apply(*manifests)
    told = world.why("train-1", cause)
    assert [word for word in words if word not in told] == [], told


def test_quota_names_the_holders_and_what_is_missing(world: World):
    world.apply(*QUEUES, job("train-1"), job("train-2"))
    world.wait("train-1", Cause.RUNNING)
    world.wait("train-2", Cause.RUNNING)
    world.apply(job("train-3"))
    told = world.why("train-3", Cause.QUOTA)
    for word in (
        "asks 1 of nvidia.com/gpu; free: 0 of 2, held by train-1, train-2",
        "missing: 1 nvidia.com/gpu",
        "holders: train-1: 1 nvidia.com/gpu",
    ):
        assert word in told
    live = world.run("get workloads.kueue.x-k8s.io -o jsonpath={..message}")
    says = next(line for line in told.splitlines() if line.startswith("says: "))
    assert says.split(": ", 2)[2] in live


def test_a_twin_without_a_condition_waits_for_quota(world: World):
    world.apply(*QUEUES, job("train-1", gpus=2))
    world.wait("train-1", Cause.RUNNING)
    world.apply(job("train-2"))
    world.why("train-2", Cause.QUOTA)
    world.apply(job("train-3"))
    told = world.why("train-3", Cause.QUOTA)
    workloads = world.place.get("workloads.kueue.x-k8s.io", "-n", "team-a")["items"]
    third = next(w for w in workloads if w["metadata"]["name"].startswith("job-train-3-"))
    kinds = [c["type"] for c in third.get("status", {}).get("conditions", [])]
    assert "held by train-1" in told
    assert ("twin: " in told) == ("QuotaReserved" not in kinds)


def test_in_a_strict_queue_the_head_keeps_others_waiting(world: World):
    world.apply(
        flavor(), cluster_queue(queueingStrategy="StrictFIFO"), local_queue(), job("train-1")
    )
    world.wait("train-1", Cause.RUNNING)
    world.apply(job("big", gpus=2))
    world.why("big", Cause.QUOTA)
    second = int(time.time())  # of equal seconds the queue makes an order of its own
    wait_until(lambda: say("the same second") if int(time.time()) == second else None, within=3)
    world.apply(job("small", gpus=1))
    told = world.why("small", Cause.HEAD)
    assert "big stands in front" in told
    assert "front: it asks 2 of nvidia.com/gpu" in told


def test_a_workload_switched_off(world: World):
    world.apply(*QUEUES, job())
    world.wait("train-1", Cause.RUNNING)
    name = world.run("get workloads.kueue.x-k8s.io -o name").strip().rpartition("/")[2]
    world.patch(f"workloads.kueue.x-k8s.io/{name}", {"spec": {"active": False}})
    told = world.why("train-1", Cause.DEACTIVATED)
    assert name in told
    assert "spec.active" in told


def test_a_label_taken_off_leaves_a_workload(world: World):
    world.apply(*QUEUES, job(gpus=3))
    world.why("train-1", Cause.NEVER_FITS)
    world.run(f"label job train-1 {LABEL}-")
    told = world.why("train-1", Cause.UNQUEUED)
    assert "a Workload job-train-1-" in told
    assert "nobody resumes it" in told


def test_an_orphaned_workload(world: World):
    world.apply(*QUEUES, job())
    world.wait("train-1", Cause.RUNNING)
    name = world.run("get workloads.kueue.x-k8s.io -o name").strip().rpartition("/")[2]
    world.run("delete job train-1 --cascade=orphan")
    assert name in world.why(f"workload/{name}", Cause.ORPHAN)


def test_an_admission_check_that_is_pending(world: World):
    check = thing("AdmissionCheck", "budget", {"controllerName": "lab.test/budget"})
    active = {
        "type": "Active",
        "status": "True",
        "reason": "Active",
        "message": "-",
        "lastTransitionTime": "2026-01-01T00:00:00Z",
    }
    world.apply(check)
    world.patch(
        "admissionchecks.kueue.x-k8s.io/budget",
        {"status": {"conditions": [active]}},
        "--subresource=status",
    )
    world.apply(flavor(), cluster_queue(admissionChecksStrategy=CHECKED), local_queue(), job())
    assert "budget: Pending" in world.why("train-1", Cause.CHECKS)


def test_a_preempted_job_says_that_it_had_quota(world: World):
    preemption = {"withinClusterQueue": "LowerPriority"}
    world.apply(
        {**thing("WorkloadPriorityClass", "high", None), "value": 100},
        flavor(),
        cluster_queue(preemption=preemption),
        local_queue(),
        job("low", gpus=2),
    )
    world.wait("low", Cause.RUNNING)
    world.apply(job("urgent", labels={LABEL: "lq", "kueue.x-k8s.io/priority-class": "high"}))
    told = world.why("low", Cause.QUOTA)
    assert "evicted: Preempted" in told
    assert "held by urgent" in told


def test_quota_that_a_cohort_member_borrowed(world: World):
    world.apply(
        flavor(),
        cluster_queue(cohortName="lab"),
        cluster_queue("team-b", cohortName="lab"),
        local_queue(),
        local_queue("lq", to="team-b", namespace="team-b"),
        job("borrower", gpus=3, namespace="team-b"),
    )
    world.wait("borrower", Cause.RUNNING)
    world.apply(job(gpus=2))
    told = world.why("train-1", Cause.QUOTA)
    assert "held by borrower" in told
    assert "cohort lab" in told


def test_a_job_that_is_going(world: World):
    world.apply(*QUEUES, job())
    world.wait("train-1", Cause.RUNNING)
    world.freeze("job", "train-1")
    world.run("delete job train-1 --wait=false")
    assert "being deleted" in world.why("train-1", Cause.LEAVING)


def test_in_a_namespace_that_kueue_leaves_alone(world: World):
    world.apply(*QUEUES, job(namespace="kube-system"))
    told = world.why("train-1", Cause.UNQUEUED, namespace="kube-system")
    assert "kube-system alone" in told


def test_names_of_pod_and_workload_lead_to_the_job(world: World):
    world.apply(*QUEUES, job())
    world.wait("train-1", Cause.RUNNING)
    workload = world.run("get workloads.kueue.x-k8s.io -o name").strip().rpartition("/")[2]
    pod = world.run("get pods -o name").strip()
    for asked, kind in ((workload, "Workload"), (pod, "Pod"), ("jobs/train-1", "Job")):
        answer = world.ask(asked)
        assert (answer.kind, answer.job, answer.why.cause) == (kind, "train-1", Cause.RUNNING)
        assert answer.way[1:] == ("LocalQueue lq", "ClusterQueue team-a", "flavor fake-gpu")


def test_a_name_that_is_not_there(world: World):
    world.apply(*QUEUES, job("train-3"))
    with pytest.raises(NotThere) as error:
        world.ask("trian-3")
    assert error.value.near[0] == "train-3"
    with pytest.raises(NotThere):
        world.ask("train-3", namespace="team-b")


def test_a_job_in_another_namespace_is_found(world: World):
    world.apply(flavor(), cluster_queue(), local_queue(), job(namespace="team-b"))
    answer = world.ask("train-1")
    assert (answer.namespace, answer.why.cause) == ("team-b", Cause.NO_QUEUE)


def test_asking_takes_few_requests(world: World):
    world.apply(*QUEUES, job(gpus=3))
    world.why("train-1", Cause.NEVER_FITS)
    assert world.ask("train-1").requests <= 12
