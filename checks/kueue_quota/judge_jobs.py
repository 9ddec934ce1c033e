"""What the Jobs of this lab must say: the queue label, and how many GPUs they ask.

Each function takes a Job manifest, from a file or from the cluster, and returns what is off.
"""

from __future__ import annotations

from fractions import Fraction

from checks.kit.cluster import Object
from checks.kit.expect import Fault, Path, plain, show, spell_path
from checks.kit.paths import MISSING, dig, dig_list, dig_map, places_of
from checks.kit.quantities import BadQuantity, parse_quantity
from checks.kueue_quota.facts import Facts
from checks.reasons.amounts import pod_amounts
from checks.reasons.labels import find_label
from provision.message import Message, say

_POD: Path = ("spec", "template", "spec")
_CONTAINERS: Path = (*_POD, "containers")
_INIT_CONTAINERS: Path = (*_POD, "initContainers")
_LABELS: Path = ("metadata", "labels")
_POLICIES = ("Never", "OnFailure")
# What each container needs, what it means without, and what to do.
_NEEDED = (
    (
        "name",
        say("a container without a name"),
        say("the API refuses a container without a name; any name will do"),
    ),
    (
        "image",
        say("a container without an image"),
        say("the API refuses a container without an image; any image with a shell will do"),
    ),
)
_DEFAULT_QUEUE = "default"  # Kueue puts this queue on unlabelled Jobs (LocalQueueDefaulting)


def judge_queued_job(content: Object, facts: Facts, gpus: int) -> Fault | None:
    """A Job that goes through the lab's LocalQueue and asks `gpus` GPUs in all."""
    return judge_label(content, facts) or judge_gpus(content, facts, gpus) or _judge_form(content)


def _judge_form(content: Object) -> Fault | None:
    """What the API asks of any Job: a file without it could not be applied again."""
    path: Path = ("spec", "template", "spec", "restartPolicy")
    policy = dig(content, *path)
    if policy not in _POLICIES:
        found = say("no restartPolicy") if policy is MISSING else plain(show(policy))
        move = say("the API refuses a Job whose pods do not say Never or OnFailure")
        return Fault(path, plain("restartPolicy: Never"), found, move)
    for index, container in enumerate(dig_list(content, *_CONTAINERS)):
        for field, found, move in _NEEDED:
            value = dig(container, field)
            if isinstance(value, str) and value:
                continue
            found = found if value is MISSING else plain(show(value))
            return Fault((*_CONTAINERS, index, field), say("a text"), found, move)
    return None


def judge_label(content: Object, facts: Facts) -> Fault | None:
    """The Job carries the queue label with the name of the LocalQueue."""
    labels = queue_labels(content)
    wanted = facts.local_queue.name
    value = labels.get(facts.queue_label, MISSING)
    if value == wanted:
        return None
    path: Path = (*_LABELS, facts.queue_label)
    expected = plain(f"{facts.queue_label}: {wanted}")
    if value is not MISSING:
        found = plain(f"{facts.queue_label}: {show(value)}")
        return Fault(path, expected, found, say("name the LocalQueue, not another queue"), True)
    return Fault(
        path,
        expected,
        find_label(content, facts.queue_label),
        say("without this label on the Job itself, Kueue leaves the Job alone"),
        is_fixed=True,
    )


def queue_labels(content: Object) -> dict[str, object]:
    """The labels that the API server gives the Job: those of its template when it has none.

    (pkg/apis/batch/v1/defaults.go, SetDefaults_Job.)
    """
    own = dig_map(content, *_LABELS)
    return dict(own or dig_map(content, "spec", "template", "metadata", "labels"))


def judge_no_label(content: Object, facts: Facts) -> Fault | None:
    """The Job carries no queue label, so that Kueue leaves it alone."""
    value = queue_labels(content).get(facts.queue_label, MISSING)
    if value is MISSING:
        return None
    is_copied = facts.queue_label in dig_map(content, "spec", "template", "metadata", "labels")
    move = say("delete the Job and submit it without the label")
    if is_copied:
        move = say("delete the Job and submit it without the label, in spec.template, too")
    elif value == _DEFAULT_QUEUE:
        move = say(
            "the LocalQueue {queue} labels every Job without a label: delete it, and submit again",
            queue=value,
        )
    return Fault(
        (*_LABELS, facts.queue_label),
        say("no label {label}", label=facts.queue_label),
        plain(f"{facts.queue_label}: {show(value)}"),
        move,
        is_fixed=True,
    )


