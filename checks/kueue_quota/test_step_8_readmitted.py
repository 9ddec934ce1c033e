"""Step 8: the first Job is deleted, and the one that waited enters by itself."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

import pytest

from checks.history import Change
from checks.judging.past import Wait
from checks.judging.running import require_admitted
from checks.kit.cluster import JOB, POD
from checks.kit.proof import from_object
from checks.kueue_quota.facts import Facts
from checks.kueue_quota.history import find_leaving
from checks.kueue_quota.judge_handover import (
    absence,
    require_first_gone,
    require_ground_after,
    require_same_job,
    require_waited,
)
from checks.kueue_quota.judge_running import (
    require_flavor_on_pod,
    require_running,
)
from checks.outcome import Evidence
from checks.scene import Scene
from checks.watch import Watch
from checks.watching import JobNow, PodNow, WorkloadNow
from provision.message import Message, say

Note = Callable[[Evidence], None]
Credit = Mapping[int, Sequence[Evidence]]


def test_ground(watch: Watch, lab: Facts) -> None:
    """the queues of steps 1 to 3 stand"""
    watch.until(lambda scene: require_ground_after(scene, lab))


@pytest.mark.needs("ground")
def test_first_gone(
    watch: Watch, lab: Facts, credit: Credit, evidence: Note, remark: Callable[[Message], None]
) -> None:
    """the Job {first_job} is deleted, and not there again"""
    watch.until(lambda scene: require_first_gone(scene, lab, credit))
    scene = watch.scene
    left = [pod.name for pod in scene.pods() if pod.job_name == lab.first_job.name]
    if any(pod.name in left and not pod.is_deleting for pod in scene.pods()):
        remark(
            say(
                "the pod {pod} of {job} was left behind and still holds its GPU on the node",
                pod=", ".join(left),
                job=lab.first_job.name,
            )
        )
    evidence(absence(scene, lab))


@pytest.mark.needs("first_gone")
def test_same_job(watch: Watch, lab: Facts, credit: Credit, evidence: Note) -> None:
    """{waiting_job} is the Job that waited, in the queue"""
    job = watch.until(lambda scene: require_same_job(scene, lab, credit))
    evidence(from_object(JOB, job.raw, f"{lab.queue_label}={job.queue}"))


@pytest.mark.needs("same_job")
def test_admitted(
    watch: Watch, lab: Facts, credit: Credit, evidence: Note, remark: Callable[[Message], None]
) -> None:
    """{waiting_job} was admitted by itself after it had waited"""

    def judge(scene: Scene) -> tuple[WorkloadNow, Wait, Change | None]:
        job = require_same_job(scene, lab, credit)
        workload = require_admitted(scene, job)
        wait = require_waited(scene, lab, job, workload, credit)
        return workload, wait, find_leaving(scene, lab, workload)

    workload, wait, leaving = watch.until(judge)
    if wait.remark is not None:
        remark(wait.remark)
    since = workload.conditions["Admitted"].since
    data = {"waited_since": wait.since, "rests_on": str(wait.source)}
    if leaving is not None:
        data["quota_freed"] = leaving.deleting or leaving.seen
        data["freed_by"] = f"deletion of {leaving.kind} {leaving.name}, uid {leaving.uid}"
    evidence(from_object(lab.workload_kind, workload.raw, "Admitted=True", time=since, data=data))


@pytest.mark.needs("admitted")
def test_runs(watch: Watch, lab: Facts, credit: Credit, evidence: Note) -> None:
    """the pod of {waiting_job} is Running, with the flavor's label in its nodeSelector"""

    def judge(scene: Scene) -> PodNow:
        job: JobNow = require_same_job(scene, lab, credit)
        pod = require_running(scene, job)
        require_flavor_on_pod(pod, lab)
        return pod

    evidence(from_object(POD, watch.until(judge).raw, "Running"))
