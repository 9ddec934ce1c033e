"""Commands for working through a lab: step, check, solve, shell."""

from __future__ import annotations

import os
import sys
from pathlib import Path

import click

from lab.commands.options import console_of, lab_option, read_step, read_steps
from lab.commands.remoting import shell_there
from lab.commands.showing import EXIT_CODES, info, point_on, show
from lab.content import draw, step_text
from lab.events import tell_news, tell_verdict
from lab.examining import Examiner, overall
from lab.report.standing_json import as_json
from lab.shell import become, prepare_shell
from lab.text import width
from lab.verdicts import PAGE
from provision.errors import LabError
from provision.message import say


@click.command()
@click.argument("step", default="")
@lab_option
@click.pass_context
def step(context: click.Context, step: str, slug: str | None) -> None:
    """Show the text of a step; without a number, of the first that is not passed."""
    console = console_of(context, slug)
    place = console.place()
    chosen = read_step(place.lab, step, "step") if step else Examiner(place).first_open_step()
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
    steps = read_steps(place.lab, step, "check") if step else (examiner.first_open_step(),)
    if is_told:
        standings = examiner.check(steps, tell_verdict)
    elif is_json:
        standings = examiner.check(steps)
        console.tell_json(as_json(place.lab, standings, info(place), console.speech))
    else:
        standings = examiner.check(steps, lambda s: show(console, place, s, len(steps) > 1))
        click.echo(console.report().foot(place.lab, standings, info(place)))
        point_on(console, place, standings)
    context.exit(EXIT_CODES[overall(standings)])


@click.command()
@lab_option
@click.pass_context
def shell(context: click.Context, slug: str | None) -> None:
    """Open a shell in the workspace, with kubectl, completion and KUBECONFIG set."""
    console = console_of(context, slug)
    place = console.place()
    if not place.target.is_here:
        shell_there(console, place)
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
        become(command, variables)
    except OSError as error:
        raise LabError(
            say("The shell {shell} could not be started: {error}", shell=command[0], error=error),
            next_move=say("Set SHELL to a shell that is there, such as /bin/sh."),
        ) from error
