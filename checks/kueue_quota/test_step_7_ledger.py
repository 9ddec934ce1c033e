"""Step 7: the ClusterQueue's ledger, read and written down."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from checks.judging.ground import go_back
from checks.kit.cluster import JOB
from checks.kit.files import Files
from checks.kit.proof import from_file, from_object, rfc3339
from checks.kueue_quota.after_step_8 import is_after_step_8
from checks.kueue_quota.facts import Facts
from checks.kueue_quota.ground import require_ground
from checks.kueue_quota.judge_ledger import read_ledger_file, require_same_ledger
from checks.kueue_quota.judge_running import require_right_job
from checks.outcome import Evidence, Mismatch
from checks.scene import Scene
from checks.watch import Watch
from checks.watching import JobNow
from provision.message import Message

Note = Callable[[Evidence], None]


def test_ground(watch: Watch, lab: Facts) -> None:
    """the queues of steps 1 to 3 stand"""
    watch.until(lambda scene: require_ground(scene, lab, upto=3))


@pytest.mark.needs("ground")
def test_jobs_stand(watch: Watch, lab: Facts, evidence: Note) -> None:
    """the Jobs of steps 4 and 5 are in the queue"""
    wanted = [
        (4, lab.first_job.name, lab.first_job.gpus),
        (5, lab.second_job.name, lab.second_job.gpus),
        (5, lab.waiting_job.name, lab.waiting_job.gpus),
    ]

    def judge(scene: Scene) -> list[JobNow]:
        jobs = []
        for step, name, gpus in wanted[1:] if is_after_step_8(scene, lab) else wanted:
            try:
                jobs.append(require_right_job(scene, lab, name, gpus))
            except Mismatch as error:
                raise Mismatch(go_back(error.finding, step)) from None
        return jobs

    for job in watch.until(judge):
        evidence(from_object(JOB, job.raw, f"{lab.queue_label}={job.queue}"))


@pytest.mark.needs("jobs_stand")
def test_ledger_file(files: Files, lab: Facts, evidence: Note) -> None:
    """{usage_file} is JSON with {usage_admitted_key}, {usage_pending_key} and {usage_gpu_key}"""
    file = files.text(lab.usage.file)
    evidence(from_file(file, str(read_ledger_file(file, lab))))


@pytest.mark.transient
@pytest.mark.needs("ledger_file")
def test_ledger_true(
    watch: Watch, files: Files, lab: Facts, evidence: Note, past: Callable[[Message], None]
) -> None:
    """its numbers are those in the ledger of ClusterQueue {cluster_queue}"""
    file = files.text(lab.usage.file)
    written = read_ledger_file(file, lab)
    fact, since_then = watch.until(lambda scene: require_same_ledger(scene, lab, file, written))
    if since_then is not None:
        past(since_then)
    queue = watch.scene.cluster_queue(lab.cluster_queue.name)
    evidence(from_file(file, fact))
    if queue is not None:
        now = rfc3339(watch.scene.cluster.now)
        evidence(from_object(lab.cluster_queue_kind, queue.raw, "status read", time=now))
