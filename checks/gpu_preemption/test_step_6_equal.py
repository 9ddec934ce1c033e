"""Step 6: equal priority does not preempt."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from checks.gpu_preemption.facts import Facts
from checks.gpu_preemption.ground import require_ground
from checks.gpu_preemption.judge_waiting import (
    require_behind,
    require_high_holds,
    require_rival,
)
from checks.gpu_preemption.waiting_text import require_words
from checks.judging.said import others_named, whose_text, without_others
from checks.kit.expect import mismatch
from checks.kit.files import Files
from checks.kit.manifests import place
from checks.kit.proof import from_file, from_object
from checks.outcome import Evidence
from checks.training import TRAIN_JOB
from checks.watch import Watch
from provision.message import Message, say

Note = Callable[[Evidence], None]
Past = Callable[[Message], None]


def test_ground(watch: Watch, lab: Facts) -> None:
    """the tenant of step 1 stands"""
    watch.until(lambda scene: require_ground(scene, lab))


@pytest.mark.needs("ground")
def test_rival_sent(watch: Watch, lab: Facts, evidence: Note) -> None:
    """the TrainJob {rival_job} is there, with the class {rival_job_priority} as {high_job}"""
    job = watch.until(lambda scene: require_rival(scene, lab))
    evidence(from_object(TRAIN_JOB, job.raw, f"{lab.priority_label}={job.priority}"))


@pytest.mark.transient
@pytest.mark.needs("rival_sent")
def test_high_holds(watch: Watch, lab: Facts, evidence: Note, past: Past) -> None:
    """{high_job} of step 5 holds the GPUs"""
    workload = watch.until(lambda scene: require_high_holds(scene, lab))
    if workload is None:
        past(say("since then {job} has left", job=lab.high_job.name))
        return
    since = workload.conditions["QuotaReserved"].since
    evidence(from_object(lab.workload_kind, workload.raw, "QuotaReserved=True", time=since))


@pytest.mark.transient
@pytest.mark.needs("high_holds")
def test_rival_waits(watch: Watch, lab: Facts, evidence: Note, past: Past) -> None:
    """{rival_job} waits in the line: it makes nobody of its own class leave"""
    waiting = watch.until(lambda scene: require_behind(scene, lab))
    if waiting.past is not None:
        past(waiting.past)
    data = {"reason": waiting.said[0].reason, "message": waiting.said[0].message}
    raw = waiting.workload.raw
    evidence(from_object(lab.workload_kind, raw, "QuotaReserved=False", data=data))


@pytest.mark.transient
@pytest.mark.needs("rival_waits")
def test_equal_file(watch: Watch, files: Files, lab: Facts, evidence: Note) -> None:
    """{rival_job_file} holds what Kueue says about {rival_job}, in its own words"""
    file = files.text(lab.rival_job.file)
    waiting = watch.until(lambda scene: require_behind(scene, lab))
    workload = waiting.workload
    who = say("{workload}, the Workload of {job}", workload=workload.name, job=lab.rival_job.name)
    if other := whose_text(watch.scene, workload, file.text):
        raise mismatch(
            place(file),
            who,
            say("the text is about another Workload, {other}", other=other),
            say("look for the Workload of {job}", job=lab.rival_job.name),
        )
    told = without_others(watch.scene, workload, file.text)
    narrowed = type(file)(file.name, file.path, told, file.size, file.mtime)
    also = others_named(watch.scene, workload.uid, file.text) if workload.name in file.text else ()
    require_words(narrowed, waiting.said, waiting.own_words, who, also=also)
    evidence(from_file(file, f"the reason of {lab.rival_job.name}"))
