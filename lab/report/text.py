"""A report as text for a terminal or a file."""

from __future__ import annotations

from collections.abc import Iterator

from lab.report.gathering import Report
from lab.report.terminal import TextReport, evidence_line
from lab.report.words import made, origins, step_facts, summary
from lab.standing import Standing
from lab.text import Speech, pad, width, wrap
from provision.message import Message, say


def as_text(report: Report, speech: Speech, text: TextReport, *, columns: int) -> str:
    """The whole report: a line for each step, then each step with its checks and evidence."""
    lines = [
        *wrap(speech.pick(report.lab.title), columns),
        *wrap(speech.of(made(report)), columns),
        *wrap(speech.of(summary(report)), columns),
        "",
    ]
    for standing in report.standings:
        lines += [text.step(report.lab, standing), *_record(standing, speech, columns), ""]
    lines += _rows(list(origins(report, speech)), columns)
    return "\n".join(lines) + "\n"


def _record(standing: Standing, speech: Speech, columns: int) -> Iterator[str]:
    """What is on record, and the evidence where the checks above do not name it in full."""
    facts = [
        f"{speech.of(label)}: {speech.of(value) if isinstance(value, Message) else value}"
        for label, value in step_facts(standing)
    ]
    yield from (f"  {line}" for line in wrap("; ".join(facts), columns - 2))
    if standing.evidence and not standing.is_credit_only:
        yield "  " + speech.of(say("evidence")) + ":"
        for item in standing.evidence:
            yield from (f"    {line}" for line in wrap(evidence_line(item), columns - 4))


def _rows(rows: list[tuple[str, str]], columns: int) -> list[str]:
    room = max(width(label) for label, _ in rows) + 2
    lines = []
    for label, value in rows:
        first, *rest = wrap(value, columns - room)
        lines += [pad(label, room) + first, *(" " * room + line for line in rest)]
    return lines
