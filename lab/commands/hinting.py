"""The command for hints: the next level for what failed last."""

from __future__ import annotations

import re
from collections.abc import Mapping

import click

from checks.outcome import StepVerdict
from lab.commands.options import console_of, lab_option, read_step
from lab.commands.showing import EXIT_CODES
from lab.console import Console
from lab.content import draw
from lab.examining import Examiner
from lab.hints import LEVEL_NAMES, Offer, hint_text, offer
from lab.model import Step
from lab.places import Place
from lab.progress import ProgressLog, StepRecord
from lab.report.standing_json import finding_as_json
from lab.text import clock
from provision.errors import LabError
from provision.message import say

SCHEMA = 1


@click.command()
@click.argument("step", default="")
@click.option("--seen", "is_seen", is_flag=True, help="Show the hints again that were shown.")
@click.option("--json", "is_json", is_flag=True, help="Print JSON only.")
@lab_option
@click.pass_context
def hint(context: click.Context, step: str, is_seen: bool, is_json: bool, slug: str | None) -> None:
    """Show the next hint for the first check of a step that failed when it was graded last.

    Without a number, of the step that was checked last. There are four: where to look, the idea,
    the field, the command. What was shown is on record.
    """
    console = console_of(context, slug)
    place = console.place()
    if step:
        chosen = read_step(place.lab, step, "hint")
    else:
        chosen = Examiner(place).step_of_the_last_failure()
    record = _record(place, chosen)
    if record.failure is None:
        verdict = _grade(console, place, chosen, is_json)
        if verdict is not StepVerdict.NOT_YET:
            context.exit(EXIT_CODES[verdict])
        record = _record(place, chosen)
    coming = offer(place.lab, chosen, record, record.failure) if record.failure else None
    if coming is None:
        raise LabError(
            say("There are no hints for what failed in step {step}.", step=chosen.number),
            next_move=say("Read the step again with make step STEP={step}.", step=chosen.number),
        )
    first, last = (1, coming.used) if is_seen else (coming.level, coming.level)
    levels = range(first, last + 1)
    texts = {level: hint_text(place, coming, level, console.speech) for level in levels}
    if not is_seen and not coming.is_again:
        ProgressLog(place.progress_file).record_hint(chosen.number, coming.use)
    if is_json:
        console.tell_json(_as_json(console, record, coming, texts))
    else:
        _show(console, place, record, coming, texts)


def _record(place: Place, step: Step) -> StepRecord:
    return ProgressLog(place.progress_file).record_of(step.number)


def _grade(console: Console, place: Place, step: Step, is_json: bool) -> StepVerdict:
    """Grade a step of which no failure is on record; only a failure is recorded then.

    Tells why when there is nothing to hint at.
    """
    standing = Examiner(place, is_recording=False).check((step,))[0]
    if standing.verdict is StepVerdict.NOT_YET:
        ProgressLog(place.progress_file).record(standing.result, by_answer=False)
        return standing.verdict
    if is_json:
        verdict = str(standing.verdict)
        console.tell_json(
            {"schema": SCHEMA, "lab": place.lab.slug, "step": step.number, "verdict": verdict}
        )
    elif standing.verdict is StepVerdict.PASS:
        console.tell(say("Step {step} passes: there is nothing to hint at.", step=step.number))
        if not standing.record.passed_at:
            console.tell(say("Put it on record: make check STEP={step}", step=step.number))
    else:
        click.echo(console.report().step(place.lab, standing))
    return standing.verdict


def _show(
    console: Console, place: Place, record: StepRecord, coming: Offer, texts: Mapping[int, str]
) -> None:
    click.echo(console.report().title(place.lab, coming.step))
    console.tell(
        say(
            "fail: {title} ({time}: {found})",
            title=coming.failure.title,
            time=clock(record.graded_at),
            found=coming.finding.found,
        ),
        indent=2,
    )
    for level, text in texts.items():
        name = LEVEL_NAMES[level - 1]
        head = say("hint {level} of {of}: {name}", level=level, of=coming.of, name=name)
        click.echo("\n" + console.paint(console.speech.of(head), "good"))
        click.echo(_drawn(console, text))
    click.echo()
    number = coming.step.number
    if max(texts, default=0) < coming.of:
        console.tell(say("Next hint: make hint STEP={step}", step=number))
    else:
        console.tell(say("That was the last. The whole step: make step STEP={step}", step=number))
    console.tell(say("After a change: make check STEP={step}", step=number))


def _drawn(console: Console, text: str) -> str:
    """Prose to the width of the terminal; commands whole, since they are there to be copied."""
    parts = []
    for number, part in enumerate(re.split(r"(?m)^```\w*\n?", text)):
        if number % 2:
            parts.append("".join(f"    {line}\n" for line in part.splitlines()))
        elif part.strip():
            drawn = draw(part, columns=console.columns, is_colourful=console.is_colourful)
            parts.append(drawn.strip("\n") + "\n")
    return "\n".join(parts).rstrip("\n")


def _as_json(
    console: Console, record: StepRecord, coming: Offer, texts: Mapping[int, str]
) -> Mapping[str, object]:
    return {
        "schema": SCHEMA,
        "lab": console.place().lab.slug,
        "step": coming.step.number,
        "verdict": str(StepVerdict.NOT_YET),
        "check": coming.failure.id,
        "title": console.speech.of(coming.failure.title),
        "graded_at": record.graded_at,
        "finding": finding_as_json(coming.finding, console.speech),
        "about": coming.ladder.about,
        "of": coming.of,
        "hints": [
            {"level": level, "name": console.speech.of(LEVEL_NAMES[level - 1]), "text": text}
            for level, text in texts.items()
        ],
    }
