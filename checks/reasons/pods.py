"""How the pods of a Job are: none yet, not placed, starting, without image, crashing, running."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import replace

from checks.asking import PodAsking
from checks.kit.expect import cut, plain
from checks.kit.paths import dig_count, dig_list, dig_map, dig_text
from checks.reasons.cause import Cause, Explanation
from checks.reasons.failures import IMAGE, why_any_failed, why_failed
from checks.reasons.nodes import hardware, view_nodes
from checks.reasons.words import detail
from checks.scene import Scene
from checks.training import Submitted
from checks.watching import PodNow, read_pod
from provision.message import Message, say

_OWN_SCHEDULER = ("", "default-scheduler")


def explain_pods(scene: Scene, job: Submitted) -> Explanation:
    """How the pods of a Job are that may have pods: admitted, or in no queue."""
    if isinstance(job, PodAsking):
        return explain_pod(scene, read_pod(job.raw))
    pods = [pod for pod in scene.pods_of(job) if not pod.is_deleting]
    for pod in pods:
        found = explain_pod(scene, pod)
        if found.cause is not Cause.RUNNING and not pod.has_ended:
            return _from_flavor(scene, job, found)
    failed = dig_count(job.raw, "status", "failed")
    running = [pod for pod in pods if pod.phase == "Running"]
    if running:
        what = say("{kind} {job} runs: pod {pod}", kind=job.kind, job=job.name, pod=running[0].name)
        return Explanation(Cause.RUNNING, what)
    if failed:
        what = say(
            "{count} pods of {kind} {job} have failed", count=failed, kind=job.kind, job=job.name
        )
        why = why_any_failed(pods)
        if why is None:
            return Explanation(Cause.CRASHING, what)
        return Explanation(Cause.CRASHING, why.what, move=why.move).told(detail("also", what))
    return _no_pods(scene, job)


def explain_pod(scene: Scene, pod: PodNow) -> Explanation:
    """How one pod is that is not being deleted."""
    if pod.has_ended:
        what = say("pod {pod} has ended: {phase}", pod=pod.name, phase=pod.phase)
        found = Explanation(Cause.ENDED, what)
        why = why_failed(pod)
        return replace(found, move=why.move).told(detail("event", why.what)) if why else found
    if pod.trouble:
        why = why_failed(pod)
        what = say("{pod} is in {trouble}", pod=pod.name, trouble=pod.trouble)
        message = _trouble_message(pod)
        # Where there is no image nothing has run yet, so nothing has crashed either.
        cause = Cause.NO_IMAGE if pod.trouble in IMAGE else Cause.CRASHING
        found = Explanation(cause, what)
        if why is not None:
            found = Explanation(cause, why.what, move=why.move)
        return found.told(detail("event", message)) if message else found
    if pod.phase == "Running":
        what = say("pod {pod} runs on {node}", pod=pod.name, node=pod.node)
        return Explanation(Cause.RUNNING, what)
    if pod.node:
        what = say("pod {pod} is placed on {node} and starts", pod=pod.name, node=pod.node)
        return Explanation(Cause.STARTING, what, is_coming=True)
    return _not_placed(scene, pod)


def _not_placed(scene: Scene, pod: PodNow) -> Explanation:
    scheduler = dig_text(pod.raw, "spec", "schedulerName")
    scheduled = pod.conditions.get("PodScheduled")
    if scheduled is None and scheduler not in _OWN_SCHEDULER:
        what = say(
            "pod {pod} waits for the scheduler {scheduler}, which did not touch it",
            pod=pod.name,
            scheduler=scheduler,
        )
        move = say("leave spec.schedulerName out: delete the Job, correct it, submit it")
        return Explanation(Cause.UNPLACED, what, move=move)
    if scheduled is None:
        what = say("the scheduler has not looked at pod {pod} yet", pod=pod.name)
        return Explanation(Cause.STARTING, what, is_coming=True)
    if gates := [dig_text(one, "name") for one in dig_list(pod.raw, "spec", "schedulingGates")]:
        what = say("pod {pod} has scheduling gates: {gates}", pod=pod.name, gates=", ".join(gates))
        return Explanation(Cause.UNPLACED, what)
    return _kept_off(scene, pod, scheduled.message)


def _kept_off(scene: Scene, pod: PodNow, message: str) -> Explanation:
    views = view_nodes(scene, pod.raw)
    first = next((one for view in views[:1] for one in view.obstacles), None)
    if first is None:
        what = say("the scheduler cannot place pod {pod}: {message}", pod=pod.name, message=message)
        found = Explanation(Cause.UNPLACED, what, move=None if views else _NO_NODE)
        return found.told(*(view.told for view in views[:4]))
    what = say(
        "the scheduler cannot place pod {pod}: {node}: {why}",
        pod=pod.name,
        node=views[0].name,
        why=first.what,
    )
    is_coming = first.cause is Cause.NODE_FULL and any(one.is_deleting for one in scene.pods())
    found = Explanation(first.cause, what, is_coming=is_coming)
    found = found.told(*(view.told for view in views[:4]))
    for holders in views[0].holders:
        found = found.told(detail("holders", holders))
    if first.cause is Cause.NODE_SMALL:
        total = f"{hardware(scene, first.subject)} {first.subject}"
        note = say("all nodes together have {total}; a quota makes no hardware", total=total)
        found = found.told(detail("also", note))
    return found.told(detail("scheduler", cut(message)))


def _from_flavor(scene: Scene, job: Submitted, found: Explanation) -> Explanation:
    """The same; when the label that no node has comes from a flavor, with that flavor named."""
    if found.cause is not Cause.NODE_LABELS:
        return found
    lacking = {key for view in _views(scene, job) for key in view}
    note = label_source(scene, job, lacking)
    if note is None:
        return found
    return replace(found, move=CORRECT_FLAVOR).told(detail("source", note))


def label_source(scene: Scene, job: Submitted, lacking: Collection[str]) -> Message | None:
    """From which flavor Kueue took these label keys of the Job's pods; None when from none."""
    workload = scene.workload_of(job)
    assigned = dig_list(
        workload.raw if workload else {}, "status", "admission", "podSetAssignments"
    )
    flavors = {str(name) for one in assigned for name in dig_map(one, "flavors").values()}
    for flavor in sorted(flavors):
        labels = scene.flavor_labels(flavor) or {}
        wrong = [f"{key}={value}" for key, value in labels.items() if key in lacking]
        if wrong:
            return say(
                "{labels} comes from flavor {flavor}", labels=", ".join(wrong), flavor=flavor
            )
    return None


