"""What a TrainJob of this lab asked that may be gone: by the live object, else by the recorder."""

from __future__ import annotations

from checks.gpu_preemption.facts import Facts
from checks.gpu_preemption.judge_training import Training, judge_training
from checks.history import Change, newest
from checks.judging.preemption import Preemption, Preemptor
from checks.kit.expect import show, spell_path
from checks.kit.paths import dig_text
from checks.kit.quantities import is_same_amount
from checks.scene import Scene
from provision.message import Message, say


def fault_of_preemptor(
    scene: Scene, lab: Facts, wanted: Training, preemptor: Preemptor, preemption: Preemption
) -> Message | None:
    """What is off with the TrainJob that somebody made room for; None when it was the right one.

    The API lets people change the class afterwards: that of its Workload at the time counts.
    """
    fault = fault_by_uid(scene, lab, wanted, preemptor.owner_uid)
    then = _class_then(scene, preemptor, preemption)
    if fault is None and then not in ("", wanted.priority):
        return say("its class was {priority}", priority=then)
    return fault


def _class_then(scene: Scene, preemptor: Preemptor, preemption: Preemption) -> str:
    """The class of a Workload when another one left for it; empty when nobody wrote it down."""
    for change in scene.history.of("Workload"):
        told = change.condition("Preempted")
        if told and told.since == preemption.since and preemptor.uid in told.message:
            then = newest(scene.history.of("Workload", uid=preemptor.uid), change.version)
            return "" if then is None else dig_text(then.facts, "priority_class")
    return ""


def fault_by_uid(scene: Scene, lab: Facts, wanted: Training, uid: str) -> Message | None:
    """What is or was off with the object of that uid; None when it was the TrainJob asked for."""
    job = scene.train_job(wanted.name)
    if job is not None and job.uid == uid:
        fault = judge_training(job.raw, lab, wanted)
        if fault is None:
            return None
        return say("{field}: {found}", field=spell_path(fault.path), found=fault.found)
    seen = [one for one in scene.history.of("TrainJob", uid=uid) if not one.is_gone]
    if not seen or seen[-1].name != wanted.name:
        return say("it was no TrainJob {job}", job=wanted.name)
    return fault_on_record(scene, lab, wanted, seen[-1])


def fault_on_record(scene: Scene, lab: Facts, wanted: Training, change: Change) -> Message | None:
    """What was off with a TrainJob that is on record; None when it asked what the step asks for."""
    if change.queue != lab.tenant.local_queue:
        return say("its queue was {queue}", queue=change.queue or "-")
    priority = dig_text(change.facts, "priority_class")
    if priority != wanted.priority:
        return say("its class was {priority}", priority=priority or "-")
    nodes = change.facts.get("nodes")
    if nodes is not None and nodes != wanted.nodes:
        return say("its numNodes was {nodes}", nodes=show(nodes))
    asked = [
        one.amounts("amounts").get(lab.gpu, "0")
        for one in scene.history.of("Workload", owner=wanted.name, owner_uid=change.uid)
    ]
    if any(is_same_amount(amount, wanted.nodes * wanted.gpus) for amount in asked):
        return None
    if not asked:
        return say("Kueue made no Workload for it")
    return say("it asked {amount} of {gpu}", amount=asked[-1], gpu=lab.gpu)
