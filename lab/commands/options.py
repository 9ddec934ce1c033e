"""Options that many commands share, and the reading of a step's number."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any, TypeVar

import click

from lab.console import Console
from lab.model import Lab, Step
from provision.errors import UsageError
from provision.message import say

Command = TypeVar("Command", bound=Callable[..., Any])


def lab_option(command: Command) -> Command:
    """`--lab SLUG`: the lab meant; without it, the one provisioned last."""
    return click.option(
        "--lab", "slug", metavar="SLUG", help="Which lab; without it, the one provisioned last."
    )(command)


def yes_option(command: Command) -> Command:
    """`--yes`: agree beforehand to what the command would ask."""
    return click.option("--yes", is_flag=True, help="Agree beforehand to what would be asked.")(
        command
    )


def console_of(context: click.Context, slug: str | None = None, *, yes: bool = False) -> Console:
    """The console of this run, with the command's own options put in."""
    console: Console = context.obj
    return replace(console, slug=slug or console.slug, is_agreed=console.is_agreed or yes)


def read_step(lab: Lab, text: str, verb: str) -> Step:
    """A step's number as typed after a verb; UsageError names the numbers there are."""
    try:
        if not (text.isascii() and text.isdigit()):
            raise IndexError(text)
        return lab.step(int(text))
    except IndexError:
        raise UsageError(
            say("There is no step {text}.", text=repr(text)[:40]),
            next_move=say(
                "Steps of {lab} are 1 to {count}: make {verb} STEP=1.",
                verb=verb,
                lab=lab.slug,
                count=len(lab.steps),
            ),
        ) from None


def read_steps(lab: Lab, text: str, verb: str) -> tuple[Step, ...]:
    """`all`, or one step's number."""
    return lab.steps if text.strip().lower() == "all" else (read_step(lab, text, verb),)
