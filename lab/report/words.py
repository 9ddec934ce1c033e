"""The words that text and page share, and facts of a report as pairs of label and value."""

from __future__ import annotations

from collections.abc import Iterator

from checks.outcome import StepVerdict
from lab.report.gathering import Report
from lab.standing import Standing
from lab.text import DATED, Speech, clock
from provision.message import Message, say


def summary(report: Report) -> Message:
    """How far the lab is, and how many of its steps could not be judged now."""
    so_far = say(
        "{passed} of {count} steps passed, {solved} of them by the answers; true now: {now}; "
        "attempts: {attempts}, hints: {hints}",
        passed=report.passed,
        now=report.true_now,
        count=len(report.standings),
        solved=report.solved,
        attempts=report.attempts,
        hints=report.hints,
    )
    if not report.untold:
        return so_far
    return say(
        "{so_far}. Cannot be judged now: {count}; for these the record counts",
        so_far=so_far,
        count=report.untold,
    )


def made(report: Report) -> Message:
    """Of what and when."""
    zone = clock(report.made_at, "%z")
    return say(
        "Report of {lab}, {time} {zone}",
        lab=report.lab.slug,
        time=clock(report.made_at, DATED),
        zone=f"{zone[:3]}:{zone[3:]}",
    )


def step_facts(standing: Standing) -> Iterator[tuple[Message, str | Message]]:
    """What is on record of a step, and whether it is true now."""
    record = standing.record
    yield say("attempts"), str(record.attempts)
    yield say("hints"), _hints(standing)
    if record.passed_at:
        yield say("passed at"), clock(record.passed_at, DATED)
    elif standing.verdict is StepVerdict.PASS:
        number = standing.step.number
        yield say("passed at"), say("not on record yet: make check STEP={step}", step=number)
    yield say("true now"), true_now(standing)


def true_now(standing: Standing) -> Message:
    """Whether what a step asks for is so at this moment, and which step ended it."""
    if standing.is_true_now is None:
        return say("not known")
    if standing.is_true_now:
        return say("yes")
    if standing.ended_by:
        return say("no, step {later} ended it", later=standing.ended_by)
    return say("no")


def origins(report: Report, speech: Speech) -> Iterator[tuple[str, str]]:
    """Where the report is from: place, versions, and the hashes of lab and checks."""
    info = report.info
    target = "-" if info is None else info.name
    yield speech.of(say("place")), f"{target}, {report.place_id or '-'}"
    if info is not None:
        versions = ", ".join(f"{name} {version}" for name, version in info.versions.items())
        yield speech.of(say("versions")), versions
    if info is not None and info.note is not None:
        yield speech.of(say("note")), speech.of(info.note)
    yield speech.of(say("lab")), f"{report.lab.slug}, sha256 {report.lab_hash}"
    yield speech.of(say("checks")), f"sha256 {report.checks_hash}"


def _hints(standing: Standing) -> str:
    """How many, and for which checks up to which level: `3 (queue_file 2, ground 1)`."""
    used: dict[str, int] = {}
    for use in standing.record.hints:
        used[use.check] = used.get(use.check, 0) + 1
    if not used:
        return "0"
    return f"{sum(used.values())} ({', '.join(f'{check} {n}' for check, n in used.items())})"
