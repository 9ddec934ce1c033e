"""What commands show of verdicts: the steps, and where to go from there."""

from __future__ import annotations

from collections.abc import Sequence

import click

from checks.outcome import StepVerdict
from lab.console import Console
from lab.examining import overall
from lab.fields import CatalogError
from lab.hints import Offer, offer
from lab.places import Place
from lab.progress import ProgressLog, StepRecord
from lab.standing import Standing
from lab.text import pad, width, wrap
from provision.errors import LabError
from provision.message import say
from provision.target import TargetInfo

EXIT_CODES = {StepVerdict.PASS: 0, StepVerdict.NOT_YET: 1, StepVerdict.CANNOT_TELL: 3}


def show(console: Console, place: Place, standing: Standing, is_one_of_many: bool) -> None:
    """One step with its checks, and the hint there is for the first failure."""
    text = console.report().step(place.lab, standing, _coming(place, standing))
    click.echo(text + ("\n" if is_one_of_many else ""))


def _coming(place: Place, standing: Standing) -> Offer | None:
    """The hint there is for the first failure; a file of hints at fault spoils no verdict."""
    failure = standing.result.first_failure
    if standing.verdict is not StepVerdict.NOT_YET or failure is None:
        return None
    try:
        return offer(place.lab, standing.step, standing.record, failure)
    except CatalogError:
        return None


def info(place: Place) -> TargetInfo | None:
    """The target, None when there is none yet."""
    try:
        return place.target.info()
    except LabError:
        return None


def point_on(console: Console, place: Place, standings: Sequence[Standing]) -> None:
    """After a pass, the step that comes next; after the last one, what there is to do then."""
    if overall(standings) is not StepVerdict.PASS:
        return
    records = ProgressLog(place.progress_file).records()
    steps = place.lab.steps
    still_open = [s for s in steps if not records.get(s.number, StepRecord()).passed_at]
    if not still_open:
        _tell_done(console, place, sum(records[s.number].is_solved for s in steps))
    elif len(standings) == 1:
        later = [s for s in still_open if s.number > standings[0].step.number]
        following = (later or still_open)[0].number
        console.tell(say("Next: make step STEP={number}", number=following))


def _tell_done(console: Console, place: Place, solved: int) -> None:
    count = len(place.lab.steps)
    done = say("Done: all {count} steps have passed.", count=count)
    if solved:
        done = say(
            "Done: all {count} steps have passed, {solved} of them by the answers.",
            count=count,
            solved=solved,
        )
    click.echo()
    click.echo(console.paint(console.speech.of(done), "good"))
    rows = (
        ("make report", say("what you did, and what each verdict rests on")),
        ("make history", say("the lab's story, from the first object to the last")),
        ("make reset", say("start anew; a copy of your files is kept")),
        ("make down", say("stop everything; make provision brings it back as it is")),
    )
    room = max(width(console.speech.of_command(command)) for command, _ in rows)
    for command, what in rows:
        text = pad(console.speech.of_command(command), room)
        first, *rest = wrap(console.speech.of(what), console.columns - room - 4)
        click.echo(f"  {text}  {first}")
        for line in rest:
            click.echo(" " * (room + 4) + line)
