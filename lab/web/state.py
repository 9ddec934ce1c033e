"""What is on record of all steps, as the page shows it: read from the place's files."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from lab.model import Lab, Step
from lab.places import Place
from lab.progress import ProgressLog, StepRecord
from lab.report.standing_json import step_as_json
from lab.text import Speech
from lab.verdicts import StoredVerdict, VerdictStore, mark_of
from provision.message import Message, say

Mark = tuple[tuple[int, int, int], ...]


@dataclass(frozen=True, slots=True)
class Known:
    """Progress and the newest verdicts at one moment, by the number of the step."""

    lab: Lab
    records: Mapping[int, StepRecord]
    verdicts: Mapping[int, StoredVerdict]

    @property
    def open_step(self) -> int:
        """The first step that never passed; the last one when all have."""
        steps = self.lab.steps
        return next((s.number for s in steps if not self.record(s).passed_at), steps[-1].number)

    def record(self, step: Step) -> StepRecord:
        """What is on record of a step."""
        return self.records.get(step.number, StepRecord())

    def truth(self, step: Step) -> tuple[bool | None, Message | None, int]:
        """Whether a step is true now as far as is known, why not, and which step ended it (or 0).

        A later step that is meant to end it and has passed since then has ended it.
        """
        verdict = self.verdicts.get(step.number)
        if verdict is None:
            return None, None, 0
        later = self.verdicts.get(step.undone_by)
        if later is not None and later.is_true_now and later.graded_at > verdict.graded_at:
            cause = say("Step {later} ended it, as it is meant to.", later=step.undone_by)
            return False, cause, step.undone_by
        return verdict.is_true_now, verdict.cause, verdict.ended_by


def read_known(place: Place) -> Known:
    """All of it afresh; LabError when the record cannot be read."""
    store = VerdictStore(place.verdicts)
    found = {step.number: store.get(step.number) for step in place.lab.steps}
    records = ProgressLog(place.progress_file).records()
    return Known(place.lab, records, {n: v for n, v in found.items() if v is not None})


def mark_of_known(place: Place) -> Mark:
    """Something that differs whenever any of it has changed; a few looks at files, none opened."""
    numbers = [step.number for step in place.lab.steps]
    return (mark_of(place.progress_file), *VerdictStore(place.verdicts).mark(numbers))


def state_as_json(known: Known, speech: Speech, *, has_tmux: bool) -> Mapping[str, object]:
    """The `state` of the page."""
    remarks = () if has_tmux else (_NO_TMUX,)
    return {
        "steps": [_step_as_json(known, step, speech) for step in known.lab.steps],
        "open_step": known.open_step,
        "tmux": has_tmux,
        "remarks": [speech.of(remark) for remark in remarks],
    }


def verdict_as_json(known: Known, step: Step, speech: Speech) -> Mapping[str, object] | None:
    """The newest verdict on a step in full; None when there is none."""
    verdict = known.verdicts.get(step.number)
    if verdict is None:
        return None
    standing = verdict.standing(step, known.record(step))
    return {
        "step": step.number,
        "graded_at": verdict.graded_at,
        "by": verdict.by,
        "standing": step_as_json(standing, speech),
    }


def _step_as_json(known: Known, step: Step, speech: Speech) -> Mapping[str, object]:
    record, verdict = known.record(step), known.verdicts.get(step.number)
    is_true_now, cause, ended_by = known.truth(step)
    return {
        "number": step.number,
        "passed_at": record.passed_at or None,
        "solved": record.is_solved,
        "true_now": is_true_now,
        "ended_by": ended_by or None,
        "cause": None if cause is None else speech.of(cause),
        "attempts": record.attempts,
        "hints": len(record.hints),
        "verdict": None if verdict is None else str(verdict.verdict),
        "graded_at": None if verdict is None else verdict.graded_at,
        "by": None if verdict is None else verdict.by,
    }


_NO_TMUX = say(
    "tmux is not installed: a shell ends when the page is loaded again or the connection is lost."
)
