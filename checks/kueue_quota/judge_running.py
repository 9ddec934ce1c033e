"""Whether a Job is admitted and runs, and if not, what stands in its way."""

from __future__ import annotations

from collections.abc import Sequence

from checks.explain import Cause, kueue_says
from checks.judging.ground import kueue_is_idle
from checks.kit.cluster import JOB
from checks.kit.expect import OnItsWay, cut, mismatch, plain, spell_path
from checks.kueue_quota.facts import Facts
from checks.kueue_quota.judge_jobs import judge_queued_job
from checks.outcome import CannotTell, Finding, Mismatch
from checks.reasons.failures import why_any_failed, why_failed
from checks.reasons.nodes import lacking_labels
from checks.reasons.pods import CORRECT_FLAVOR, explain_pods, label_source
from checks.scene import Scene
from checks.watching import JobNow, PodNow
from provision.message import Message, say


def require_job(scene: Scene, name: str, how: Message) -> JobNow:
    """The Job of that name in the lab's namespace. `how` is the next move when it is absent."""
    job = scene.job(name)
    if job is not None:
        return job
    for raw in scene.cluster.all(JOB):
        metadata = raw.get("metadata")
        if isinstance(metadata, dict) and metadata.get("name") == name:
            raise mismatch(
                say("Job {job}, metadata.namespace", job=name),
                plain(scene.namespace),
                plain(metadata.get("namespace")),
                say(
                    "delete it there and submit it in the namespace {namespace}",
                    namespace=scene.namespace,
                ),
            )
    others = ", ".join(sorted(job.name for job in scene.jobs())[:6])
    raise mismatch(
        say("Jobs in the namespace {namespace}", namespace=scene.namespace),
        say("a Job {job}", job=name),
        say("no Job {job}; there is {others}", job=name, others=others)
        if others
        else say("no Job {job}: no Job at all", job=name),
        how,
    )


def require_right_job(scene: Scene, lab: Facts, name: str, gpus: int) -> JobNow:
    """The Job is there, in the lab's queue, and asks `gpus` GPUs."""
    how = say("submit a Job {job} like {other}", job=name, other=lab.first_job.name)
    job = require_job(scene, name, how)
    fault = judge_queued_job(job.raw, lab, gpus)
    if fault is None:
        return job
    workload = scene.workload_of(job)
    says = kueue_says(workload) if workload is not None and not workload.is_admitted else ""
    found = say("{found} (its Workload: {says})", found=fault.found, says=says)
    raise mismatch(
        say("Job {job}, {field}", job=name, field=spell_path(fault.path)),
        fault.expected,
        found if says else fault.found,
        say("{move}; delete the Job, correct it, submit it again", move=fault.next_move),
    )


def require_running(scene: Scene, job: JobNow) -> PodNow:
    """A pod of the Job runs, and nothing restarts in it."""
    pods = [pod for pod in scene.pods_of(job) if not pod.is_deleting]
    running = [pod for pod in pods if pod.phase == "Running" and not pod.trouble]
    if running:
        return running[0]
    where = say("pods of Job {job}", job=job.name)
    if job.ended_as:
        raise _ended(job, where, pods)
    if job.is_suspended and not job.queue:
        raise mismatch(
            say("Job {job}, spec.suspend", job=job.name),
            plain("false"),
            plain("true"),
            say("nobody resumes a Job that is in no queue: submit it without spec.suspend"),
        )
    for pod in pods:
        if pod.trouble:
            why = why_failed(pod)
            found = say("{pod} is in {trouble}", pod=pod.name, trouble=pod.trouble)
            if why is not None:
                found = say("{found}: {state}", found=found, state=why.what)
            move = why.move if why else _LOOK_AT_POD
            raise mismatch(where, say("a pod that is Running"), found, move)
        scheduled = pod.conditions.get("PodScheduled")
        if scheduled is not None and scheduled.status == "False":
            raise _unscheduled(scene, job, pod, scheduled.message)
    raise _not_running(scene, job, pods)


