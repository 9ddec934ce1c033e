"""Why a Job waits, as text for one screen and as JSON for programs."""

from __future__ import annotations

from collections.abc import Callable, Mapping

from checks.explain import Cause, Detail
from checks.inquiry import Answer
from lab.text import Speech, pad, width, wrap
from provision.message import Message, say

SCHEMA = 1
SCREEN = 22  # lines below the first one; the JSON form has all that there is

Rows = list[tuple[Message, Message]]

_STATES = {
    Cause.RUNNING: say("runs"),
    Cause.ENDED: say("has ended"),
    Cause.STARTING: say("starts"),
    Cause.NO_IMAGE: say("waits for its image"),
    Cause.CRASHING: say("crashes"),
    Cause.LEAVING: say("is going"),
    Cause.ADMITTED: say("is admitted"),
}
_PLACING = (
    Cause.CORDONED,
    Cause.TAINT,
    Cause.NODE_LABELS,
    Cause.NODE_FULL,
    Cause.NODE_SMALL,
    Cause.UNPLACED,
    Cause.NO_PODS,
)


class WhyReport:
    """Draws an answer: what it is about, the cause, what belongs to it, and the next move."""

    def __init__(self, speech: Speech, *, columns: int, paint: Callable[[str, str], str]) -> None:
        self._speech = speech
        self._columns = columns
        self._paint = paint

    def draw(self, answer: Answer, trouble: Message | None) -> str:
        """The whole screen, without an end of line."""
        head = say(
            "{kind} {name} in {namespace}: {state}",
            kind=answer.kind,
            name=answer.name,
            namespace=answer.namespace,
            state=state_of(answer),
        )
        above: Rows = [(say("why"), answer.why.what)]
        if answer.job and answer.kind != answer.job_kind:
            label = say("Job") if answer.job_kind == "Job" else Message(answer.job_kind)
            above.insert(0, (label, say("{text}", text=answer.job)))
        details: Rows = [(one.label, one.text) for one in _not_said_yet(answer, self._speech)]
        below: Rows = []
        if answer.way:
            below.append((say("way"), say("{text}", text=" > ".join(answer.way))))
        below.append((say("next"), answer.why.next_move))
        if trouble is not None:
            below.append((say("beware"), trouble))
        role = "good" if _is_well(answer) else "bad"
        lines = [self._paint(line, role) for line in wrap(self._speech.of(head), self._columns)]
        return "\n".join([*lines, *self._table(above, details, below)])

    def _table(self, above: Rows, details: Rows, below: Rows) -> list[str]:
        """Three groups of rows under each other; of the middle one only what the screen holds."""
        labels = [self._speech.of(label) for label, _ in (*above, *details, *below)]
        room = max(width(label) for label in labels) + 3
        first = self._rows(above, room, most=6)
        last = self._rows(below, room, most=3)
        left = SCREEN - len(first) - len(last)
        return [*first, *self._rows(details, room, most=2)[: max(left, 0)], *last]

    def _rows(self, rows: Rows, room: int, *, most: int) -> list[str]:
        """Label and text; a label that stands above already is left out, long texts are cut."""
        lines: list[str] = []
        before = ""
        for label, text in rows:
            word = self._speech.of(label)
            shown, before = ("" if word == before else word), word
            told = wrap(self._speech.of(text), self._columns - room - 2)
            if len(told) > most:
                told = [*told[: most - 1], told[most - 1][: self._columns - room - 8] + " [...]"]
            lines.append("  " + pad(shown, room) + told[0])
            lines += [" " * (room + 2) + line for line in told[1:]]
        return lines


def state_of(answer: Answer) -> Message:
    """In a word or two, how it is with the thing asked about."""
    cause = answer.why.cause
    if cause in _PLACING:
        return say("is let in, but not placed") if _is_queued(answer) else say("is not placed")
    if cause is Cause.UNQUEUED and any(one.key == "pods" for one in answer.why.details):
        return say("runs past the queue")
    if cause is Cause.ORPHAN:
        return say("is left over")
    return _STATES.get(cause, say("waits"))


def as_json(
    lab: str, answer: Answer, trouble: Message | None, speech: Speech
) -> Mapping[str, object]:
    """The documented form for programs (docs/schema/why.json)."""
    why = answer.why
    return {
        "schema": SCHEMA,
        "lab": lab,
        "language": speech.language,
        "kind": answer.kind,
        "namespace": answer.namespace,
        "name": answer.name,
        "job": answer.job or None,
        "state": speech.of(state_of(answer)),
        "cause": str(why.cause),
        "why": speech.of(why.what),
        "is_coming": why.is_coming,
        "details": [_detail(one, speech) for one in why.details],
        "way": list(answer.way),
        "next": speech.of(why.next_move),
        "trouble": None if trouble is None else speech.of(trouble),
        "requests": answer.requests,
    }


def _detail(detail: Detail, speech: Speech) -> Mapping[str, str]:
    return {
        "key": detail.key,
        "label": speech.of(detail.label),
        "text": speech.of(detail.text),
    }


def _not_said_yet(answer: Answer, speech: Speech) -> list[Detail]:
    """Details without those that quote what the sentence quotes already."""
    said = speech.of(answer.why.what)
    return [
        one
        for one in answer.why.details
        if one.key not in ("says", "scheduler") or speech.of(one.text) not in said
    ]


def _is_queued(answer: Answer) -> bool:
    return len(answer.way) > 1


def _is_well(answer: Answer) -> bool:
    return answer.why.cause in (Cause.RUNNING, Cause.STARTING, Cause.ENDED, Cause.ADMITTED)
