"""Events of the stream as data in a language: how steps stand, and how far a check is."""

from __future__ import annotations

from collections.abc import Mapping

from checks.news import CheckNews
from lab.model import Lab, Step
from lab.text import Speech
from lab.web.running_checks import Ended
from lab.web.state import Known, state_as_json, verdict_as_json
from provision.errors import LabError


def tell_state(known: Known, speech: Speech, *, has_tmux: bool) -> Mapping[str, object]:
    """The `state` of the page."""
    return state_as_json(known, speech, has_tmux=has_tmux)


def tell_unread(
    lab: Lab, error: LabError, speech: Speech, *, has_tmux: bool
) -> Mapping[str, object]:
    """The `state` of a page whose record cannot be read: nothing is known, and why."""
    state = state_as_json(Known(lab, {}, {}), speech, has_tmux=has_tmux)
    words = [error.what, *([error.next_move] if error.next_move else [])]
    return {**state, "remarks": [" ".join(speech.of(word) for word in words)]}


def tell_verdict(known: Known, number: int, speech: Speech) -> Mapping[str, object]:
    """The `verdict` of the page."""
    return verdict_as_json(known, known.lab.step(number), speech) or {}


def tell_checking(
    run: str, step: Step, what: CheckNews | Ended | None, speech: Speech
) -> Mapping[str, object]:
    """A `checking` of the page: a run started, a check of it began or ended, the run ended."""
    about: dict[str, object] = {"run": run, "step": step.number, "error": None}
    if what is None:
        title = speech.pick(step.title)
        return about | {"phase": "started", "title": title, "outcome": None, "seconds": None}
    about["seconds"] = round(what.seconds, 3)
    if isinstance(what, Ended):
        error = None if what.error is None else speech.of(what.error)
        outcome = what.verdict or None
        title = speech.pick(step.title)
        return about | {"phase": "ended", "title": title, "outcome": outcome, "error": error}
    return about | {
        "phase": "check",
        "title": speech.of(what.title),
        "outcome": None if what.outcome is None else str(what.outcome),
        "id": what.id,
        "index": what.index,
        "of": what.of,
    }
