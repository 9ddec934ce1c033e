"""The command that plays the answers."""

from __future__ import annotations

import click

from checks.outcome import StepVerdict
from lab.commands.options import console_of, lab_option, read_steps, yes_option
from lab.commands.showing import EXIT_CODES, info, point_on, show
from lab.console import Console
from lab.examining import Examiner, overall
from lab.players import Answers, Player, player_of
from lab.replacing import require_groundwork
from lab.solving import read_answer
from lab.standing import Standing
from provision.message import say


@click.command()
@click.argument("step", default="")
@lab_option
@yes_option
@click.pass_context
def solve(context: click.Context, step: str, slug: str | None, yes: bool) -> None:
    """Play the answers of a step, or of `all`, and grade each right after it."""
    console = console_of(context, slug, yes=yes)
    place = console.place()
    steps = read_steps(place.lab, step, "solve") if step else (Examiner(place).first_open_step(),)
    answers = [(s, read_answer(place, s)) for s in steps]
    place.target.info()
    player = player_of(place, console.speech.language)
    if len(steps) == 1:
        require_groundwork(place, steps[0])
    _require_agreement(console, player, answers)
    played: list[Standing] = []
    for one, answer in answers:
        kept = player.play(one, answer)
        if kept is not None:
            console.tell(say("Your files are kept in {folder}.", folder=kept))
        standings = Examiner(place, by_answer=True).check((one,))
        played += standings
        show(console, place, standings[0], False)
        if overall(standings) is not StepVerdict.PASS:
            context.exit(EXIT_CODES[overall(standings)])
    click.echo(console.report().foot(place.lab, played, info(place)))
    point_on(console, place, played)


def _require_agreement(console: Console, player: Player, answers: Answers) -> None:
    """Ask before files of the learner, or objects in the cluster, give way to the answers."""
    found = player.ahead(answers)
    files, objects = ", ".join(found.files), ", ".join(found.objects)
    if files and objects:
        question = say(
            "Replace your {files}, and in the cluster {objects}, by the answers? Copies of the "
            "files are kept in {saved}.",
            files=files,
            objects=objects,
            saved=found.saved,
        )
    elif files:
        question = say(
            "Replace your {files} by the answers? Copies are kept in {saved}.",
            files=files,
            saved=found.saved,
        )
    elif objects:
        question = say("Replace in the cluster {objects} by the answers?", objects=objects)
    else:
        return
    console.require_agreement(question)
