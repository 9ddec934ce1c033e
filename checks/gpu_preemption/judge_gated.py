"""Step 8: pods that were held by a scheduling gate until their Workloads were let in.

Kueue takes the gates off when it admits a pod, so what a pod had before is asked of the recorder.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass

from checks.gpu_preemption.facts import Facts
from checks.gpu_preemption.held_pods import most_at_once, stands_of
from checks.judging.ground import kueue_is_idle
from checks.kit.expect import OnItsWay, mismatch, plain
from checks.kit.files import TextFile
from checks.kit.keyvalues import read_key_values
from checks.kit.manifests import place
from checks.kit.paths import dig_list, dig_text
from checks.outcome import CannotTell, Finding
from checks.reasons.pods import explain_pod
from checks.scene import Scene
from checks.serving import DeploymentNow
from checks.things import Thing
from checks.watching import PodNow
from provision.message import Message, say


@dataclass(frozen=True, slots=True)
class Gated:
    """The pods that are there, the gates that hold or held them, and how many were held at once."""

    pods: tuple[str, ...]
    gates: tuple[str, ...]
    most: int


def require_gated(scene: Scene, lab: Facts, service: DeploymentNow) -> Gated:
    """All pods of the Deployment are or were at a gate, and as many waited for the high TrainJob.

    Those that waited may have been replaced since.
    """
    pods = [pod for pod in scene.pods_of(service) if not pod.is_deleting]
    where = say("pods of Deployment {name}", name=service.name)
    expected = say("{count} pods that wait at a gate", count=lab.service.replicas)
    if len(pods) < lab.service.replicas:
        found = say("{count} pods", count=len(pods))
        raise OnItsWay(Finding(where, expected, found, _WAIT))
    gates = {pod.name: _gates_of(scene, pod) for pod in pods}
    free = [name for name, names in gates.items() if not names]
    if free and not scene.history.of("Pod", name=free[0]):
        raise CannotTell(
            say("nobody has written down how pod {pod} began", pod=free[0]),
            next_move=say("see make status; delete {name}, apply it again", name=service.name),
        )
    if free:
        found = say("{pod} had no gate: Kueue does not look after it", pod=free[0])
        raise mismatch(where, expected, found, say("see its labels, and those of the Deployment"))
    most = _require_waited(scene, lab, service, pods)
    names = tuple(dict.fromkeys(name for of_pod in gates.values() for name in of_pod))
    return Gated(tuple(sorted(gates)), names, most)


def _require_waited(
    scene: Scene, lab: Facts, service: DeploymentNow, pods: Sequence[PodNow]
) -> int:
    """As many pods as the step asks for waited behind the high TrainJob; how many at most."""
    most = most_at_once(stands_of(scene, lab, service))
    if most >= lab.service.replicas:
        return most
    where = say("pods of Deployment {name}", name=service.name)
    expected = say("they waited while {high} held the GPUs", high=lab.high_job.name)
    fresh = [pod.name for pod in pods if pod.gates and scene.workload_of(pod) is None]
    if fresh:
        found = say("Kueue has made no Workload for {pod} yet", pod=fresh[0])
        raise OnItsWay(Finding(where, expected, found, _WAIT), overdue=kueue_is_idle(found))
    found = say("they were let in at once")
    if most:
        found = say("{count} of {all} waited then", count=most, all=lab.service.replicas)
    raise mismatch(where, expected, found, _wait_again(scene, lab))


def _wait_again(scene: Scene, lab: Facts) -> Message:
    """How the pods come to wait; when the high TrainJob has no quota, the rival is in its way."""
    high = scene.train_job(lab.high_job.name)
    workload = None if high is None else scene.workload_of(high)
    if workload is not None and workload.holds_quota:
        return say(
            "delete {name}, see {high} run on all GPUs, then apply {file} again",
            name=lab.service.name,
            high=lab.high_job.name,
            file=lab.service.manifest,
        )
    return say(
        "delete {name} and {rival}; apply {manifest} and see it run; submit {rival} again; then "
        "apply {file}",
        name=lab.service.name,
        rival=lab.rival_job.name,
        manifest=lab.high_job.manifest,
        file=lab.service.manifest,
    )


def require_gate_noted(file: TextFile, lab: Facts, gated: Gated) -> None:
    """The file names a gate that held the pods, and how many pods it held.

    While a changed template is rolled out there are more pods than replicas; either number will do.
    """
    gate_key, pods_key = lab.service.gate_key, lab.service.pods_key
    values = read_key_values(file, (gate_key, pods_key))
    gate, count = values[gate_key], values[pods_key]
    names = [name.strip("'\"") for name in _BETWEEN.split(gate.text.strip(" []")) if name]
    if not names or not all(name in gated.gates for name in names):
        raise mismatch(
            place(file, gate.line),
            say("{key}= and the name of a gate that held the pods", key=gate_key),
            plain(f"{gate_key}={gate.text}")
            if gate.text
            else say("{key}= and nothing", key=gate_key),
            say("it stands in spec.schedulingGates of a pod that waits, and nowhere else"),
        )
    if count.text not in (str(lab.service.replicas), str(gated.most)):
        raise mismatch(
            place(file, count.line),
            plain(f"{pods_key}={lab.service.replicas}"),
            plain(f"{pods_key}={count.text}")
            if count.text
            else say("{key}= and nothing", key=pods_key),
            say("count the pods that were at the gate"),
        )


def require_high_gone(scene: Scene, lab: Facts) -> None:
    """The high TrainJob is deleted."""
    high = scene.train_job(lab.high_job.name)
    if high is None:
        return
    finding = Finding(
        say("TrainJobs in the namespace {namespace}", namespace=scene.namespace),
        say("no TrainJob {job}", job=high.name),
        say("TrainJob {job} is being deleted", job=high.name)
        if high.is_deleting
        else say("TrainJob {job} is still there", job=high.name),
        say("when the note is written, delete TrainJob {job}", job=high.name),
    )
    raise (OnItsWay(finding) if high.is_deleting else mismatch_of(finding))


def require_serving(scene: Scene, service: DeploymentNow) -> tuple[PodNow, ...]:
    """All pods of the Deployment are let in and run."""
    where = say("pods of Deployment {name}", name=service.name)
    expected = say("{count} pods that are Running", count=service.replicas)
    pods = [pod for pod in scene.pods_of(service) if not pod.is_deleting]
    running = [pod for pod in pods if pod.phase == "Running" and not pod.trouble]
    if len(running) == service.replicas == len(pods):
        return tuple(running)
    found = say("{running} of {count}", running=len(running), count=service.replicas)
    for pod in pods:
        if pod in running:
            continue
        why = explain_pod(scene, pod)
        found = say(
            "{running} of {count}: {why}",
            running=len(running),
            count=service.replicas,
            why=why.what,
        )
        if not why.is_coming and not _waits(scene, pod):
            raise mismatch(where, expected, found, why.next_move)
    raise OnItsWay(Finding(where, expected, found, say("see who else holds GPUs of the quota")))


def mismatch_of(finding: Finding) -> Exception:
    """The exception for a finding that will not right itself."""
    return mismatch(finding.looked_at, finding.expected, finding.found, finding.next_move)


def _gates_of(scene: Scene, pod: PodNow) -> tuple[str, ...]:
    """The gates that a pod has, or had when the recorder first saw it."""
    now = [dig_text(gate, "name") for gate in dig_list(pod.raw, "spec", "schedulingGates")]
    if now:
        return tuple(now)
    for change in scene.history.of("Pod", uid=pod.uid):
        names = [str(name) for name in dig_list(change.facts, "gates")]
        if names:
            return tuple(names)
    return ()


def _waits(scene: Scene, pod: Thing) -> bool:
    workload = scene.workload_of(pod)
    return workload is None or workload.is_waiting


_BETWEEN = re.compile(r"[\s,;]+")
_WAIT: Message = say("wait a second and check again")
