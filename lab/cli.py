"""The `lab` command: arguments to calls, exceptions to exit codes. No logic lives here."""

from __future__ import annotations

import contextlib
import gettext
import os
import sys
from collections.abc import Mapping, Sequence

import click

from lab.commands.caching import bundle, cache
from lab.commands.casing import grade_case
from lab.commands.doctoring import doctor
from lab.commands.explaining import why
from lab.commands.hinting import hint
from lab.commands.learning import check, shell, solve, step
from lab.commands.looking import logs, status
from lab.commands.placing import destroy, down, provision, reset
from lab.commands.reporting import report
from lab.commands.telling import history
from lab.console import Console, open_console
from lab.text import DOMAIN, LOCALE_DIR, Speech, choose_language
from provision.errors import LabError, UsageError
from provision.message import say

INTERRUPTED = 130


def command_line(speech: Speech) -> click.Group:
    """All commands, their help in the reader's language."""
    group = click.Group(
        name="lab",
        help=speech.of(say("Hands-on labs about sharing GPUs with Kueue, which grade themselves.")),
    )
    for command in (
        *(provision, status, logs, down, reset, destroy),
        *(step, check, why, hint, solve, shell, report, doctor),
        *(history, cache, bundle, grade_case),
    ):
        command.help = speech.of_template(_folded(command.help or ""))
        for parameter in command.params:
            if isinstance(parameter, click.Option) and parameter.help:
                parameter.help = speech.of_template(parameter.help)
        group.add_command(command)
    return group


def run(arguments: Sequence[str], environment: Mapping[str, str]) -> int:
    """Run one command; returns its exit code: 0, 1 not yet, 2 usage, 3 lab or target."""
    speech = Speech(choose_language(environment))
    console = open_console(environment, speech)
    try:
        code = command_line(speech).main(
            list(arguments), prog_name="lab", obj=console, standalone_mode=False
        )
    except click.exceptions.Exit as error:
        return error.exit_code
    except click.UsageError as error:
        console.tell_error(
            UsageError(
                say("{problem}", problem=error.format_message()),
                next_move=say("See lab --help, or make help."),
            )
        )
        return UsageError.exit_code
    except LabError as error:
        console.tell_error(error)
        return error.exit_code
    except (KeyboardInterrupt, click.Abort):
        console.tell_error(LabError(say("Interrupted; the same command goes on from here.")))
        return INTERRUPTED
    except OSError as error:
        return _give_up(console, error)
    return code if isinstance(code, int) else 0


def _give_up(console: Console, error: OSError) -> int:
    """The system refused something that no command foresaw; a closed pipe wants no words."""
    if not isinstance(error, BrokenPipeError):
        with contextlib.suppress(OSError):
            console.tell_error(
                LabError(
                    say("The system refused: {error}", error=error),
                    next_move=say("Mend it, then run the same command again."),
                )
            )
    return LabError.exit_code


def main() -> None:
    """Entry point of the `lab` command."""
    _open_streams()
    _speak_for_click()
    code = run(sys.argv[1:], os.environ)
    try:
        sys.stdout.flush()
    except OSError:
        code = LabError.exit_code
        # What could not be written must not be tried again, with a traceback, at exit.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
    sys.exit(code)


def _open_streams() -> None:
    """Standard streams that can be written to: closed ones go nowhere, odd letters become ?."""
    for name in ("stdout", "stderr"):
        if getattr(sys, name) is None:
            setattr(sys, name, open(os.devnull, "w", encoding="utf-8"))  # noqa: SIM115, PTH123
        stream = getattr(sys, name)
        if hasattr(stream, "reconfigure"):
            stream.reconfigure(errors="replace")


def _speak_for_click() -> None:
    """Click takes its own words from the default catalog: make ours that one."""
    os.environ.setdefault("LANGUAGE", choose_language(os.environ))
    gettext.bindtextdomain(DOMAIN, str(LOCALE_DIR))
    gettext.textdomain(DOMAIN)


def _folded(text: str) -> str:
    """A docstring with each paragraph on one line, as the catalog holds it."""
    return "\n\n".join(" ".join(part.split()) for part in text.split("\n\n"))
