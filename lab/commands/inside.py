"""What the machine's own lab is asked for: by its services, by the roles, and over SSH.

Hidden commands. Words come as JSON on standard input and go as one JSON object on standard output;
an error is one, too, so that whoever asked can tell it in the reader's language.
"""

from __future__ import annotations

import contextlib
import json
import os
import sys
from collections.abc import Iterator, Mapping
from dataclasses import asdict
from typing import TYPE_CHECKING, Any

import click

from checks.outcome import message_to_json
from lab.commands.options import console_of, lab_option
from lab.console import Console
from lab.places import PAGE, Place
from lab.players import PlayerHere
from lab.resetting import reset_place
from lab.solving import answer_from_json
from lab.starters import lay_starters
from lab.web.launching import ensure_launch, open_page
from lab.workspace import claim, entries
from provision.errors import LabError, UsageError
from provision.message import say
from provision.target import silent

if TYPE_CHECKING:
    from provision.vm.inside.target import InsideTarget

LARGEST = 4 << 20  # bytes on standard input


@click.group(hidden=True)
def here() -> None:
    """For services and the outside: what people use has commands of its own."""


@here.command()
@lab_option
@click.pass_context
def settle(context: click.Context, slug: str | None) -> None:
    """Lay out place, workspace and page, so that services can start; tells whether that was new."""
    from provision.vm.inside.target import InsideTarget

    console = console_of(context, slug)
    place = console.place()
    if not isinstance(place.target, InsideTarget):
        raise _not_inside()
    was_empty = not place.workspace.exists() or not entries(place)
    is_changed = place.target.settle()
    if was_empty:
        claim(place)
    before = _starter(place)
    lay_starters(place, console.environment)
    console.places().remember(place.lab.slug)
    console.tell_json({"changed": is_changed or _starter(place) != before})


@here.command()
@lab_option
@click.pass_context
def furnish(context: click.Context, slug: str | None) -> None:
    """Lay out what lies in the cluster from the start; tells whether something was not so."""
    console = console_of(context, slug)
    console.tell_json({"changed": _inside(console).furnish()})


@here.command()
@lab_option
@click.pass_context
def platform(context: click.Context, slug: str | None) -> None:
    """Become the platform's controller, as its service does."""
    from provision.vm.inside.furnishing import controller_command

    console = console_of(context, slug)
    _inside(console)
    os.execv(sys.executable, [sys.executable, *controller_command(console.place().home)])


@here.command()
@click.argument("name")
@lab_option
@click.pass_context
def run(context: click.Context, name: str, slug: str | None) -> None:
    """Become a companion, as its service does."""
    from provision.vm.inside.target import InsideTarget

    console = console_of(context, slug)
    place = console.place()
    if not isinstance(place.target, InsideTarget):
        raise _not_inside()
    if name == PAGE:
        ensure_launch(place, console.environment, console.speech.language)
    module, arguments = place.target.arguments(name)
    os.execv(sys.executable, [sys.executable, "-m", module, *arguments])


@here.command()
@lab_option
@click.pass_context
def launch(context: click.Context, slug: str | None) -> None:
    """Open the page; its token and port, and the language it speaks by itself."""
    console = console_of(context, slug)
    with _telling(console):
        place = console.place()
        opened = open_page(place, console.environment, console.speech.language, None, silent)
        found = opened.launch
        answer = {"token": found.token, "port": opened.port, "language": found.language}
        console.tell_json(answer)


@here.command()
@lab_option
@click.pass_context
def ahead(context: click.Context, slug: str | None) -> None:
    """What answers would replace: files by name, objects as people call them."""
    console = console_of(context, slug)
    with _telling(console):
        place, asked = console.place(), _asked()
        answers = [(place.lab.step(one["step"]), answer_from_json(one)) for one in asked["answers"]]
        console.tell_json(asdict(PlayerHere(place).ahead(answers)))


@here.command("play")
@lab_option
@click.pass_context
def play_answer(context: click.Context, slug: str | None) -> None:
    """Play the answer of one step; where the learner's files are kept."""
    console = console_of(context, slug)
    with _telling(console):
        place, asked = console.place(), _asked()
        answer = answer_from_json(asked)
        kept = PlayerHere(place).play(place.lab.step(asked["step"]), answer)
        console.tell_json({"kept": kept})


@here.command()
@lab_option
@click.pass_context
def lay(context: click.Context, slug: str | None) -> None:
    """Lay out what one step finds; a line for each object."""
    console = console_of(context, slug)
    with _telling(console):
        place, asked = console.place(), _asked()
        laid = PlayerHere(place).lay(place.lab.step(asked["step"]))
        console.tell_json({"laid": [[one.object, one.is_new] for one in laid]})


@here.command("reset")
@lab_option
@click.pass_context
def reset_here(context: click.Context, slug: str | None) -> None:
    """Bring cluster, workspace and progress back to the start; where the files are kept."""
    console = console_of(context, slug)
    with _telling(console):
        done = reset_place(console.place(), console.environment, silent)
        console.tell_json({"kept": None if done.kept is None else str(done.kept)})
    done.end_shells()


def _inside(console: Console) -> InsideTarget:
    from provision.vm.inside.target import InsideTarget

    target = console.place().target
    if not isinstance(target, InsideTarget):
        raise _not_inside()
    return target


def _asked() -> Mapping[str, Any]:
    """The words on standard input."""
    try:
        found = json.loads(sys.stdin.buffer.read(LARGEST))
    except ValueError as error:
        raise UsageError(say("What was asked is no JSON: {error}", error=error)) from error
    if not isinstance(found, dict):
        raise UsageError(say("What was asked is no JSON: {error}", error=type(found).__name__))
    return found


@contextlib.contextmanager
def _telling(console: Console) -> Iterator[None]:
    """An error becomes the answer; the exit code is the error's."""
    try:
        yield
    except LabError as error:
        following = None if error.next_move is None else message_to_json(error.next_move)
        console.tell_json({"error": {"what": message_to_json(error.what), "next": following}})
        raise click.exceptions.Exit(error.exit_code) from error
    except (KeyError, TypeError, ValueError, IndexError) as error:
        what = say("What was asked cannot be understood: {error}", error=repr(error)[:100])
        console.tell_json({"error": {"what": message_to_json(what), "next": None}})
        raise click.exceptions.Exit(UsageError.exit_code) from error


def _starter(place: Place) -> bytes:
    try:
        return (place.workspace / "Makefile").read_bytes()
    except OSError:
        return b""


def _not_inside() -> UsageError:
    return UsageError(
        say("This is for a machine of the vm target."),
        next_move=say("Provision one: make provision TARGET=vm."),
    )
