"""A report as one HTML page: no scripts, nothing from outside, fit for print."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path

from checks.outcome import CheckResult, Evidence, Finding, Outcome, StepVerdict
from lab.report.gathering import Report
from lab.report.terminal import FINDING_PARTS, OUTCOME_WORDS
from lab.report.words import made, origins, step_facts, summary, true_now
from lab.standing import Standing
from lab.text import DATED, Speech, clock
from provision.message import Message, say

TEMPLATE = Path(__file__).parent / "report.html"
_CLASSES = {
    StepVerdict.PASS: "good",
    StepVerdict.NOT_YET: "bad",
    StepVerdict.CANNOT_TELL: "odd",
    Outcome.PASSED: "good",
    Outcome.FAILED: "bad",
    Outcome.SKIPPED: "quiet",
    Outcome.ERROR: "odd",
}
_LABELS = {
    "step": say("step"),
    "title": say("title"),
    "verdict": say("verdict"),
    "attempts": say("attempts"),
    "hints": say("hints"),
    "passed_at": say("passed at"),
    "true_now": say("true now"),
    "object": say("object"),
    "fact": say("fact"),
    "since": say("since"),
    "origins": say("Where this report is from"),
    "solved": say("Solved by the answers."),
}


def as_page(report: Report, speech: Speech) -> str:
    """The page; everything put into it is escaped."""
    import jinja2  # only the page pays for it

    engine = jinja2.Environment(
        autoescape=True, undefined=jinja2.StrictUndefined, trim_blocks=True, lstrip_blocks=True
    )
    return engine.from_string(TEMPLATE.read_text(encoding="utf-8")).render(
        language=speech.language,
        title=speech.pick(report.lab.title),
        made=speech.of(made(report)),
        summary=speech.of(summary(report)),
        passed=report.passed,
        count=len(report.standings),
        labels={name: speech.of(label) for name, label in _LABELS.items()},
        steps=[_step(standing, speech) for standing in report.standings],
        origins=list(origins(report, speech)),
    )


def _step(standing: Standing, speech: Speech) -> Mapping[str, object]:
    record = standing.record
    checks = () if standing.is_credit_only else standing.result.checks
    return {
        "number": standing.step.number,
        "title": speech.pick(standing.step.title),
        "verdict": str(standing.verdict),
        "kind": _CLASSES[standing.verdict],
        "attempts": record.attempts,
        "hints": len(record.hints),
        "passed_at": clock(record.passed_at, DATED) if record.passed_at else "-",
        "true_now": speech.of(true_now(standing)),
        "solved": record.is_solved and standing.verdict is StepVerdict.PASS,
        "cause": "" if standing.cause is None else speech.of(standing.cause),
        "facts": [
            (speech.of(label), speech.of(value) if isinstance(value, Message) else value)
            for label, value in step_facts(standing)
        ],
        "checks": [_check(check, speech) for check in checks],
        "remarks": [speech.of(remark) for remark in standing.result.remarks],
        "evidence": _evidence(standing.evidence),
        "evidence_of": speech.of(_evidence_of(standing)),
    }


def _check(check: CheckResult, speech: Speech) -> Mapping[str, object]:
    told = [m for m in (check.trouble, check.next_move) if m is not None]
    is_told = check.outcome is not Outcome.PASSED and check.finding is None
    return {
        "word": speech.of(OUTCOME_WORDS[check.outcome]),
        "kind": _CLASSES[check.outcome],
        "title": speech.of(check.title),
        "parts": [] if check.finding is None else _parts(check.finding, speech),
        "told": [speech.of(message) for message in told] if is_told else [],
    }


def _parts(finding: Finding, speech: Speech) -> list[tuple[str, str]]:
    return [(speech.of(label), speech.of(getattr(finding, part))) for part, label in FINDING_PARTS]


def _evidence_of(standing: Standing) -> Message:
    if not standing.is_credit_only:
        return say("evidence")
    record = standing.record
    passed = clock(record.evidence_at or record.passed_at, DATED)
    return say("evidence of the pass at {time}", time=passed)


def _evidence(evidence: Sequence[Evidence]) -> list[Mapping[str, str]]:
    return [
        {
            "object": f"{item.kind} {item.name.rpartition('/')[2]}",
            "where": item.namespace,
            "uid": item.uid,
            "fact": item.fact,
            "time": clock(item.time, DATED),
        }
        for item in evidence
    ]
