"""Why a Job that is let in does not run: nodes, hardware, schedulers, containers."""

from __future__ import annotations

import pytest

from checks.reasons.cause import Cause
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

MUCH = {"cpu": "64", "memory": "64Gi", GPU: "64"}
WIDE = (flavor(), cluster_queue(quota=MUCH), local_queue())
OTHER_ZONE = {
    "nodeAffinity": {
        "requiredDuringSchedulingIgnoredDuringExecution": {
            "nodeSelectorTerms": [
                {"matchExpressions": [{"key": "zone", "operator": "In", "values": ["b"]}]}
            ]
        }
    }
}
NO_PODS = thing("ResourceQuota", "none", {"hard": {"pods": "0"}}, "v1", namespace="team-a")

SITUATIONS = {
    "quota-larger-than-the-hardware": (
        [*WIDE, job(gpus=5)],
        Cause.NODE_SMALL,
        ["4 of 4 nvidia.com/gpu free, 5 asked", "together have 4 nvidia.com/gpu"],
    ),
    "more-cpu-than-the-node-has": (
        [*WIDE, job(amounts={GPU: 1, "cpu": "20", "memory": "64Mi"})],
        Cause.NODE_SMALL,
        ["8 cpu free, 20 asked"],
    ),
    "selector-that-no-node-has": (
        [*QUEUES, job(nodeSelector={"zone": "b"})],
        Cause.NODE_LABELS,
        ["nodeSelector zone=b, the node has -", "scheduler: 0/1 nodes"],
    ),
    "affinity-that-no-node-meets": (
        [*QUEUES, job(affinity=OTHER_ZONE)],
        Cause.NODE_LABELS,
        ["node affinity does not match"],
    ),
    "flavor-with-a-label-typo": (
        [flavor(labels={"gpu.present": "true"}), *QUEUES[1:], job()],
        Cause.NODE_LABELS,
        ["gpu.present=true comes from flavor fake-gpu", "next: correct spec.nodeLabels"],
    ),
    "another-scheduler": (
        [*QUEUES, job(schedulerName="volcano")],
        Cause.UNPLACED,
        ["scheduler volcano", "schedulerName"],
    ),
    "scheduling-gate": (
        [*QUEUES, job(schedulingGates=[{"name": "lab.test/gate"}])],
        Cause.UNPLACED,
        ["lab.test/gate"],
    ),
    "no-pods-allowed": ([NO_PODS, *QUEUES, job()], Cause.NO_PODS, ["exceeded quota: none"]),
    "unqueued-and-too-large": (
        [job(gpus=5, labels={})],
        Cause.NODE_SMALL,
        ["5 asked", "carries no queue label"],
    ),
}


@pytest.mark.parametrize("name", SITUATIONS)
def test_why_train_1_is_let_in_and_does_not_run(world: World, name: str):
    manifests, cause, words = SITUATIONS[name]
    world.apply(*manifests)
    told = world.why("train-1", cause)
    assert [word for word in words if word not in told] == [], told


def test_gpus_that_a_job_past_the_queue_took(world: World):
    world.apply(job("sneaky", gpus=4, labels={}))
    world.wait("sneaky", Cause.UNQUEUED)
    world.apply(*QUEUES, job())
    told = world.why("train-1", Cause.NODE_FULL)
    assert "0 of 4 nvidia.com/gpu free, 1 asked" in told
    assert "holders: sneaky-" in told
    assert "Insufficient nvidia.com/gpu" in told


def test_a_cordoned_node(world: World):
    world.run("cordon gpu-node-0")
    world.apply(*QUEUES, job())
    told = world.why("train-1", Cause.CORDONED)
    assert "gpu-node-0: it is cordoned" in told
    assert "uncordon" in told


def test_a_tainted_node(world: World):
    world.run("taint nodes gpu-node-0 lab-test=full:NoSchedule")
    world.apply(*QUEUES, job("train-1"), job("tolerant", tolerations=[{"operator": "Exists"}]))
    assert "taint lab-test=full:NoSchedule, not" in world.why("train-1", Cause.TAINT)
    world.why("tolerant", Cause.RUNNING)


def test_a_node_that_lost_its_label(world: World):
    world.run("label node gpu-node-0 nvidia.com/gpu.present-")
    world.apply(*QUEUES, job())
    told = world.why("train-1", Cause.NODE_LABELS)
    assert "nvidia.com/gpu.present=true, the node has -" in told
    assert "comes from flavor fake-gpu" in told


def test_a_container_that_crashes(world: World):
    world.apply(*QUEUES, job())
    world.wait("train-1", Cause.RUNNING)
    pod = world.run("get pods -o name").strip().rpartition("/")[2]
    waiting = {"reason": "CrashLoopBackOff", "message": "back-off 10s restarting failed container"}
    status = {"name": "main", "ready": False, "restartCount": 3, "image": "busybox:1.36"}
    world.patch(
        f"pod/{pod}",
        {
            "status": {
                "containerStatuses": [{**status, "imageID": "", "state": {"waiting": waiting}}]
            }
        },
        "--subresource=status",
    )
    told = world.why("train-1", Cause.CRASHING)
    assert "CrashLoopBackOff" in told
    assert "back-off 10s" in told


def test_pods_without_a_job(world: World):
    pod = {"containers": [{"name": "main", "image": "busybox:1.36", "command": ["sleep", "999"]}]}
    labels = {LABEL: "lq"}
    template = {"metadata": {"labels": {"app": "web"}}, "spec": pod}
    web = {"replicas": 1, "selector": {"matchLabels": {"app": "web"}}, "template": template}
    world.apply(
        *QUEUES,
        thing("Pod", "alone", pod, "v1", namespace="team-a", labels=labels),
        thing("Deployment", "web", web, "apps/v1", namespace="team-a", labels=labels),
    )
    told = world.why("alone", Cause.RUNNING)
    assert "belongs to no Job; Kueue queues only Jobs here" in told
    names = world.run("get pods -l app=web -o name").split()
    assert "belongs to ReplicaSet web-" in world.why(names[0], Cause.RUNNING)
