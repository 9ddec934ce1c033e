"""Step 8: the first Job is deleted, and the one that waited enters by itself."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

import pytest

from checks.kit.cluster import JOB, POD
from checks.kit.proof import from_object, rfc3339
from checks.kueue_quota.facts import Facts
from checks.kueue_quota.fixtures import Watch
from checks.kueue_quota.judge_handover import (
    require_first_gone,
    require_ground_after,
    require_same_job,
    require_waited,
)
from checks.kueue_quota.judge_running import (
    require_admitted,
    require_flavor_on_pod,
    require_running,
)
from checks.outcome import Evidence
from checks.scene import Scene
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
    evidence(
        Evidence(
            kind=JOB.name,
            name=lab.first_job.name,
            namespace=lab.namespace,
            fact="absent",
            time=rfc3339(scene.cluster.now),
        )
    )


@pytest.mark.needs("first_gone")
def test_same_job(watch: Watch, lab: Facts, credit: Credit, evidence: Note) -> None:
    """{waiting_job} is the Job that waited, in the queue and not submitted again"""
    job = watch.until(lambda scene: require_same_job(scene, lab, credit))
    evidence(from_object(JOB, job.raw, f"{lab.queue_label}={job.queue}"))


@pytest.mark.needs("same_job")
def test_admitted(watch: Watch, lab: Facts, credit: Credit, evidence: Note) -> None:
    """{waiting_job} was admitted by itself after it had waited"""

    def judge(scene: Scene) -> tuple[WorkloadNow, str]:
        job = require_same_job(scene, lab, credit)
        workload = require_admitted(scene, job)
        return workload, require_waited(scene, lab, job, workload, credit)

    workload, waited = watch.until(judge)
    since = workload.conditions["Admitted"].since
    data = {"waited_since": waited}
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
