"""Step 6: a Job without the queue label slips past Kueue."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from checks.kit.cluster import JOB, POD
from checks.kit.expect import mismatch, plain, spell_path
from checks.kit.files import Files
from checks.kit.keyvalues import read_key_values
from checks.kit.manifests import place
from checks.kit.proof import from_file, from_object
from checks.kueue_quota.facts import Facts
from checks.kueue_quota.ground import require_ground
from checks.kueue_quota.judge_jobs import judge_gpus, judge_no_label
from checks.kueue_quota.judge_running import require_job, require_running
from checks.outcome import Evidence
from checks.scene import Scene
from checks.watch import Watch
from checks.watching import JobNow, PodNow
from provision.message import say

Note = Callable[[Evidence], None]


def test_ground(watch: Watch, lab: Facts) -> None:
    """the queues of steps 1 to 3 stand"""
    watch.until(lambda scene: require_ground(scene, lab, upto=3))


@pytest.mark.needs("ground")
def test_job_unlabelled(watch: Watch, lab: Facts, evidence: Note) -> None:
    """the Job {bypass_job} asks its GPU without a queue label"""
    job = watch.until(lambda scene: _unlabelled_job(scene, lab))
    evidence(from_object(JOB, job.raw, f"no label {lab.queue_label}"))


@pytest.mark.needs("job_unlabelled")
def test_no_workload(watch: Watch, lab: Facts, evidence: Note) -> None:
    """Kueue made no Workload for {bypass_job}"""
    scene = watch.scene
    job = _unlabelled_job(scene, lab)
    workload = scene.workload_of(job)
    if workload is not None:
        raise mismatch(
            say("workloads.kueue.x-k8s.io of Job {job}", job=job.name),
            say(
                "no Workload, so that {line} is true",
                line=f"{lab.bypass_job.workload_key}={lab.bypass_job.none}",
            ),
            say(
                "Workload {workload}: Kueue had queued {job} before",
                workload=workload.name,
                job=job.name,
            ),
            say(
                "delete the Job {job} and submit it without the label from the start", job=job.name
            ),
        )
    evidence(from_object(JOB, job.raw, "no Workload"))


@pytest.mark.needs("no_workload")
def test_job_runs(watch: Watch, lab: Facts, evidence: Note) -> None:
    """{bypass_job} runs, though the quota knows nothing of it"""

    def judge(scene: Scene) -> PodNow:
        return require_running(scene, _unlabelled_job(scene, lab))

    evidence(from_object(POD, watch.until(judge).raw, "Running"))


@pytest.mark.needs("job_runs")
def test_bypass_file(watch: Watch, files: Files, lab: Facts, evidence: Note) -> None:
    """{bypass_job_file} says so: {bypass_job_suspended_key}= and {bypass_job_workload_key}="""
    wanted = lab.bypass_job
    file = files.text(wanted.file)
    job = _unlabelled_job(watch.scene, lab)
    live = {
        wanted.suspended_key: str(job.is_suspended).lower(),
        wanted.workload_key: wanted.none,
    }
    values = read_key_values(file, tuple(live))
    for key, expected in live.items():
        value = values[key]
        if value.text.strip("<>").casefold() != expected:
            raise mismatch(
                place(file, value.line),
                plain(f"{key}={expected}"),
                plain(f"{key}={value.text}") if value.text else say("{key}= and nothing", key=key),
                say("compare it with what the cluster says about {job}", job=job.name),
            )
    evidence(from_file(file, "both lines are true", data=live))


def _unlabelled_job(scene: Scene, lab: Facts) -> JobNow:
    wanted = lab.bypass_job
    pods = [pod.name for pod in scene.pods() if pod.name == wanted.name]
    if pods and scene.job(wanted.name) is None:
        raise mismatch(
            say("Jobs in the namespace {namespace}", namespace=lab.namespace),
            say("a Job {job}", job=wanted.name),
            say("a Pod {pod}, and no Job", pod=wanted.name),
            say("submit a Job, which has a spec.suspend that Kueue could use"),
        )
    how = say("submit a Job {job} without the queue label", job=wanted.name)
    job = require_job(scene, wanted.name, how)
    fault = judge_no_label(job.raw, lab) or judge_gpus(job.raw, lab, wanted.gpus)
    if fault is not None:
        raise mismatch(
            say("Job {job}, {field}", job=job.name, field=spell_path(fault.path)),
            fault.expected,
            fault.found,
            fault.next_move,
        )
    return job
