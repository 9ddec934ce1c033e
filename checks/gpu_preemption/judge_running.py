"""Whether the TrainJobs of this lab are there, admitted and running, and what they did before."""

from __future__ import annotations

from dataclasses import replace

from checks.gpu_preemption.facts import Facts
from checks.gpu_preemption.judge_training import Training, judge_training
from checks.history import Change
from checks.judging.preemption import preemptions_of
from checks.kit.expect import mismatch, plain, spell_path
from checks.outcome import Mismatch
from checks.scene import Scene
from checks.training import TRAIN_JOB, TrainJobNow
from checks.watching import WorkloadNow
from provision.message import Message, say


def require_train_job(scene: Scene, name: str, how: Message) -> TrainJobNow:
    """The TrainJob of that name in the lab's namespace; `how`: the next move when it is absent."""
    job = scene.train_job(name)
    if job is not None:
        return job
    for raw in scene.cluster.all(TRAIN_JOB):
        metadata = raw.get("metadata")
        if isinstance(metadata, dict) and metadata.get("name") == name:
            raise mismatch(
                say("TrainJob {job}, metadata.namespace", job=name),
                plain(scene.namespace),
                plain(metadata.get("namespace")),
                say(
                    "delete it there and submit it in the namespace {namespace}",
                    namespace=scene.namespace,
                ),
            )
    others = ", ".join(sorted(job.name for job in scene.train_jobs())[:6])
    raise mismatch(
        say("TrainJobs in the namespace {namespace}", namespace=scene.namespace),
        say("a TrainJob {job}", job=name),
        say("no TrainJob {job}; there is {others}", job=name, others=others)
        if others
        else say("no TrainJob {job}: no TrainJob at all", job=name),
        how,
    )


def require_right_train_job(
    scene: Scene, lab: Facts, wanted: Training, how: Message
) -> TrainJobNow:
    """The TrainJob is there, with the labels, the nodes and the GPUs that it was asked for with."""
    job = require_train_job(scene, wanted.name, how)
    fault = judge_training(job.raw, lab, wanted)
    if fault is None:
        return job
    raise mismatch(
        say("TrainJob {job}, {field}", job=job.name, field=spell_path(fault.path)),
        fault.expected,
        fault.found,
        say("{move}; delete the TrainJob, correct it, submit it again", move=fault.next_move),
    )


def workload_uid(scene: Scene, name: str) -> str:
    """The uid of a TrainJob's Workload, of the last one on record when it is gone; else empty."""
    job = scene.train_job(name)
    workload = None if job is None else scene.workload_of(job)
    if workload is not None:
        return workload.uid
    changes = scene.history.of("Workload", owner=name)
    return changes[-1].uid if changes else ""


def ran_before(scene: Scene, workload: WorkloadNow) -> Change | None:
    """When all pods of a Workload ran, in the recorder's history; None when it saw no such time."""
    changes = scene.history.of("Workload", uid=workload.uid)
    return next((c for c in changes if c.is_true("Admitted") and c.is_true("PodsReady")), None)


def made_way(scene: Scene, lab: Facts, job: TrainJobNow) -> Message | None:
    """That a TrainJob ran, and only made room for others since; None when that is not so.

    A Mismatch when it made room and nobody saw it run.
    """
    workload = scene.workload_of(job)
    if workload is None or workload.is_admitted or not preemptions_of(scene, workload.uid):
        return None
    last = preemptions_of(scene, workload.uid)[0]
    if ran_before(scene, workload) is None:
        raise mismatch(
            say("TrainJob {job} and its Workload {workload}", job=job.name, workload=workload.name),
            plain("Admitted=True"),
            say("it had to leave at {since}: that is how step 5 leaves it", since=last.since),
            say("make reset brings the start back, to play this step again"),
        )
    return say("since then it had to make room ({since})", since=last.since)


def with_move(error: Mismatch, move: Message) -> Mismatch:
    """The same failure with another next move."""
    return Mismatch(replace(error.finding, next_move=move))
