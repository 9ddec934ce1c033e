"""What the TrainJobs of this lab must say: labels, runtime, nodes, and GPUs for each node.

Each function takes a TrainJob's manifest, from a file or from the cluster, and returns what is off.
Field rules are those of trainer.kubeflow.org/v1alpha1 (trainjob_types.go).
"""

from __future__ import annotations

from dataclasses import replace

from checks.gpu_preemption.facts import Facts, HighJobFacts, LowJobFacts, OtherJobFacts
from checks.kit.cluster import Object
from checks.kit.expect import Fault, Path, plain, show, spell_path
from checks.kit.paths import MISSING, dig, dig_map, places_of
from checks.kit.quantities import BadQuantity, is_same_amount, parse_quantity
from checks.reasons.labels import find_label
from provision.message import Message, say

Training = LowJobFacts | HighJobFacts | OtherJobFacts
_LABELS: Path = ("metadata", "labels")
_RUNTIME: Path = ("spec", "runtimeRef")
_TRAINER: Path = ("spec", "trainer")
_KIND = "ClusterTrainingRuntime"
_ANEW = say("delete it, then apply the file again: what it did with another class does not count")


def judge_training(content: Object, facts: Facts, wanted: Training) -> Fault | None:
    """A TrainJob in the tenant's LocalQueue with the class, the nodes and the GPUs asked for."""
    return (
        judge_label(content, facts.queue_label, facts.tenant.local_queue)
        or _judge_class(content, facts, wanted.priority)
        or _judge_runtime(content, facts)
        or _judge_nodes(content, wanted.nodes)
        or _judge_gpus(content, facts, wanted.gpus)
    )


def judge_label(content: Object, key: str, wanted: str) -> Fault | None:
    """The object itself carries a label with that value."""
    path: Path = (*_LABELS, key)
    value = dig(content, *path)
    if value == wanted:
        return None
    expected = plain(f"{key}: {wanted}")
    if value is not MISSING:
        found = plain(f"{key}: {show(value)}")
        return Fault(path, expected, found, say("write just that value"), is_fixed=True)
    return Fault(
        path,
        expected,
        find_label(content, key),
        say("the label belongs to the TrainJob itself, in metadata.labels"),
        is_fixed=True,
    )


def _judge_class(content: Object, facts: Facts, wanted: str) -> Fault | None:
    """The API lets people change this label, but what was done with another class stays done."""
    fault = judge_label(content, facts.priority_label, wanted)
    return None if fault is None else replace(fault, is_fixed=False, remedy=_ANEW)


def _judge_runtime(content: Object, facts: Facts) -> Fault | None:
    name, kind = dig(content, *_RUNTIME, "name"), dig(content, *_RUNTIME, "kind")
    if name != facts.runtime:
        return Fault(
            (*_RUNTIME, "name"),
            plain(facts.runtime),
            say("no such field") if name is MISSING else plain(show(name)),
            say("see kubectl get clustertrainingruntimes"),
            is_fixed=True,
        )
    if kind in (MISSING, None, _KIND):
        return None
    move = say("the runtime of that name is a {kind}", kind=_KIND)
    return Fault((*_RUNTIME, "kind"), plain(_KIND), plain(show(kind)), move, is_fixed=True)


def _judge_nodes(content: Object, nodes: int) -> Fault | None:
    path: Path = (*_TRAINER, "numNodes")
    value = dig(content, *path)
    if value == nodes and not isinstance(value, bool):
        return None
    if value is MISSING:
        found = say("no such field, which means one node")
        if places := [place for place in places_of(content, "numNodes") if place != path]:
            found = say("no such field there, but one in {field}", field=spell_path(places[0][:-1]))
    else:
        found = plain(show(value))
    move = say("each node of the training is a pod: ask for {nodes}", nodes=nodes)
    return Fault(path, plain(nodes), found, move, is_fixed=True)


def _judge_gpus(content: Object, facts: Facts, gpus: int) -> Fault | None:
    """Each node asks its GPUs in the limits, and nothing else there."""
    asked: Path = (*_TRAINER, "resourcesPerNode")
    path: Path = (*asked, "limits", facts.gpu)
    value = dig(content, *path)
    move = say("ask {gpus} of {gpu} for each node", gpus=gpus, gpu=facts.gpu)
    if value is MISSING:
        found, move = _no_gpu(content, facts, asked)
        return Fault(path, plain(f"{facts.gpu}: {gpus}"), found, move, is_fixed=True)
    if not is_same_amount(value, gpus):
        found = _shown(facts, value)
        return Fault(path, plain(f"{facts.gpu}: {gpus}"), found, move, is_fixed=True)
    request = dig(content, *asked, "requests", facts.gpu)
    if request is not MISSING and not is_same_amount(request, gpus):
        path = (*asked, "requests", facts.gpu)
        found = _shown(facts, request)
        move = say("the API takes GPUs only when requests and limits are the same")
        return Fault(path, plain(f"{facts.gpu}: {gpus}"), found, move, is_fixed=True)
    return _judge_others(content, facts, asked)


def _judge_others(content: Object, facts: Facts, asked: Path) -> Fault | None:
    """The tenant's ClusterQueue covers GPUs only: with anything else nothing is let in."""
    for part in ("requests", "limits"):
        for name in dig_map(content, *asked, part):
            if name != facts.gpu:
                return Fault(
                    (*asked, part, name),
                    say("{gpu} only", gpu=facts.gpu),
                    plain(name),
                    say(
                        "the ClusterQueue covers no {resource}, so Kueue would never let it in",
                        resource=name,
                    ),
                    is_fixed=True,
                )
    return None


def _no_gpu(content: Object, facts: Facts, asked: Path) -> tuple[Message, Message]:
    if dig(content, *asked, "requests", facts.gpu) is not MISSING:
        found = say("{gpu} in requests only", gpu=facts.gpu)
        return found, say("the API refuses GPUs without a limit: write them in limits")
    places = places_of(content, facts.gpu)
    move = say("see kubectl explain trainjob.spec.trainer.resourcesPerNode")
    if not places:
        return say("no {gpu} in it", gpu=facts.gpu), move
    field = spell_path(places[0][:-1]) or "-"
    return say("no {gpu} there, but in {field}", gpu=facts.gpu, field=field), move


def _shown(facts: Facts, value: object) -> Message:
    try:
        parse_quantity(value)
    except BadQuantity as bad:
        return say("{value}: {why}", value=show(value), why=bad.why)
    return plain(f"{facts.gpu}: {show(value)}")
