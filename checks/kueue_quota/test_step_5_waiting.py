"""Step 5: the quota is full, and the third Job waits for its turn."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace

import pytest

from checks.judging.ground import go_back
from checks.judging.running import require_admitted
from checks.judging.said import own_words, what_was_said, whose_text, without_others
from checks.judging.words import Said, judge_words
from checks.kit.cluster import JOB
from checks.kit.expect import OnItsWay, mismatch
from checks.kit.files import Files, TextFile
from checks.kit.manifests import place
from checks.kit.proof import from_file, from_object
from checks.kueue_quota.after_step_8 import refuse_after_step_8
from checks.kueue_quota.facts import Facts
from checks.kueue_quota.ground import require_ground
from checks.kueue_quota.judge_running import (
    require_job,
    require_right_job,
    require_running,
)
from checks.kueue_quota.judge_waiting import require_waiting
from checks.outcome import Evidence, Finding, Mismatch
from checks.scene import Scene
from checks.watch import Watch
from checks.watching import JobNow, WorkloadNow
from provision.message import Message, say

Note = Callable[[Evidence], None]


def test_ground(watch: Watch, lab: Facts) -> None:
    """the queues of steps 1 to 3 stand"""
    watch.until(lambda scene: require_ground(scene, lab, upto=3))


@pytest.mark.transient
@pytest.mark.needs("ground")
def test_first_stands(watch: Watch, lab: Facts, evidence: Note) -> None:
    """{first_job} of step 4 is admitted"""

    def judge(scene: Scene) -> tuple[JobNow, WorkloadNow]:
        refuse_after_step_8(scene, lab)
        try:
            job = require_job(
                scene, lab.first_job.name, say("apply {file}", file=lab.first_job.file)
            )
            return job, require_admitted(scene, job)
        except OnItsWay:
            raise
        except Mismatch as error:
            raise Mismatch(go_back(error.finding, 4)) from None

    job, workload = watch.until(judge)
    since = workload.conditions["Admitted"].since
    evidence(from_object(JOB, job.raw, "suspend=false"))
    evidence(from_object(lab.workload_kind, workload.raw, "Admitted=True", time=since))


@pytest.mark.transient
@pytest.mark.needs("first_stands")
def test_second_runs(watch: Watch, lab: Facts, evidence: Note) -> None:
    """{second_job} is admitted and runs"""

    def judge(scene: Scene) -> WorkloadNow:
        job = require_right_job(scene, lab, lab.second_job.name, lab.second_job.gpus)
        try:
            workload = require_admitted(scene, job)
        except OnItsWay:
            raise
        except Mismatch as error:
            raise _overtaken(scene, lab, error) from None
        require_running(scene, job)
        return workload

    workload = watch.until(judge)
    since = workload.conditions["Admitted"].since
    evidence(from_object(lab.workload_kind, workload.raw, "Admitted=True", time=since))


@pytest.mark.transient
@pytest.mark.needs("second_runs")
def test_third_waits(watch: Watch, lab: Facts, evidence: Note) -> None:
    """{waiting_job} waits: suspended, not admitted"""
    job, workload = watch.until(lambda scene: _waiting(scene, lab))
    condition = workload.conditions.get("QuotaReserved")
    since = condition.since if condition else workload.created
    evidence(from_object(JOB, job.raw, "suspend=true"))
    evidence(from_object(lab.workload_kind, workload.raw, "QuotaReserved=False", time=since))


@pytest.mark.transient
@pytest.mark.needs("third_waits")
def test_waiting_file(watch: Watch, files: Files, lab: Facts, evidence: Note) -> None:
    """{waiting_job_file} holds the own reason of {waiting_job}"""
    file = files.text(lab.waiting_job.file)

    def judge(scene: Scene) -> None:
        workload, said, own = _words_of(scene, lab)
        if other := whose_text(scene, workload, file.text):
            found: Message | None = say("the text is about another Workload, {other}", other=other)
        else:
            found = judge_words(without_others(scene, workload, file.text), said, own)
        _judge_file(file, workload, said, found)

    watch.until(judge)
    evidence(from_file(file, f"the reason of {lab.waiting_job.name}"))


def _overtaken(scene: Scene, lab: Facts, error: Mismatch) -> Mismatch:
    """The waiting Job came before the second one: the usual mistake, told by its name."""
    third = scene.job(lab.waiting_job.name)
    workload = scene.workload_of(third) if third else None
    if workload is None or not workload.is_admitted:
        return error
    move = say(
        "{third} came in before {second}: delete {third}, see {second} admitted, "
        "then submit {third} again",
        third=lab.waiting_job.name,
        second=lab.second_job.name,
    )
    return Mismatch(replace(error.finding, next_move=move))


def _words_of(scene: Scene, lab: Facts) -> tuple[WorkloadNow, Sequence[Said], str]:
    """The waiting Workload and what it says."""
    _, workload = _waiting(scene, lab)
    return workload, what_was_said(scene, workload), own_words(scene, workload)


def _waiting(scene: Scene, lab: Facts) -> tuple[JobNow, WorkloadNow]:
    job = require_right_job(scene, lab, lab.waiting_job.name, lab.waiting_job.gpus)
    return job, require_waiting(scene, lab, job)


def _judge_file(
    file: TextFile, workload: WorkloadNow, said: Sequence[Said], found: Message | None
) -> None:
    if not said:
        raise OnItsWay(
            Finding(
                say("Workload {workload}", workload=workload.name),
                say("a condition QuotaReserved"),
                say("no such condition yet"),
                say("wait a second and check again"),
            )
        )
    if found is None:
        return
    line = next((n for n, text in enumerate(file.text.split("\n"), 1) if text.strip()), 1)
    raise mismatch(
        place(file, line),
        say(
            "reason ({reason}) or message of QuotaReserved on {workload}, the Workload of {job}",
            reason=said[0].reason,
            workload=workload.name,
            job=workload.owner_name,
        ),
        found,
        say("read the conditions of that Workload, and write down what QuotaReserved says"),
    )
