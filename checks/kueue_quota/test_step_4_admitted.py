"""Step 4: the first Job is admitted and runs where its flavor says."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from checks.judging.running import require_admitted
from checks.kit.cluster import JOB, POD, Cluster
from checks.kit.files import Files
from checks.kit.proof import from_file, from_object
from checks.kit.witness import look_in_cluster, look_in_file
from checks.kueue_quota.after_step_8 import refuse_after_step_8
from checks.kueue_quota.facts import Facts
from checks.kueue_quota.ground import require_ground
from checks.kueue_quota.judge_running import (
    require_flavor_on_pod,
    require_job,
    require_running,
)
from checks.kueue_quota.wanted import want_first_job
from checks.outcome import Evidence
from checks.scene import Scene
from checks.watch import Watch
from checks.watching import JobNow, PodNow, WorkloadNow
from provision.message import say

Note = Callable[[Evidence], None]


def test_ground(watch: Watch, lab: Facts) -> None:
    """the queues of steps 1 to 3 stand"""
    watch.until(lambda scene: require_ground(scene, lab, upto=3))


@pytest.mark.needs("ground")
def test_job_file(files: Files, cluster: Cluster, lab: Facts, evidence: Note) -> None:
    """{first_job_file} holds the Job {first_job} with the queue label and its GPU"""
    document = look_in_file(files, cluster, want_first_job(lab))
    evidence(from_file(document.file, f"Job {lab.first_job.name}"))


@pytest.mark.transient
@pytest.mark.needs("job_file")
def test_job_applied(
    watch: Watch, files: Files, cluster: Cluster, lab: Facts, evidence: Note
) -> None:
    """the Job {first_job} is in the namespace {namespace} as the file has it"""
    refuse_after_step_8(watch.scene, lab)
    live = look_in_cluster(files, cluster, want_first_job(lab))
    evidence(from_object(JOB, live, f"{lab.queue_label}={lab.local_queue.name}"))


@pytest.mark.transient
@pytest.mark.needs("job_applied")
def test_job_admitted(watch: Watch, lab: Facts, evidence: Note) -> None:
    """{first_job} is admitted by Kueue"""

    def judge(scene: Scene) -> WorkloadNow:
        return require_admitted(scene, _job(scene, lab))

    workload = watch.until(judge)
    since = workload.conditions["Admitted"].since
    evidence(from_object(lab.workload_kind, workload.raw, "Admitted=True", time=since))


@pytest.mark.transient
@pytest.mark.needs("job_admitted")
def test_job_runs(watch: Watch, lab: Facts, evidence: Note) -> None:
    """the pod of {first_job} is Running, with the flavor's label in its nodeSelector"""

    def judge(scene: Scene) -> PodNow:
        pod = require_running(scene, _job(scene, lab))
        require_flavor_on_pod(pod, lab)
        return pod

    evidence(from_object(POD, watch.until(judge).raw, "Running"))


def _job(scene: Scene, lab: Facts) -> JobNow:
    how = say("apply {file}", file=lab.first_job.file)
    return require_job(scene, lab.first_job.name, how)
