"""Step 8: the pods of a Deployment wait at a gate until Kueue lets them in."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from checks.gpu_preemption.facts import Facts
from checks.gpu_preemption.ground import require_ground
from checks.gpu_preemption.judge_gated import (
    Gated,
    require_gate_noted,
    require_gated,
    require_high_gone,
    require_serving,
)
from checks.gpu_preemption.judge_running import require_right_train_job
from checks.gpu_preemption.wanted_later import want_service
from checks.judging.running import require_admitted, require_all_running
from checks.kit.cluster import POD, Cluster
from checks.kit.files import Files
from checks.kit.proof import from_file, from_object, rfc3339
from checks.kit.witness import look_in_cluster, look_in_file
from checks.outcome import Evidence
from checks.scene import Scene
from checks.serving import DEPLOYMENT, DeploymentNow
from checks.training import TRAIN_JOB
from checks.watch import Watch
from checks.watching import PodNow, WorkloadNow
from provision.message import say

Note = Callable[[Evidence], None]


def test_ground(watch: Watch, lab: Facts) -> None:
    """the tenant of step 1 stands"""
    watch.until(lambda scene: require_ground(scene, lab))


@pytest.mark.needs("ground")
def test_service_file(files: Files, cluster: Cluster, lab: Facts, evidence: Note) -> None:
    """{service_manifest} holds the Deployment {service} with both labels, its pods and GPUs"""
    document = look_in_file(files, cluster, want_service(lab))
    evidence(from_file(document.file, f"Deployment {lab.service.name}"))


@pytest.mark.transient
@pytest.mark.needs("service_file")
def test_service_applied(files: Files, cluster: Cluster, lab: Facts, evidence: Note) -> None:
    """the Deployment {service} is in the namespace {namespace} as the file has it"""
    live = look_in_cluster(files, cluster, want_service(lab))
    evidence(from_object(DEPLOYMENT, live, f"replicas={lab.service.replicas}"))


@pytest.mark.transient
@pytest.mark.needs("service_applied")
def test_pods_gated(watch: Watch, lab: Facts, evidence: Note) -> None:
    """its pods waited at a gate while {high_job} held the GPUs"""
    gated = watch.until(lambda scene: _gated(scene, lab))
    for pod in watch.scene.pods_of(_service(watch.scene, lab)):
        if pod.name in gated.pods:
            evidence(from_object(POD, pod.raw, f"gated by {gated.gates[0]}"))


@pytest.mark.transient
@pytest.mark.needs("pods_gated")
def test_gated_file(watch: Watch, files: Files, lab: Facts, evidence: Note) -> None:
    """{service_file} names the gate and counts the pods that waited at it"""
    file = files.text(lab.service.file)
    gated = watch.until(lambda scene: _gated(scene, lab))
    require_gate_noted(file, lab, gated)
    evidence(from_file(file, f"{len(gated.pods)} pods"))


@pytest.mark.transient
@pytest.mark.needs("gated_file")
def test_high_gone(watch: Watch, lab: Facts, evidence: Note) -> None:
    """{high_job} is deleted"""
    watch.until(lambda scene: require_high_gone(scene, lab))
    now = rfc3339(watch.scene.cluster.now)
    name, namespace = lab.high_job.name, lab.namespace
    evidence(Evidence(TRAIN_JOB.name, name, "absent", now, namespace=namespace))


@pytest.mark.transient
@pytest.mark.needs("high_gone")
def test_rival_runs(watch: Watch, lab: Facts, evidence: Note) -> None:
    """{rival_job} is let in, and all its {rival_job_nodes} pods are Running"""

    def judge(scene: Scene) -> WorkloadNow:
        how = say("step 8 begins where step 6 ends: submit it")
        job = require_right_train_job(scene, lab, lab.rival_job, how)
        workload = require_admitted(scene, job)
        require_all_running(scene, job)
        return workload

    workload = watch.until(judge)
    since = workload.conditions["Admitted"].since
    evidence(from_object(lab.workload_kind, workload.raw, "Admitted=True", time=since))


@pytest.mark.transient
@pytest.mark.needs("rival_runs")
def test_service_runs(watch: Watch, lab: Facts, evidence: Note) -> None:
    """all {service_replicas} pods of {service} are Running"""

    def judge(scene: Scene) -> tuple[PodNow, ...]:
        return require_serving(scene, _service(scene, lab))

    for pod in watch.until(judge):
        evidence(from_object(POD, pod.raw, "Running"))


def _gated(scene: Scene, lab: Facts) -> Gated:
    return require_gated(scene, lab, _service(scene, lab))


def _service(scene: Scene, lab: Facts) -> DeploymentNow:
    service = scene.deployment(lab.service.name)
    if service is None:
        raise LookupError("the Deployment was there a moment ago")
    return service
