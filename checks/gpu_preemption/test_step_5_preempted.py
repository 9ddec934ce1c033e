"""Step 5: a TrainJob of high priority takes the place of the low one."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from checks.gpu_preemption.facts import Facts
from checks.gpu_preemption.ground import require_ground
from checks.gpu_preemption.judge_evicted_file import require_noted, require_preemptor_noted
from checks.gpu_preemption.judge_preempting import (
    Yielding,
    find_yielding,
    find_yieldings,
    require_waiting_again,
    require_yielding,
)
from checks.gpu_preemption.judge_running import require_train_job
from checks.gpu_preemption.wanted import want_training
from checks.judging.running import require_admitted, require_all_running
from checks.kit.cluster import Cluster
from checks.kit.files import Files
from checks.kit.proof import from_file, from_object
from checks.kit.witness import look_in_cluster, look_in_file
from checks.outcome import Evidence
from checks.scene import Scene
from checks.training import TRAIN_JOB
from checks.watch import Watch
from checks.watching import WorkloadNow
from provision.message import Message, say

Note = Callable[[Evidence], None]
Tell = Callable[[Message], None]


def test_ground(watch: Watch, lab: Facts) -> None:
    """the tenant of step 1 stands"""
    watch.until(lambda scene: require_ground(scene, lab))


@pytest.mark.needs("ground")
def test_high_file(files: Files, cluster: Cluster, lab: Facts, evidence: Note) -> None:
    """{high_job_manifest} holds the TrainJob {high_job} with both labels, its nodes and GPUs"""
    document = look_in_file(files, cluster, want_training(lab, lab.high_job))
    evidence(from_file(document.file, f"TrainJob {lab.high_job.name}"))


@pytest.mark.transient
@pytest.mark.needs("high_file")
def test_high_applied(
    watch: Watch, files: Files, cluster: Cluster, lab: Facts, evidence: Note, past: Tell
) -> None:
    """the TrainJob {high_job} is in the namespace {namespace} as the file has it"""
    if _is_over(watch.scene, lab):
        past(_gone(lab))
        return
    live = look_in_cluster(files, cluster, want_training(lab, lab.high_job))
    evidence(from_object(TRAIN_JOB, live, f"{lab.priority_label}={lab.high_job.priority}"))


@pytest.mark.transient
@pytest.mark.needs("high_applied")
def test_low_left(watch: Watch, lab: Facts, evidence: Note, remark: Tell) -> None:
    """{low_job} had to make room for {high_job}"""
    found = watch.until(lambda scene: require_yielding(scene, lab))
    if found.preemption.remark is not None:
        remark(found.preemption.remark)
    evidence(_proof(lab, found))


@pytest.mark.transient
@pytest.mark.needs("low_left")
def test_high_runs(watch: Watch, lab: Facts, evidence: Note, past: Tell) -> None:
    """{high_job} is admitted, and all its {high_job_nodes} pods are Running"""
    if _is_over(watch.scene, lab):
        past(_gone(lab))
        return

    def judge(scene: Scene) -> WorkloadNow:
        how = say("apply {file}", file=lab.high_job.manifest)
        job = require_train_job(scene, lab.high_job.name, how)
        workload = require_admitted(scene, job)
        require_all_running(scene, job)
        return workload

    workload = watch.until(judge)
    since = workload.conditions["Admitted"].since
    evidence(from_object(lab.workload_kind, workload.raw, "Admitted=True", time=since))


@pytest.mark.transient
@pytest.mark.needs("high_runs")
def test_low_waits(watch: Watch, lab: Facts, evidence: Note, past: Tell) -> None:
    """{low_job} is suspended and waits in the line"""
    if _is_over(watch.scene, lab):
        past(_gone(lab))
        return

    def judge(scene: Scene) -> None:
        how = say("apply {file}", file=lab.low_job.manifest)
        job = require_train_job(scene, lab.low_job.name, how)
        require_waiting_again(scene, lab, job)

    watch.until(judge)
    job = watch.scene.train_job(lab.low_job.name)
    if job is not None:
        evidence(from_object(TRAIN_JOB, job.raw, "suspend=true"))


@pytest.mark.transient
@pytest.mark.needs("low_waits")
def test_evicted_file(watch: Watch, files: Files, lab: Facts, evidence: Note) -> None:
    """{high_job_evicted} holds both conditions of {low_job}, their reasons and their message"""
    file = files.text(lab.high_job.evicted)
    require_yielding(watch.scene, lab)
    found = require_noted(file, lab, find_yieldings(watch.scene, lab))
    evidence(from_file(file, f"{found.preemption.evicted}, {found.preemption.preempted}"))


@pytest.mark.transient
@pytest.mark.needs("evicted_file")
def test_preemptor_file(watch: Watch, files: Files, lab: Facts, evidence: Note) -> None:
    """{high_job_preemptor} names the JobUID in it and the Workload that it leads to"""
    file = files.text(lab.high_job.preemptor)
    require_yielding(watch.scene, lab)
    told = files.text(lab.high_job.evicted)
    found = require_noted(told, lab, find_yieldings(watch.scene, lab))
    require_preemptor_noted(file, lab, found.preemptor)
    evidence(from_file(file, f"Workload {found.preemptor.name}"))


def _is_over(scene: Scene, lab: Facts) -> bool:
    """The high TrainJob did its part and was deleted since: what it did stands on record."""
    return scene.train_job(lab.high_job.name) is None and find_yielding(scene, lab) is not None


def _gone(lab: Facts) -> Message:
    return say("since then {job} was deleted", job=lab.high_job.name)


def _proof(lab: Facts, found: Yielding) -> Evidence:
    one, who = found.preemption, found.preemptor
    data = {
        "rests_on": str(one.source),
        "reason": one.preempted,
        "preemptor": who.name,
        "job_uid": who.owner_uid,
    }
    return Evidence(
        kind=lab.workload_kind.name,
        name=who.name,
        fact=f"preempted the Workload of {lab.low_job.name}",
        time=one.since,
        namespace=lab.namespace,
        uid=who.uid,
        data=data,
    )
