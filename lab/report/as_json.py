"""A report as JSON; the keys are documented in docs/schema/report.json."""

from __future__ import annotations

from collections.abc import Mapping

from lab.report.gathering import Report
from lab.report.standing_json import step_as_json, target_as_json
from lab.text import Speech

SCHEMA = 1


def as_json(report: Report, speech: Speech) -> Mapping[str, object]:
    """All that the other forms show, and a little more."""
    return {
        "schema": SCHEMA,
        "lab": report.lab.slug,
        "title": speech.pick(report.lab.title),
        "language": speech.language,
        "made_at": report.made_at,
        "verdict": str(report.verdict),
        "passed": report.passed,
        "solved": report.solved,
        "attempts": report.attempts,
        "hints": report.hints,
        "place": report.place_id or None,
        "target": None if report.info is None else target_as_json(report.info, speech),
        "hashes": {"lab": report.lab_hash, "checks": report.checks_hash},
        "steps": [step_as_json(standing, speech) for standing in report.standings],
    }
