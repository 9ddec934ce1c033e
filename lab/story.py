"""The lab's story: what the recorder wrote down, told as moments that a person reads."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field

from checks.history import Change, History, Start, seconds
from lab.telling import Told, tell
from provision.message import Message, say

_UNSEEN = 1 << 63  # orders what nobody saw behind all that was seen
_AWAY = 12.0  # seconds; the recorder tells every five that it is there


@dataclass(frozen=True, slots=True)
class Moment:
    """One line of the story. `time` is RFC 3339: when it happened, or at the latest (`is_late`).

    `word` is the same in every language; `kind` and `name` are those of the object it is about
    (empty for the recorder itself); `version` puts moments of one second in their order.
    """

    time: str
    is_late: bool
    kind: str
    namespace: str
    name: str
    uid: str
    word: str
    what: Message
    version: int = 0


@dataclass(slots=True)
class Plot:
    """What must be remembered to tell the next change."""

    before: dict[str, Change] = field(default_factory=dict)
    waits: dict[str, str] = field(default_factory=dict)
    gone: set[str] = field(default_factory=set)
    owners: dict[str, str] = field(default_factory=dict)


def tell_story(history: History) -> tuple[Moment, ...]:
    """All moments, oldest first."""
    plot = Plot()
    found = [moment for change in history.changes for moment in _moments(change, plot)]
    found += [m for number, start in enumerate(history.starts) for m in _start(start, number)]
    return tuple(sorted(found, key=lambda m: (int(seconds(m.time)), m.version)))


def _moments(change: Change, plot: Plot) -> Iterator[Moment]:
    before = plot.before.get(change.uid)
    if change.what == "known" and before is not None:
        return
    if change.kind == "Workload":
        plot.owners[change.uid] = change.owner or change.name
    for told in tell(change, before, plot.waits, plot.gone, plot.owners):
        yield _moment(change, told)
    plot.before[change.uid] = change
    if change.is_gone:
        plot.gone.add(change.uid)


def _moment(change: Change, told: Told) -> Moment:
    is_late = change.is_late or change.what == "known"
    return Moment(
        time=(told.since or change.seen) if is_late else change.seen,
        is_late=is_late and not told.since,
        kind=change.kind,
        namespace=change.namespace,
        name=change.owner or change.name,
        uid=change.uid,
        word=told.word,
        what=told.what,
        version=change.version or _UNSEEN,
    )


def _start(start: Start, number: int) -> Iterator[Moment]:
    away = seconds(start.seen) - seconds(start.after) if start.after else 0.0
    if number == 0:
        word, what = "begins", say("the recorder begins")
    elif away > _AWAY:
        word = "away"
        what = say(
            "the recorder is back; it had seen nothing for {seconds} s", seconds=f"{away:.0f}"
        )
    else:
        return
    yield Moment(start.seen, False, "", "", "", "", word, what)
