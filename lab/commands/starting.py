"""Commands before a step: what it finds laid out, and which labs there are."""

from __future__ import annotations

from dataclasses import dataclass

import click

from lab.catalog import lab_slugs, load_lab
from lab.commands.options import console_of, lab_option, read_step
from lab.console import Console
from lab.examining import Examiner
from lab.model import Lab
from lab.places import Place
from lab.players import player_of
from lab.progress import ProgressLog, StepRecord
from lab.scenes import has_scene
from lab.text import wrap
from provision.errors import LabError
from provision.message import Message, say

SCHEMA = 1


@click.command()
@click.argument("step", default="")
@lab_option
@click.pass_context
def start(context: click.Context, step: str, slug: str | None) -> None:
    """Lay out what a step finds in the cluster; without a number, of the first not passed.

    Doing it again changes nothing; a reset takes it away. Exit code: 0 laid, 1 somebody else's
    object has such a name, 2 usage, 3 the place does not answer.
    """
    console = console_of(context, slug)
    place = console.place()
    chosen = read_step(place.lab, step, "start") if step else Examiner(place).first_open_step()
    if not has_scene(place.lab, chosen):
        console.tell(
            say("Step {step} finds nothing laid out: nothing had to be done.", step=chosen.number)
        )
        return
    place.target.info()
    laid = player_of(place, console.speech.language).lay(chosen)
    console.tell(say("Laid out for step {step}:", step=chosen.number))
    for one in laid:
        console.tell(one.told, indent=2)
    console.tell(say("Next: make step STEP={step}", step=chosen.number))


@click.command()
@click.option("--json", "is_json", is_flag=True, help="Print JSON only.")
@click.pass_context
def labs(context: click.Context, is_json: bool) -> None:
    """List the labs there are, how far you are in each, and which one commands mean."""
    console = console_of(context)
    chosen = console.places().slug(console.slug)
    rows = tuple(_look(console, slug) for slug in lab_slugs())
    if is_json:
        found = [_as_json(console, row, is_chosen=row.lab.slug == chosen) for row in rows]
        console.tell_json({"schema": SCHEMA, "labs": found})
        return
    is_named = bool(console.slug or console.environment.get("LAB"))
    marked = {row.lab.slug for row in rows if row.is_made or is_named} & {chosen}
    for row in rows:
        _tell(console, row, is_chosen=row.lab.slug in marked)
    if marked:
        meant = say("Commands mean the lab marked with *: the one provisioned last.")
    else:
        meant = say("Commands mean {lab}, as no lab was provisioned last.", lab=chosen)
    way = say("For another one: make provision LAB=…, or LAB=… with any command.")
    console.tell(say("{meant} {way}", meant=meant, way=way))


@dataclass(frozen=True, slots=True)
class _Row:
    """One lab: how far the learner is, and what its place is up to."""

    lab: Lab
    passed: int
    state: Message
    is_made: bool = True


def _look(console: Console, slug: str) -> _Row:
    """A place that cannot be read hides no other lab."""
    lab = load_lab(slug)
    try:
        place = console.places().open(slug)
        records = ProgressLog(place.progress_file).records()
        passed = sum(bool(records.get(s.number, StepRecord()).passed_at) for s in lab.steps)
        state = _state(place)
        return _Row(lab, passed, state or say("not provisioned"), is_made=state is not None)
    except LabError as error:
        return _Row(lab, 0, error.what)


def _state(place: Place) -> Message | None:
    """What a place is up to, None for one that was never made."""
    if not place.home.is_dir():
        return None
    state = place.target.status()
    if not state.is_provisioned:
        return None
    return say("ready") if state.is_ready else say("down")


def _tell(console: Console, row: _Row, *, is_chosen: bool) -> None:
    mark = "*" if is_chosen else " "
    head = f"{mark} {row.lab.slug}  {console.speech.pick(row.lab.title)}"
    click.echo("\n".join(wrap(head, console.columns)))
    console.tell(say("{text}", text=console.speech.pick(row.lab.summary)), indent=4)
    facts = say(
        "{passed} of {count} steps passed, about {minutes} minutes in all; {state}",
        passed=row.passed,
        count=len(row.lab.steps),
        minutes=sum(step.minutes for step in row.lab.steps),
        state=row.state,
    )
    console.tell(facts, indent=4)


def _as_json(console: Console, row: _Row, *, is_chosen: bool) -> dict[str, object]:
    return {
        "lab": row.lab.slug,
        "title": console.speech.pick(row.lab.title),
        "steps": len(row.lab.steps),
        "passed": row.passed,
        "state": console.speech.of(row.state),
        "chosen": is_chosen,
    }
