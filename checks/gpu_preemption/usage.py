"""How much a LocalQueue can have used at some time, by what was recorded of it and Kueue's rule.

Under admission fair sharing a LocalQueue's consumed resources follow what it holds: with a
half-life H, after a time t they are c * a + held * (1 - a) with a = 2 ** (-t / H) (Kueue: docs,
"Admission Fair Sharing"). How much it held is not asked: when it held anything, all between nothing
and the whole quota is allowed for. Measured on v0.19.2 with a half-life of one hour and a sampling
of one second: 4 GPUs add 0.0077 in 10 seconds, as the rule says.
"""

from __future__ import annotations

import time
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from checks.history import History, seconds
from checks.kit.paths import dig, dig_map
from checks.kit.quantities import BadQuantity, parse_quantity
from checks.scene import Scene

_STATUS = ("status", "fairSharing", "admissionFairSharingStatus", "consumedResources")
# People round, and the numbers are a second old: a tenth, and a little beside nothing.
_TENTH, _LITTLE = 0.1, 0.002


@dataclass(frozen=True, slots=True)
class Seen:
    """What a LocalQueue had consumed at a moment (seconds since the epoch).

    `is_idle`: it had nothing admitted from then on, up to the next that was seen.
    """

    moment: float
    amount: float
    is_idle: bool = False


@dataclass(frozen=True, slots=True)
class Span:
    """Least and most that it can have been within a time."""

    least: float
    most: float

    def holds(self, amount: float) -> bool:
        """An amount that somebody wrote down within it, rounded as people do."""
        low = self.least * (1 - _TENTH) - _LITTLE
        return low <= amount <= self.most * (1 + _TENTH) + _LITTLE


def consumed_now(scene: Scene, queue: str, resource: str) -> float | None:
    """What a LocalQueue of the lab has consumed by its own status; None when it does not say."""
    local = scene.local_queue(queue)
    return None if local is None else _number(dig(local.raw, *_STATUS, resource))


def consumed_then(history: History, queue: str, resource: str) -> tuple[Seen, ...]:
    """What the recorder saw a LocalQueue of that name say, oldest first; of its last life only."""
    changes = history.of("LocalQueue", name=queue)
    last = changes[-1].uid if changes else ""
    found = [
        Seen(seconds(change.seen), amount, not change.count("admitted"))
        for change in changes
        if change.uid == last
        and (amount := _number(dig_map(change.facts, "consumed").get(resource))) is not None
    ]
    return tuple(found)


def span(
    seen: Sequence[Seen], now: float | None, *, since: float, until: float, most: int, half: int
) -> Span | None:
    """Between which amounts it can have been from `since` to `until`; None when nothing is known.

    `now` is what it says now, `most` how much of the resource can be held, `half` the half-life in
    seconds.
    """
    before = [one for one in seen if one.moment <= since][-1:]
    known = [*before, *(one for one in seen if since < one.moment <= until)]
    if not known:
        return None if now is None else _back(now, time.time() - since, most, half)
    ends = [*(one.moment for one in known[1:]), max(until, known[-1].moment)]
    parts = list(_forward(known, ends, most, half))
    return Span(min(part.least for part in parts), max(part.most for part in parts))


def _forward(known: Iterable[Seen], ends: Iterable[float], most: int, half: int) -> Iterable[Span]:
    for one, end in zip(known, ends, strict=True):
        kept = 2.0 ** (-(end - one.moment) / half)
        held = 0 if one.is_idle else most
        yield Span(one.amount * kept, max(one.amount, one.amount * kept + held * (1 - kept)))


def _back(now: float, age: float, most: int, half: int) -> Span:
    kept = 2.0 ** (-max(age, 0.0) / half)
    return Span(max(0.0, (now - most * (1 - kept)) / kept), now / kept)


def _number(value: object) -> float | None:
    try:
        return float(parse_quantity(value))
    except BadQuantity:
        return None
