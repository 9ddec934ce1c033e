"""Commands for working through a lab: step, check, solve, shell."""

from __future__ import annotations

import os
import sys
from pathlib import Path

import click

from checks.outcome import StepVerdict
from lab.commands.options import console_of, lab_option, read_step, read_steps, yes_option
from lab.console import Console
from lab.content import draw, step_text
from lab.events import tell_news, tell_verdict
from lab.examining import Examiner, overall
from lab.fields import CatalogError
from lab.hints import Offer, offer
from lab.places import Place
from lab.report.standing_json import as_json
from lab.shell import prepare_shell
from lab.solving import files_in_the_way, play, read_answer
from lab.standing import Standing
from lab.text import width
from lab.verdicts import PAGE
from provision.errors import LabError
from provision.message import say
from provision.target import TargetInfo

EXIT_CODES = {StepVerdict.PASS: 0, StepVerdict.NOT_YET: 1, StepVerdict.CANNOT_TELL: 3}


@click.command()
@click.argument("step", default="")
@lab_option
@click.pass_context
def step(context: click.Context, step: str, slug: str | None) -> None:
    """Show the text of a step; without a number, of the first that is not passed."""
    console = console_of(context, slug)
    place = console.place()
    chosen = read_step(place.lab, step) if step else Examiner(place).first_open_step()
    head = say(
        "Step {number} of {count}  {title}",
        number=chosen.number,
        count=len(place.lab.steps),
        title=console.speech.pick(chosen.title),
    )
    text = console.speech.of(head)
    click.echo(f"{text}\n{'=' * width(text)}")
    markdown = step_text(place, chosen, console.speech.language)
    click.echo(draw(markdown, columns=console.columns, is_colourful=console.is_colourful))


@click.command()
@click.argument("step", default="")
@click.option("--json", "is_json", is_flag=True, help="Print JSON only.")
@click.option("--events", "is_told", is_flag=True, hidden=True)
@lab_option
@click.pass_context
def check(
    context: click.Context, step: str, is_json: bool, is_told: bool, slug: str | None
) -> None:
    """Grade a step, or `all`; without a number, the first that is not passed.

    Exit code: 0 PASS, 1 NOT YET, 2 usage, 3 CANNOT TELL.
    """
    console = console_of(context, slug)
    place = console.place()
    examiner = Examiner(place, by=PAGE, tell_news=tell_news) if is_told else Examiner(place)
    steps = read_steps(place.lab, step) if step else (examiner.first_open_step(),)
    if is_told:
        standings = examiner.check(steps, tell_verdict)
    elif is_json:
        standings = examiner.check(steps)
        console.tell_json(as_json(place.lab, standings, _info(place), console.speech))
    else:
        standings = examiner.check(steps, lambda s: _show(console, place, s, len(steps) > 1))
        click.echo(console.report().foot(place.lab, standings, _info(place)))
        _point_on(console, place, standings)
    context.exit(EXIT_CODES[overall(standings)])


@click.command()
@click.argument("step", default="")
@lab_option
@yes_option
@click.pass_context
def solve(context: click.Context, step: str, slug: str | None, yes: bool) -> None:
    """Play the answers of a step, or of `all`, and grade each right after it."""
    console = console_of(context, slug, yes=yes)
    place = console.place()
    steps = read_steps(place.lab, step) if step else (Examiner(place).first_open_step(),)
    answers = [(s, read_answer(place, s)) for s in steps]
    place.target.info()
    in_the_way = [f for one, answer in answers for f in files_in_the_way(place, one, answer)]
    if in_the_way:
        console.require_agreement(
            say(
                "Replace your {files} by the answers? Copies are kept in {saved}.",
                files=", ".join(file.name for file in in_the_way),
                saved=place.saved,
            )
        )
    played: list[Standing] = []
    for one, answer in answers:
        kept = play(place, one, answer)
        if kept is not None:
            console.tell(say("Your files are kept in {folder}.", folder=kept))
        standings = Examiner(place, by_answer=True).check((one,))
        played += standings
        _show(console, place, standings[0], False)
        if overall(standings) is not StepVerdict.PASS:
            context.exit(EXIT_CODES[overall(standings)])
    click.echo(console.report().foot(place.lab, played, _info(place)))


@click.command()
@lab_option
@click.pass_context
def shell(context: click.Context, slug: str | None) -> None:
    """Open a shell in the workspace, with kubectl, completion and KUBECONFIG set."""
    console = console_of(context, slug)
    place = console.place()
    command, variables = prepare_shell(place, os.environ, Path(sys.executable).parent)
    console.tell(
        say(
            "Your folder is {workspace}; type exit to come back.",
            workspace=place.workspace,
        )
    )
    sys.stdout.flush()
    os.chdir(place.workspace)
    try:
        os.execve(command[0], command, variables)
    except OSError as error:
        raise LabError(
            say("The shell {shell} could not be started: {error}", shell=command[0], error=error),
            next_move=say("Set SHELL to a shell that is there, such as /bin/sh."),
        ) from error


def _show(console: Console, place: Place, standing: Standing, is_one_of_many: bool) -> None:
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


def _info(place: Place) -> TargetInfo | None:
    try:
        return place.target.info()
    except LabError:
        return None


def _point_on(console: Console, place: Place, standings: tuple[Standing, ...]) -> None:
    """After a pass, the step that comes next."""
    if len(standings) != 1 or standings[0].verdict is not StepVerdict.PASS:
        return
    following = standings[0].step.number + 1
    if following <= len(place.lab.steps):
        console.tell(say("Next: make step STEP={number}", number=following))
