"""Whether a Job or TrainJob is admitted, and whether all of its pods run."""

from __future__ import annotations

from checks.explain import Cause, explain
from checks.judging.ground import kueue_is_idle
from checks.kit.expect import OnItsWay, mismatch, plain
from checks.outcome import CannotTell, Finding, Mismatch
from checks.reasons.pods import explain_pod
from checks.scene import Scene
from checks.training import Submitted, TrainJobNow
from checks.watching import PodNow, WorkloadNow
from provision.message import say


def require_admitted(scene: Scene, job: Submitted) -> WorkloadNow:
    """The Workload of a Job or TrainJob is admitted and has not ended."""
    why = explain(scene, job)
    workload = scene.workload_of(job)
    if why.cause is Cause.ADMITTED and workload is not None:
        return workload
    name = workload.name if workload else "-"
    where = say("Job {job} and its Workload {workload}", job=job.name, workload=name)
    if isinstance(job, TrainJobNow):
        where = say("TrainJob {job} and its Workload {workload}", job=job.name, workload=name)
    finding = Finding(
        where,
        plain("Admitted=True"),
        why.what,
        why.next_move,
    )
    if why.is_coming:
        raise OnItsWay(finding, overdue=kueue_is_idle(why.what))
    raise Mismatch(finding)


def require_all_running(scene: Scene, job: TrainJobNow) -> tuple[PodNow, ...]:
    """As many pods of an admitted TrainJob run as it has nodes; returns them."""
    where = say("pods of TrainJob {job}", job=job.name)
    expected = say("{count} pods that are Running", count=job.nodes)
    pods = [pod for pod in scene.pods_of(job) if not pod.is_deleting]
    running = [pod for pod in pods if pod.phase == "Running" and not pod.trouble]
    if len(running) == job.nodes:
        return tuple(running)
    if job.ended_as:
        found = say("TrainJob {job} is {state}", job=job.name, state=job.ended_as)
        move = say("delete it and submit it with a command that keeps running")
        raise mismatch(where, expected, found, move)
    found = say("{running} of {count}", running=len(running), count=job.nodes)
    for pod in pods:
        if pod in running:
            continue
        why = explain_pod(scene, pod)
        found = say(
            "{running} of {count}: {why}", running=len(running), count=job.nodes, why=why.what
        )
        if not why.is_coming:
            raise mismatch(where, expected, found, why.next_move)
    finding = Finding(where, expected, found, say("look at the pods: kubectl describe pod"))
    raise OnItsWay(finding, overdue=None if pods else _idle_trainer(job))


def _idle_trainer(job: TrainJobNow) -> CannotTell:
    if job.is_suspended:
        return kueue_is_idle(say("TrainJob {job} is admitted, but still suspended", job=job.name))
    return CannotTell(
        say("no pod was made for TrainJob {job}, which may run", job=job.name),
        next_move=say("see make status and make logs NAME=trainer"),
    )