def _views(scene: Scene, job: Submitted) -> list[set[str]]:
    """For each pod of the Job the label keys that keep it off its nearest node."""
    return [
        {one.subject for view in view_nodes(scene, pod.raw)[:1] for one in view.obstacles}
        for pod in scene.pods_of(job)
    ]


def _no_pods(scene: Scene, job: Submitted) -> Explanation:
    if job.is_suspended:
        what = say("{kind} {job} is suspended: spec.suspend is true", kind=job.kind, job=job.name)
        return Explanation(Cause.SUSPENDED, what)
    failures = [one for one in scene.events_of(job.uid) if one.reason == "FailedCreate"]
    if failures:
        what = say(
            "the pods of {kind} {job} cannot be made: {message}",
            kind=job.kind,
            job=job.name,
            message=cut(failures[-1].message, 300),
        )
        return Explanation(Cause.NO_PODS, what)
    what = say("{kind} {job} may run, but has no pod yet", kind=job.kind, job=job.name)
    move = say("look again; if it stays so, see make status")
    return Explanation(Cause.NO_PODS, what, is_coming=True, move=move)


def _trouble_message(pod: PodNow) -> Message | None:
    for status in dig_list(pod.raw, "status", "containerStatuses"):
        for state in ("waiting", "terminated"):
            message = dig_text(status, "state", state, "message")
            if message:
                return plain(cut(message))
    return None


CORRECT_FLAVOR = say("correct spec.nodeLabels of the flavor, delete the Job, submit it again")
_NO_NODE = say("there is no node at all: see make status")
