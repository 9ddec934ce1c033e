"""Step 4: a TrainJob of low priority takes all GPUs of the tenant."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from checks.gpu_preemption.facts import Facts
from checks.gpu_preemption.ground import require_ground
from checks.gpu_preemption.judge_running import made_way, require_train_job
from checks.gpu_preemption.wanted import want_training
from checks.judging.running import require_admitted, require_all_running
from checks.kit.cluster import POD, Cluster
from checks.kit.files import Files
from checks.kit.proof import from_file, from_object
from checks.kit.witness import look_in_cluster, look_in_file
from checks.outcome import Evidence
from checks.scene import Scene
from checks.training import TRAIN_JOB, TrainJobNow
from checks.watch import Watch
from checks.watching import PodNow, WorkloadNow
from provision.message import Message, say

Note = Callable[[Evidence], None]
Past = Callable[[Message], None]


def test_ground(watch: Watch, lab: Facts) -> None:
    """the tenant of step 1 stands"""
    watch.until(lambda scene: require_ground(scene, lab))


@pytest.mark.needs("ground")
def test_job_file(files: Files, cluster: Cluster, lab: Facts, evidence: Note) -> None:
    """{low_job_manifest} holds the TrainJob {low_job} with both labels, its nodes and GPUs"""
    document = look_in_file(files, cluster, want_training(lab, lab.low_job))
    evidence(from_file(document.file, f"TrainJob {lab.low_job.name}"))


@pytest.mark.needs("job_file")
def test_job_applied(files: Files, cluster: Cluster, lab: Facts, evidence: Note) -> None:
    """the TrainJob {low_job} is in the namespace {namespace} as the file has it"""
    live = look_in_cluster(files, cluster, want_training(lab, lab.low_job))
    evidence(from_object(TRAIN_JOB, live, f"{lab.priority_label}={lab.low_job.priority}"))


@pytest.mark.transient
@pytest.mark.needs("job_applied")
def test_job_admitted(watch: Watch, lab: Facts, evidence: Note, past: Past) -> None:
    """{low_job} is admitted by Kueue"""

    def judge(scene: Scene) -> tuple[WorkloadNow, Message | None]:
        job = _job(scene, lab)
        workload = scene.workload_of(job)
        left = made_way(scene, lab, job)
        if left is not None and workload is not None:
            return workload, left
        return require_admitted(scene, job), None

    workload, left = watch.until(judge)
    if left is not None:
        past(left)
    admitted = workload.conditions["Admitted"]
    fact = "Admitted=True" if left is None else "admitted before"
    evidence(from_object(lab.workload_kind, workload.raw, fact, time=admitted.since))


@pytest.mark.transient
@pytest.mark.needs("job_admitted")
def test_job_runs(watch: Watch, lab: Facts, evidence: Note, past: Past) -> None:
    """all {low_job_nodes} pods of {low_job} are Running"""

    def judge(scene: Scene) -> tuple[tuple[PodNow, ...], Message | None]:
        job = _job(scene, lab)
        left = made_way(scene, lab, job)
        return ((), left) if left is not None else (require_all_running(scene, job), None)

    pods, left = watch.until(judge)
    if left is not None:
        past(left)
    for pod in pods:
        evidence(from_object(POD, pod.raw, "Running"))


def _job(scene: Scene, lab: Facts) -> TrainJobNow:
    how = say("apply {file}", file=lab.low_job.manifest)
    return require_train_job(scene, lab.low_job.name, how)
