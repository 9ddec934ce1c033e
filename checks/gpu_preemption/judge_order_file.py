"""Step 10: what the learner wrote down about the order, its form and its truth."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from checks.gpu_preemption.facts import Facts
from checks.gpu_preemption.judge_order import Outcome
from checks.gpu_preemption.usage import consumed_now, consumed_then, span
from checks.kit.expect import mismatch, plain, show
from checks.kit.files import TextFile
from checks.kit.manifests import parse_json, place
from checks.kit.quantities import BadQuantity, is_same_amount, parse_quantity
from checks.outcome import CannotTell, Mismatch
from checks.scene import Scene
from provision.message import Message, say

_READ = say("read the LocalQueues while both Jobs wait: kubectl get localqueues -o yaml")
_BILLIONTH = 1e-9  # n behind a quantity
_EARLIER = 600.0  # seconds before both waited in which the use may have been read


@dataclass(frozen=True, slots=True)
class Noted:
    """The file's content: a Job's name, and by LocalQueue what it has used and its weight.

    `spelled`: what it has used, as the file spells it.
    """

    first: str
    consumed: Mapping[str, float]
    weight: Mapping[str, float]
    spelled: Mapping[str, str] = field(default_factory=dict)


def read_order_file(file: TextFile, lab: Facts) -> Noted:
    """The file has the form that the step asks for; nothing is said about its truth."""
    order = lab.order
    value = parse_json(file)
    keys = (order.first_key, order.consumed_key, order.weight_key)
    shape = say("one JSON object with the keys {keys}", keys=", ".join(keys))
    if not isinstance(value, dict):
        raise mismatch(place(file), shape, plain(show(value)), say("see the example in the step"))
    missing = [key for key in keys if key not in value]
    if missing:
        found = say("no key {key}, but {keys}", key=missing[0], keys=show(list(value)))
        raise mismatch(place(file), shape, found, say("see the example in the step"))
    first = value[order.first_key]
    if not isinstance(first, str):
        found = plain(f"{order.first_key}: {show(first)}")
        where = place(file, None, order.first_key)
        raise mismatch(where, say("the name of a Job"), found, say("write it in quotes"))
    used = value[order.consumed_key]
    return Noted(
        first.strip(),
        _numbers(file, lab, order.consumed_key, used),
        _numbers(file, lab, order.weight_key, value[order.weight_key]),
        {queue: show(used[queue]) for queue in (lab.tenant.local_queue, lab.research.name)},
    )


def require_true(scene: Scene, lab: Facts, file: TextFile, noted: Noted, outcome: Outcome) -> None:
    """Job, weights and use are those of this cluster, and the use explains the order."""
    order = lab.order
    if noted.first.rpartition("/")[2] != outcome.first.job.name:
        raise mismatch(
            place(file, None, order.first_key),
            say("the Job that was let in first"),
            plain(show(noted.first)),
            say("compare since when QuotaReserved is True on the Workloads of both"),
        )
    for queue, weight in ((lab.tenant.local_queue, lab.tenant.weight), _research(lab)):
        if not is_same_amount(noted.weight[queue], weight):
            raise mismatch(
                place(file, None, f"{order.weight_key}.{queue}"),
                say("spec.fairSharing.weight of LocalQueue {queue}", queue=queue),
                plain(f"{noted.weight[queue]:g}"),
                say("read it from the LocalQueue, not from its status"),
            )
        _require_possible(scene, lab, file, noted, outcome, queue)
    require_explained(lab, file, noted, outcome)


def _require_possible(
    scene: Scene, lab: Facts, file: TextFile, noted: Noted, outcome: Outcome, queue: str
) -> None:
    """The number is one that this LocalQueue can have shown up to when the file was written."""
    allowed = span(
        consumed_then(scene.history, queue, lab.gpu),
        consumed_now(scene, queue, lab.gpu),
        since=outcome.since - _EARLIER,
        until=max(float(file.mtime) + 1, outcome.since),
        most=lab.tenant.gpus,
        half=lab.order.half_life,
    )
    if allowed is None:
        raise CannotTell(
            say("LocalQueue {queue} does not say what it has used", queue=queue),
            next_move=say("see make status and make logs NAME=kueue"),
        )
    amount = noted.consumed[queue]
    if allowed.holds(amount):
        return
    written = noted.spelled.get(queue, f"{amount:g}")
    found = plain(written)
    if allowed.holds(amount * _BILLIONTH):
        found = say("{number}, without the n behind it", number=written)
    raise mismatch(
        place(file, None, f"{lab.order.consumed_key}.{queue}"),
        say("what LocalQueue {queue} had used of {gpu} by its status", queue=queue, gpu=lab.gpu),
        found,
        say("{read}; n behind a number means a billionth, m a thousandth", read=_READ),
    )


def require_explained(lab: Facts, file: TextFile, noted: Noted, outcome: Outcome) -> None:
    """The job that came first is that of the LocalQueue with the smaller use by weight."""
    share = {queue: noted.consumed[queue] / noted.weight[queue] for queue in noted.consumed}
    if share[outcome.first.queue] < share[outcome.other.queue]:
        return
    found = say(
        "by these, {queue} had used less for its weight: they were read too late",
        queue=outcome.other.queue,
    )
    if share[outcome.first.queue] == share[outcome.other.queue]:
        found = say("by these, both had used the same for their weight")
    where = place(file, None, lab.order.consumed_key)
    raise mismatch(
        where, say("numbers by which {job} comes first", job=outcome.first.job.name), found, _READ
    )


def _numbers(file: TextFile, lab: Facts, key: str, value: object) -> Mapping[str, float]:
    queues = (lab.tenant.local_queue, lab.research.name)
    where = place(file, None, key)
    shape = say("an object with a number for each of {queues}", queues=", ".join(queues))
    if not isinstance(value, dict) or any(queue not in value for queue in queues):
        raise mismatch(where, shape, plain(show(value)), say("see the example in the step"))
    return {queue: _number(file, f"{key}.{queue}", value[queue]) for queue in queues}


def _number(file: TextFile, key: str, value: object) -> float:
    try:
        amount = float(parse_quantity(value))
        if amount < 0 or (amount == 0 and ".".join(key.split(".")[:1]) == "weight"):
            raise BadQuantity(_TOO_SMALL)
    except BadQuantity as bad:
        found = say("{value}, but {why}", value=show(value), why=bad.why)
        raise _no_number(file, key, found) from None
    except OverflowError:
        raise _no_number(file, key, plain(show(value))) from None
    return amount


def _no_number(file: TextFile, key: str, found: Message) -> Mismatch:
    move = say("write the number as the LocalQueue has it, with its unit in quotes")
    return mismatch(place(file, None, key), say("a number"), found, move)


def _research(lab: Facts) -> tuple[str, str]:
    return lab.research.name, lab.research.weight


_TOO_SMALL = say("it is too small")
