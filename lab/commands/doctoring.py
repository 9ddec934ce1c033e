"""The command that examines machine, place and grader."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import datetime

import click

from lab.commands.options import console_of, lab_option
from lab.console import Console
from lab.doctor.borrowing import borrow_kit
from lab.doctor.round import examine, is_healthy
from lab.places import Place
from lab.text import width, wrap
from provision.health import Diagnosis, Health
from provision.message import say

SCHEMA = 1
_WORDS = {
    Health.GOOD: (say("good"), "good"),
    Health.NOTE: (say("note"), "quiet"),
    Health.BAD: (say("bad"), "bad"),
    Health.SKIPPED: (say("skip"), "quiet"),
}


@click.command()
@click.option("--json", "is_json", is_flag=True, help="Print JSON only.")
@lab_option
@click.pass_context
def doctor(context: click.Context, is_json: bool, slug: str | None) -> None:
    """Examine this machine, the place and the grader; nothing is changed.

    Exit code: 0 all is well, 3 something is bad.
    """
    console = console_of(context, slug)
    place = console.place()
    findings = examine(
        place, borrow_kit(console.environment, console.places().root, place.lab.slug)
    )
    if is_json:
        console.tell_json(_as_json(console, place, findings))
    else:
        _show(console, findings)
    context.exit(0 if is_healthy(findings) else 3)


def _show(console: Console, findings: tuple[Diagnosis, ...]) -> None:
    words = {health: console.speech.of(word) for health, (word, _) in _WORDS.items()}
    room = max(width(word) for word in words.values()) + 2
    for finding in findings:
        word, role = words[finding.health], _WORDS[finding.health][1]
        mark = console.paint(word, role) + " " * (room - width(word))
        first, *rest = wrap(console.speech.of(finding.what), console.columns - room)
        click.echo(mark + first)
        for line in rest:
            click.echo(" " * room + line)
        if finding.next_move is not None:
            label = console.speech.of(say("next")) + "  "
            indent = room + width(label)
            lines = wrap(console.speech.of(finding.next_move), console.columns - indent)
            click.echo(" " * room + label + lines[0])
            for line in lines[1:]:
                click.echo(" " * indent + line)
    bad = sum(finding.health is Health.BAD for finding in findings)
    click.echo()
    if bad:
        console.tell(say("Bad: {bad} of {count} findings.", bad=bad, count=len(findings)))
    else:
        console.tell(say("All is well: {count} findings, none bad.", count=len(findings)))


def _as_json(
    console: Console, place: Place, findings: tuple[Diagnosis, ...]
) -> Mapping[str, object]:
    return {
        "schema": SCHEMA,
        "lab": place.lab.slug,
        "language": console.speech.language,
        "made_at": datetime.now().astimezone().isoformat(timespec="seconds"),
        "healthy": is_healthy(findings),
        "findings": [
            {
                "id": finding.name,
                "state": str(finding.health),
                "what": console.speech.of(finding.what),
                "next": finding.next_move and console.speech.of(finding.next_move),
                "seconds": round(finding.seconds, 3),
            }
            for finding in findings
        ],
    }
