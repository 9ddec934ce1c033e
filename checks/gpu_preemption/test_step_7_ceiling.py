"""Step 7: priority does not lift the quota."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from checks.gpu_preemption.facts import Facts
from checks.gpu_preemption.ground import require_ground
from checks.gpu_preemption.judge_ceiling import (
    require_nobody_left,
    require_refused,
    require_sent,
)
from checks.gpu_preemption.waiting_text import require_words
from checks.judging.said import others_named
from checks.kit.files import Files
from checks.kit.proof import from_file
from checks.outcome import Evidence
from checks.training import TRAIN_JOB
from checks.watch import Watch
from provision.message import Message, say

Note = Callable[[Evidence], None]


def test_ground(watch: Watch, lab: Facts) -> None:
    """the tenant of step 1 stands"""
    watch.until(lambda scene: require_ground(scene, lab))


@pytest.mark.needs("ground")
def test_big_sent(watch: Watch, lab: Facts, evidence: Note) -> None:
    """{big_job} was submitted with {big_job_nodes} nodes and the class {big_job_priority}"""
    sent = watch.until(lambda scene: require_sent(scene, lab))
    evidence(
        Evidence(
            kind=TRAIN_JOB.name,
            name=lab.big_job.name,
            namespace=lab.namespace,
            fact=f"{lab.priority_label}={lab.big_job.priority}",
            time=sent.created,
            uid=sent.uid,
        )
    )


@pytest.mark.needs("big_sent")
def test_big_refused(watch: Watch, lab: Facts, evidence: Note) -> None:
    """Kueue did not let it in: it asks more than the quota"""
    attempt = watch.until(lambda scene: require_refused(scene, lab))
    evidence(
        Evidence(
            kind=lab.workload_kind.name,
            name=attempt.name,
            namespace=lab.namespace,
            fact="QuotaReserved=False",
            time=attempt.since,
            uid=attempt.uid,
            data={"reason": attempt.said[0].reason, "message": attempt.said[0].message},
        )
    )


@pytest.mark.needs("big_refused")
def test_nobody_left(watch: Watch, lab: Facts) -> None:
    """nobody had to leave for {big_job}"""
    attempt = watch.until(lambda scene: require_refused(scene, lab))
    require_nobody_left(watch.scene, lab, attempt)


@pytest.mark.needs("nobody_left")
def test_ceiling_file(
    watch: Watch, files: Files, lab: Facts, evidence: Note, remark: Callable[[Message], None]
) -> None:
    """{big_job_file} holds what Kueue said about {big_job}, in its own words"""
    file = files.text(lab.big_job.file)
    attempt = watch.until(lambda scene: require_refused(scene, lab))
    who = say("{workload}, the Workload of {job}", workload=attempt.name, job=lab.big_job.name)
    others = [job.name for job in (lab.low_job, lab.high_job, lab.rival_job)]
    also = others_named(watch.scene, attempt.uid, file.text) if attempt.name in file.text else ()
    move = None if attempt.is_live else _gone(lab)
    require_words(file, attempt.said, attempt.own_words, who, others, also=also, move=move)
    if attempt.is_live and watch.scene.history.changes:
        remark(say("{job} can be deleted: its reason is on record", job=lab.big_job.name))
    evidence(from_file(file, f"the reason of {lab.big_job.name}"))


def _gone(lab: Facts) -> Message:
    """Where the words are when the Workload is not there any more."""
    return say(
        "its Workload is gone: make history tells what it said; or submit {job} again, and read it",
        job=lab.big_job.name,
    )
