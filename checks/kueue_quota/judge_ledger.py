"""The ClusterQueue's ledger against the three numbers that a learner wrote down."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from fractions import Fraction

from checks.history import Change
from checks.judging.past import find_wait
from checks.kit.expect import OnItsWay, cut, mismatch, plain, show
from checks.kit.files import TextFile
from checks.kit.manifests import parse_json, place
from checks.kit.proof import seconds_of
from checks.kit.quantities import BadQuantity, parse_quantity, show_amount, sum_amounts
from checks.kueue_quota.after_step_8 import is_after_step_8
from checks.kueue_quota.facts import Facts
from checks.kueue_quota.history import books_while_waiting
from checks.outcome import Finding, Mismatch
from checks.scene import Scene, amount_of
from checks.watching import QueueNow
from provision.message import Message, say


@dataclass(frozen=True, slots=True)
class Ledger:
    """Admitted and waiting Workloads, and reserved GPUs, by the keys of the learner's file."""

    numbers: Mapping[str, Fraction]

    def __str__(self) -> str:
        """The numbers as the file would have them."""
        return ", ".join(f"{key} {show_amount(value)}" for key, value in self.numbers.items())


def read_ledger_file(file: TextFile, lab: Facts) -> Ledger:
    """The three numbers of the file; Mismatch when it does not hold them."""
    content = parse_json(file)
    keys = (lab.usage.admitted_key, lab.usage.pending_key, lab.usage.gpu_key)
    wanted = say("an object with the keys {keys} at the top", keys=", ".join(keys))
    if not isinstance(content, dict):
        raise mismatch(place(file), wanted, plain(show(content)), _shape(keys))
    missing = [key for key in keys if key not in content]
    if missing:
        found = say(
            "no {missing}; the keys are {keys}",
            missing=", ".join(missing),
            keys=cut(", ".join(str(key) for key in content)) or "-",
        )
        raise mismatch(place(file), wanted, found, _shape(keys))
    return Ledger({key: _number(file, key, content[key]) for key in keys})


def require_same_ledger(
    scene: Scene, lab: Facts, file: TextFile, written: Ledger
) -> tuple[str, Message | None]:
    """The file agrees with the ledger now, or with those before step 8 when it was written then.

    Returns the fact that it agrees with, and for the past what has replaced it. The ledger lags
    behind by a moment: then OnItsWay.
    """
    queue = scene.cluster_queue(lab.cluster_queue.name)
    if queue is None:
        raise LookupError("the ground was checked before")
    ledger = _ledger_of(queue, lab)
    if written == ledger:
        return f"as the ledger says: {ledger}", None
    before = _before_step_8(scene, lab, file, ledger)
    if written in before:
        fact = f"as the ledger said before {lab.waiting_job.name} was admitted: {written}"
        return fact, say("since step 8 the ledger says: {ledger}", ledger=ledger)
    off = [key for key in ledger.numbers if written.numbers[key] != ledger.numbers[key]]
    finding = Finding(
        place(file, None, ", ".join(off)),
        say("{numbers} (status of ClusterQueue {queue})", numbers=ledger, queue=queue.name),
        plain(written),
        _move(scene, lab),
    )
    if _lags(scene, queue, lab):
        raise OnItsWay(finding)
    raise Mismatch(finding)


def _ledger_of(queue: QueueNow, lab: Facts) -> Ledger:
    return Ledger(
        {
            lab.usage.admitted_key: Fraction(queue.admitted),
            lab.usage.pending_key: Fraction(queue.pending),
            lab.usage.gpu_key: queue.reserved.get(lab.gpu, Fraction(0)),
        }
    )


def _lags(scene: Scene, queue: QueueNow, lab: Facts) -> bool:
    held = scene.held(queue.name)
    admitted = sum(1 for workload in held if workload.is_admitted)
    return admitted != queue.admitted or amount_of(held, lab.gpu) != queue.reserved.get(lab.gpu, 0)


def _before_step_8(scene: Scene, lab: Facts, file: TextFile, ledger: Ledger) -> tuple[Ledger, ...]:
    """The ledger before the waiting Job was admitted, when the file is older than that.

    Those of the moment when the file was written, where the recorder saw them; and as they must
    have been: the first Job held its GPUs, and the waiting one stood in the line.
    """
    job = scene.job(lab.waiting_job.name)
    workload = scene.workload_of(job) if job and is_after_step_8(scene, lab) else None
    if workload is None or not workload.is_admitted or not find_wait(scene, workload):
        return ()
    if file.mtime > seconds_of(workload.conditions["QuotaReserved"].since):
        return ()
    numbers = dict(ledger.numbers)
    numbers[lab.usage.pending_key] += 1
    numbers[lab.usage.gpu_key] += lab.first_job.gpus - workload.amounts.get(lab.gpu, Fraction(0))
    # The time of a file is cut to the second.
    seen = books_while_waiting(scene, lab, workload, file.mtime + 1)
    return (Ledger(numbers), *([_recorded_books(seen, lab)] if seen else []))


def _recorded_books(queue: Change, lab: Facts) -> Ledger:
    reserved = sum_amounts([queue.amounts("reserved")])
    return Ledger(
        {
            lab.usage.admitted_key: Fraction(queue.count("admitted")),
            lab.usage.pending_key: Fraction(queue.count("pending")),
            lab.usage.gpu_key: reserved.get(lab.gpu, Fraction(0)),
        }
    )


def _number(file: TextFile, key: str, value: object) -> Fraction:
    try:
        if isinstance(value, float) and not math.isfinite(value):
            raise BadQuantity(say("it is too large"))
        return parse_quantity(value)
    except BadQuantity as bad:
        raise mismatch(
            place(file, None, key),
            say("{key}: a number", key=key),
            say("{key}: {value}, but {why}", key=key, value=show(value), why=bad.why),
            say("write the number that the status of the ClusterQueue holds"),
        ) from None


def _shape(keys: tuple[str, ...]) -> Message:
    return say("write one JSON object with these keys and a number behind each")


def _move(scene: Scene, lab: Facts) -> Message:
    if is_after_step_8(scene, lab):
        return say("step 8 has moved the ledger on: make reset, or write down what it says now")
    return say("read the status of the ClusterQueue again: admitted, pending, flavorsReservation")