def judge_gpus(content: Object, facts: Facts, gpus: int) -> Fault | None:
    """One pod at a time, which asks `gpus` GPUs in all, as the scheduler and Kueue count it."""
    most = Fraction(0)
    asked: Path = (*_CONTAINERS, 0, "resources", "limits", facts.gpu)
    for path in (_CONTAINERS, _INIT_CONTAINERS):
        for index, container in enumerate(dig_list(content, *path)):
            where: Path = (*path, index, "resources", "limits")
            fault = _judge_container(container, where, facts, gpus)
            if fault is not None:
                return fault
            amount, _ = _whole_number(dig(container, "resources", "limits", facts.gpu))
            if amount > most:
                most, asked = amount, (*where, facts.gpu)
    total = pod_amounts(dig(content, *_POD)).get(facts.gpu, Fraction(0))
    if total == gpus:
        return _judge_parallelism(content, facts)
    if dig(content, *_CONTAINERS) is MISSING and (other := places_of(content, "containers")):
        return _misplaced(other[0])
    return Fault(
        asked,
        plain(f"{facts.gpu}: {gpus}"),
        say("{gpu}: {total}", gpu=facts.gpu, total=total) if total else _no_gpu(content, facts),
        say("ask {gpus} of {gpu} in the limits", gpus=gpus, gpu=facts.gpu),
        is_fixed=True,
    )


def _no_gpu(content: Object, facts: Facts) -> Message:
    places = places_of(content, facts.gpu)
    if not places:
        return say("no {gpu} in any container", gpu=facts.gpu)
    field = spell_path(places[0][:-1]) or "-"
    return say("no {gpu} in any container's limits, but in {field}", gpu=facts.gpu, field=field)


def _misplaced(path: Path) -> Fault:
    """The containers are there, but not where a Job has them."""
    above = spell_path(path[:-1]) or "-"
    return Fault(
        path,
        say("containers in {field}", field=spell_path(_POD)),
        say("containers in {field}", field=above),
        say("a Job holds a template, and that a pod's spec: look at the levels of the file"),
        is_fixed=True,
    )


def _judge_container(container: object, where: Path, facts: Facts, gpus: int) -> Fault | None:
    limit = dig(container, "resources", "limits", facts.gpu)
    if limit is MISSING:
        if dig(container, "resources", "requests", facts.gpu) is MISSING:
            return None
        return Fault(
            where,
            plain(f"{facts.gpu}: {gpus}"),
            say("{gpu} in requests only", gpu=facts.gpu),
            say("the API refuses GPUs without a limit: write them in limits"),
            is_fixed=True,
        )
    _, why = _whole_number(limit)
    if why is None:
        return None
    return Fault(
        (*where, facts.gpu),
        say("a whole number of {gpu}", gpu=facts.gpu),
        say("{value}: {why}", value=show(limit), why=why),
        say("ask {gpus} of {gpu}", gpus=gpus, gpu=facts.gpu),
        is_fixed=True,
    )


def _judge_parallelism(content: Object, facts: Facts) -> Fault | None:
    value = dig(content, "spec", "parallelism")
    if value in (MISSING, None, 1):
        return None
    return Fault(
        ("spec", "parallelism"),
        say("1: one pod at a time"),
        plain(show(value)),
        say("each pod asks {gpu} of its own; leave parallelism out", gpu=facts.gpu),
    )


def _whole_number(value: object) -> tuple[Fraction, Message | None]:
    if value is MISSING:
        return Fraction(0), None
    try:
        amount = parse_quantity(value)
    except BadQuantity as bad:
        return Fraction(0), bad.why
    if amount.denominator != 1 or amount < 0:
        return Fraction(0), say("the API takes whole GPUs only")
    return amount, None