def _ended(job: JobNow, where: Message, pods: Sequence[PodNow]) -> Mismatch:
    """The Job has ended; a real node says why its pod failed."""
    found = say("Job {job} is {state}", job=job.name, state=job.ended_as)
    why = why_any_failed(pods) if job.ended_as == "Failed" else None
    if why is None:
        move = say("delete it and submit it with a command that keeps running")
        return mismatch(where, say("a pod that is Running"), found, move)
    found = say("{found}: {state}", found=found, state=why.what)
    return mismatch(where, say("a pod that is Running"), found, why.move)


def _not_running(scene: Scene, job: JobNow, pods: Sequence[PodNow]) -> Mismatch:
    """What it means that nothing runs, and nobody has said yet why."""
    where = say("pods of Job {job}", job=job.name)
    why = explain_pods(scene, job)
    is_placed = any("PodScheduled" in pod.conditions for pod in pods)
    if why.cause in (Cause.UNPLACED, Cause.NO_PODS) and not why.is_coming and not is_placed:
        return mismatch(where, say("a pod that is Running"), why.what, why.next_move)
    found = say("{pod} is {phase}", pod=pods[0].name, phase=pods[0].phase) if pods else _NO_POD
    return OnItsWay(
        Finding(where, say("a pod that is Running"), found, _LOOK_AT_POD),
        overdue=None if pods else _idle_controller(job),
    )


def require_flavor_on_pod(pod: PodNow, facts: Facts) -> None:
    """Kueue put the flavor's node label into the pod's nodeSelector."""
    key, value = facts.flavor.label_key, facts.flavor.label_value
    if pod.node_selector.get(key) == value:
        return
    selector = ", ".join(f"{k}={v}" for k, v in pod.node_selector.items())
    raise mismatch(
        say("pod {pod}, spec.nodeSelector", pod=pod.name),
        plain(f"{key}={value}"),
        plain(cut(selector)) if selector else say("no nodeSelector"),
        say("Kueue adds it when it admits a Job; this pod was not started by an admission"),
    )


def _unscheduled(scene: Scene, job: JobNow, pod: PodNow, message: str) -> Exception:
    lacking = lacking_labels(pod.node_selector, scene.node_labels())
    where = say("pods of Job {job}", job=job.name)
    if lacking:
        found = say(
            "{pod} is Pending: no node has {labels} of its nodeSelector",
            pod=pod.name,
            labels=", ".join(f"{key}={value}" for key, value in lacking.items()),
        )
        source = label_source(scene, job, lacking)
        if source is not None:
            found = say("{found}; {state}", found=found, state=source)
            return mismatch(where, say("a pod that is Running"), found, CORRECT_FLAVOR)
        move = say("a Job's template cannot be changed: delete the Job, correct it, submit it")
        return mismatch(where, say("a pod that is Running"), found, move)
    why = explain_pods(scene, job)
    is_known = why.cause in (Cause.CORDONED, Cause.TAINT, Cause.NODE_FULL, Cause.NODE_SMALL)
    said = why.what if is_known else plain(cut(message))
    found = say("{pod} is Pending: {message}", pod=pod.name, message=said)
    move = why.next_move if is_known else _LOOK_AT_POD
    finding = Finding(where, say("a pod that is Running"), found, move)
    if any(other.is_deleting for other in scene.pods()):
        return OnItsWay(finding)
    return Mismatch(finding)


def _idle_controller(job: JobNow) -> CannotTell:
    if job.is_suspended:
        return kueue_is_idle(say("Job {job} is admitted, but still suspended", job=job.name))
    return CannotTell(
        say("the Job controller made no pod for Job {job}, which may run", job=job.name),
        next_move=say("see make status"),
    )


_NO_POD = say("no pod yet")
_LOOK_AT_POD = say("look at the pod: kubectl describe pod")
