"""What was examined and how it is: the findings of `lab doctor`."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum

from provision.message import Message


class Health(StrEnum):
    """`note` is worth knowing and harmless; `skipped` could not be looked at, for something bad."""

    GOOD = "good"
    NOTE = "note"
    BAD = "bad"
    SKIPPED = "skipped"


@dataclass(frozen=True, slots=True)
class Diagnosis:
    """One finding. `name` stays the same in all versions; `seconds` is what looking took."""

    name: str
    health: Health
    what: Message
    next_move: Message | None = None
    seconds: float = 0.0


def good(name: str, what: Message, *, seconds: float = 0.0) -> Diagnosis:
    """Found as it should be."""
    return Diagnosis(name, Health.GOOD, what, seconds=seconds)


def note(name: str, what: Message, next_move: Message | None = None) -> Diagnosis:
    """Worth knowing, and harmless."""
    return Diagnosis(name, Health.NOTE, what, next_move)


def bad(name: str, what: Message, next_move: Message, *, seconds: float = 0.0) -> Diagnosis:
    """Not as it should be, and what helps."""
    return Diagnosis(name, Health.BAD, what, next_move, seconds)


def skipped(name: str, what: Message) -> Diagnosis:
    """Not looked at; `what` says because of what."""
    return Diagnosis(name, Health.SKIPPED, what)
