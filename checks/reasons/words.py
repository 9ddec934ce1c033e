"""Words that several reasons share: details, lists of names, names that are near."""

from __future__ import annotations

import difflib
from collections.abc import Iterable, Sequence

from checks.kit.expect import cut, plain
from checks.reasons.cause import Detail
from checks.watching import WorkloadNow
from provision.message import Message, say

_SHOWN = 6


def detail(key: str, text: Message | str) -> Detail:
    """A detail with the label of its key."""
    return Detail(key, _LABELS[key], text if isinstance(text, Message) else plain(text))


def kueue_says(workload: WorkloadNow) -> str:
    """The reason and the message of QuotaReserved, as the Workload has them; empty without."""
    condition = workload.conditions.get("QuotaReserved")
    return f"{condition.reason}: {condition.message}" if condition else ""


def quoting(what: Message, says: str) -> Message:
    """The sentence with Kueue's own words behind it, where there are some."""
    return say("{what} ({says})", what=what, says=says) if says else what


def names_of(names: Iterable[str]) -> str:
    """Some names in order, with a mark when there are more; "-" for none."""
    return _listed(sorted({name for name in names if name}))


def _listed(ordered: Sequence[str]) -> str:
    more = ", ..." if len(ordered) > _SHOWN else ""
    return cut(", ".join(ordered[:_SHOWN]) + more) or "-"


def near_names(name: str, known: Iterable[str]) -> tuple[str, ...]:
    """Names that may have been meant, the nearest first; Kubernetes has small letters only."""
    name = name.lower()
    ordered = sorted({other for other in known if other})
    near = difflib.get_close_matches(name, ordered, n=3, cutoff=0.6)
    inside = [other for other in ordered if name and (name in other or other in name)]
    return tuple(dict.fromkeys([*near, *inside]))[:3]


def there_is(name: str, known: Iterable[str]) -> Detail:
    """What there is instead of an absent object, near names first."""
    everyone = sorted({other for other in known if other})
    near = near_names(name, everyone)
    return detail("there", _listed([*near, *(one for one in everyone if one not in near)]))


def pairs(labels: Iterable[tuple[str, str]]) -> str:
    """Labels as `key=value`, in order; "-" for none."""
    return cut(", ".join(sorted(f"{key}={value}" for key, value in labels))) or "-"


_LABELS = {
    "asked": say("asked"),
    "free": say("free"),
    "missing": say("missing"),
    "holders": say("held by"),
    "says": say("Kueue says"),
    "scheduler": say("scheduler"),
    "event": say("event"),
    "there": say("there is"),
    "label": say("label"),
    "way": say("way"),
    "evicted": say("evicted"),
    "preemptor": say("left for"),
    "priority": say("priority"),
    "twin": say("twin"),
    "front": say("in front"),
    "turn": say("turn"),
    "source": say("from"),
    "also": say("also"),
    "node": say("node"),
    "pods": say("pods"),
    "replicas": say("pods"),
    "since": say("since"),
}
