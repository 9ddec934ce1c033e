"""The command that plays a case: what somebody handed in, on a place of the kit's own."""

from __future__ import annotations

from pathlib import Path

import click

from lab.casework.cases import Case, CaseError, read_case
from lab.casework.kit import kit_place, open_player
from lab.casework.verdict import as_json
from lab.commands.options import console_of, lab_option
from lab.console import Console
from lab.model import Lab
from lab.places import FIRST_LAB
from provision.errors import UsageError
from provision.message import say


@click.command("grade-case")
@click.argument("folder", default="")
@click.option("--json", "is_json", is_flag=True, help="Print JSON only.")
@click.option("--down", "is_down", is_flag=True, help="Stop the place of the cases afterwards.")
@lab_option
@click.pass_context
def grade_case(
    context: click.Context, folder: str, is_json: bool, is_down: bool, slug: str | None
) -> None:
    """Play a case of answers in a place of its own and grade it; FOLDER holds case.yaml.

    Exit code: 0 graded, whatever the verdict, 2 the folder is no case, 3 the place fails.
    """
    console = console_of(context, slug or FIRST_LAB)
    if folder:
        _grade(console, Path(folder), is_json=is_json)
    elif not is_down:
        raise UsageError(
            say("Which case? No folder was given."),
            next_move=say("Name one: lab grade-case FOLDER; docs/grade-case.md tells its form."),
        )
    if is_down:
        root = console.places().root
        kit_place(console.environment, root, _slug(console)).target.down(lambda _: None)


def _slug(console: Console) -> str:
    return console.slug or FIRST_LAB


def _grade(console: Console, folder: Path, *, is_json: bool) -> None:
    root, slug = console.places().root, _slug(console)
    case = _read(folder, kit_place(console.environment, root, slug).lab)
    with open_player(console.environment, root, slug) as player:
        played = player.play(case)
    if is_json:
        console.tell_json(as_json(played.result, console.speech))
    else:
        click.echo(str(played))


def _read(folder: Path, lab: Lab) -> Case:
    try:
        return read_case(folder.absolute(), lab.slug, len(lab.steps))
    except CaseError as error:
        raise UsageError(
            say("This is no case: {problem}.", problem=str(error)),
            next_move=say("docs/grade-case.md tells the form of a case."),
        ) from error
