"""The result of a case as JSON for programs."""

from __future__ import annotations

from collections.abc import Mapping

from checks.outcome import CheckResult, Outcome, StepResult, StepVerdict
from lab.text import Speech
from provision.message import Message, say

LONGEST = 300


def as_json(result: StepResult, speech: Speech) -> Mapping[str, object]:
    """`step`, `verdict` and `failed`: what stands in the way, first cause first."""
    is_unknown = result.verdict is StepVerdict.CANNOT_TELL
    wanted = Outcome.ERROR if is_unknown else Outcome.FAILED
    return {
        "step": result.step,
        "verdict": str(result.verdict),
        "failed": [
            {"check": check.id, **_parts(check, speech)}
            for check in result.checks
            if check.outcome is wanted
        ],
    }


def _parts(check: CheckResult, speech: Speech) -> Mapping[str, str]:
    finding = check.finding
    told: Mapping[str, Message | None] = (
        {
            "looked_at": check.title,
            "expected": say("a place that answers"),
            "found": check.trouble,
            "next": check.next_move,
        }
        if finding is None
        else {
            "looked_at": finding.looked_at,
            "expected": finding.expected,
            "found": finding.found,
            "next": finding.next_move,
        }
    )
    return {key: "" if part is None else _cut(speech.of(part)) for key, part in told.items()}


def _cut(text: str) -> str:
    return text if len(text) <= LONGEST else text[: LONGEST - 1] + "…"
