"""Hints on the page: those that were shown for what failed last, and the next one on request."""

from __future__ import annotations

import threading
from collections.abc import Mapping

from lab.hints import LEVEL_NAMES, Offer, hint_text, offer
from lab.model import Step
from lab.places import Place
from lab.progress import ProgressLog
from lab.text import Speech
from lab.web.markdown import to_html
from provision.errors import LabError
from provision.message import say

_ONE = threading.Lock()  # two windows that ask at once get one hint each


class NoHints(LabError):
    """There is nothing to hint at; the sentence says why."""


def shown_hints(place: Place, step: Step, speech: Speech) -> Mapping[str, object]:
    """The hints shown so far for the first check of a step that failed when it was graded last.

    NoHints when none failed; LabError when the record or the hints cannot be read.
    """
    coming = _offer(place, step)
    return _as_json(place, coming, coming.used, speech)


def next_hint(place: Place, step: Step, speech: Speech) -> Mapping[str, object]:
    """The same with one more, which is put on record; when all were shown, those again."""
    with _ONE:
        coming = _offer(place, step)
        told = _as_json(place, coming, coming.level, speech)
        if not coming.is_again:
            ProgressLog(place.progress_file).record_hint(step.number, coming.use)
        return told


def _offer(place: Place, step: Step) -> Offer:
    record = ProgressLog(place.progress_file).record_of(step.number)
    if record.failure is None and record.graded_at:
        raise NoHints(say("Step {step} passed when it was checked last.", step=step.number))
    if record.failure is None:
        raise NoHints(say("Hints are about what a check found: check the step first."))
    coming = offer(place.lab, step, record, record.failure)
    if coming is None:
        raise NoHints(say("There are no hints for what failed in step {step}.", step=step.number))
    return coming


def _as_json(place: Place, coming: Offer, used: int, speech: Speech) -> Mapping[str, object]:
    return {
        "step": coming.step.number,
        "check": coming.failure.id,
        "title": speech.of(coming.failure.title),
        "of": coming.of,
        "used": used,
        "hints": [
            {
                "level": level,
                "name": speech.of(LEVEL_NAMES[level - 1]),
                "html": to_html(hint_text(place, coming, level, speech)),
            }
            for level in range(1, used + 1)
        ],
    }
