"""What a Job or Deployment of this lab must say: labels, and GPUs only, in each pod.

Each function takes a manifest, from a file or from the cluster, and returns what is off in it.
Where Kueue reads the labels: pkg/controller/jobs/{job,deployment,pod}. A Deployment's own labels
are copied onto its pods by Kueue's webhook; a label on the pod template only is read on each pod.
"""

from __future__ import annotations

from collections.abc import Mapping
from fractions import Fraction

from checks.gpu_preemption.facts import Facts
from checks.kit.cluster import Object
from checks.kit.expect import Fault, Path, plain, show
from checks.kit.paths import MISSING, dig, dig_map
from checks.kit.quantities import show_amount
from checks.reasons.amounts import pod_amounts
from checks.reasons.labels import find_label
from provision.message import Message, say

_LABELS: Path = ("metadata", "labels")
_TEMPLATE: Path = ("spec", "template", "metadata", "labels")
_POD: Path = ("spec", "template", "spec")


def judge_job(content: Object, facts: Facts, labels: Mapping[str, str], gpus: int) -> Fault | None:
    """A Job with these labels of its own, one pod, and so many GPUs and nothing else counted."""
    return (
        _judge_labels(content, facts, (_LABELS,), labels)
        or _judge_number(content, "parallelism", 1)
        or _judge_pod(content, facts, gpus)
    )


def judge_service(content: Object, facts: Facts) -> Fault | None:
    """The Deployment of step 8, its labels on itself or on its pod template."""
    wanted = facts.service
    labels = {
        facts.queue_label: facts.tenant.local_queue,
        facts.priority_label: wanted.priority,
    }
    places = (_LABELS, _TEMPLATE)
    return (
        _judge_labels(content, facts, places, labels)
        or _judge_number(content, "replicas", wanted.replicas)
        or _judge_pod(content, facts, wanted.gpus)
    )


def _judge_labels(
    content: Object, facts: Facts, places: tuple[Path, ...], labels: Mapping[str, str]
) -> Fault | None:
    faults = (_judge_label(content, facts, places, key, labels[key]) for key in labels)
    return next((fault for fault in faults if fault is not None), None)


def _judge_label(
    content: Object, facts: Facts, places: tuple[Path, ...], key: str, wanted: str
) -> Fault | None:
    """The first of these places that has the label has it with that value."""
    for place in places:
        value = dig(content, *place, key)
        if value == wanted:
            return None
        if value is not MISSING:
            found = plain(f"{key}: {show(value)}")
            move = say("write just that value")
            return Fault((*place, key), plain(f"{key}: {wanted}"), found, move, is_fixed=True)
    move = say("without it Kueue does not know where the pods belong, and lets none of them in")
    if key == facts.priority_label:
        move = _no_class(f"{key}: {wanted}")
    path = (*places[0], key)
    return Fault(path, plain(f"{key}: {wanted}"), find_label(content, key), move, is_fixed=True)


def _no_class(label: str) -> Message:
    """What it means when the label of the class is not there, and the next move."""
    return say(
        "without it Kueue goes by the priority of the pods, which is 0 when they name none: "
        "add {label}",
        label=label,
    )


def _judge_number(content: Object, field: str, wanted: int) -> Fault | None:
    value = dig(content, "spec", field)
    if (1 if value in (MISSING, None) else value) == wanted and not isinstance(value, bool):
        return None
    found = say("no such field, which means 1") if value is MISSING else plain(show(value))
    return Fault(("spec", field), plain(wanted), found, say("the step asks for {n}", n=wanted))


def _judge_pod(content: Object, facts: Facts, gpus: int) -> Fault | None:
    """Each pod asks so many GPUs, and nothing that the ClusterQueue does not cover."""
    asked = pod_amounts(dig(content, *_POD))
    path: Path = (*_POD, "containers", 0, "resources", "limits")
    found = asked.get(facts.gpu, Fraction(0))
    if found != gpus:
        return Fault(
            (*path, facts.gpu),
            plain(f"{facts.gpu}: {gpus}"),
            plain(f"{facts.gpu}: {show_amount(found)}"),
            say("ask {gpus} of {gpu} for each pod", gpus=gpus, gpu=facts.gpu),
        )
    others = [name for name, amount in asked.items() if name != facts.gpu and amount]
    if not others:
        return None
    part = "limits" if dig_map(content, *path).get(others[0]) else "requests"
    return Fault(
        (*path[:-1], part, others[0]),
        say("{gpu} only", gpu=facts.gpu),
        plain(others[0]),
        say(
            "the ClusterQueue covers no {resource}, so Kueue would never let it in: take it out",
            resource=others[0],
        ),
    )
