"""Standings as JSON for programs; the keys are documented in docs/schema."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict

from checks.outcome import CheckResult, Finding, evidence_to_json
from lab.examining import overall
from lab.model import Lab
from lab.standing import Standing
from lab.text import Speech
from provision.target import TargetInfo

SCHEMA = 1


def as_json(
    lab: Lab, standings: Sequence[Standing], info: TargetInfo | None, speech: Speech
) -> Mapping[str, object]:
    """The documented form for programs; `schema` changes when a key changes its meaning."""
    return {
        "schema": SCHEMA,
        "lab": lab.slug,
        "language": speech.language,
        "verdict": str(overall(standings)),
        "target": None if info is None else target_as_json(info, speech),
        "steps": [step_as_json(standing, speech) for standing in standings],
    }


def target_as_json(info: TargetInfo, speech: Speech) -> Mapping[str, object]:
    """The place a verdict comes from: its kind, versions, and how it differs from the lab's."""
    return {
        "name": info.name,
        "versions": dict(info.versions),
        "note": None if info.note is None else speech.of(info.note),
    }


def step_as_json(standing: Standing, speech: Speech) -> Mapping[str, object]:
    """One step: credit, truth, and every check."""
    return {
        "step": standing.step.number,
        "id": standing.step.id,
        "title": speech.pick(standing.step.title),
        "verdict": str(standing.verdict),
        "true_now": standing.is_true_now,
        "cause": None if standing.cause is None else speech.of(standing.cause),
        "ended_by": standing.ended_by or None,
        "passed_at": standing.record.passed_at or None,
        "last_passed_at": standing.record.evidence_at or None,
        "solved": standing.record.is_solved,
        "attempts": standing.record.attempts,
        "hints": [asdict(use) for use in standing.record.hints],
        "evidence": [evidence_to_json(item) for item in standing.evidence],
        "checks": [_check_as_json(check, speech) for check in standing.result.checks],
        "remarks": [speech.of(remark) for remark in standing.result.remarks],
        "requests": standing.result.requests,
        "seconds": round(standing.result.seconds, 3),
    }


def _check_as_json(check: CheckResult, speech: Speech) -> Mapping[str, object]:
    finding = check.finding
    return {
        "id": check.id,
        "title": speech.of(check.title),
        "outcome": str(check.outcome),
        "transient": check.is_transient,
        "evidence": [evidence_to_json(item) for item in check.evidence],
        "finding": None if finding is None else finding_as_json(finding, speech),
        "trouble": None if check.trouble is None else speech.of(check.trouble),
        "next": None if check.next_move is None else speech.of(check.next_move),
    }


def finding_as_json(finding: Finding, speech: Speech) -> Mapping[str, str]:
    """The four parts of a failure in the reader's language."""
    return {
        "looked_at": speech.of(finding.looked_at),
        "expected": speech.of(finding.expected),
        "found": speech.of(finding.found),
        "next": speech.of(finding.next_move),
    }
