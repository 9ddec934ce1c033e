"""The `lab` command: arguments to calls, exceptions to exit codes. No logic lives here."""

from __future__ import annotations

import contextlib
import copy
import gettext
import importlib
import os
import sys
import traceback
from collections.abc import Mapping, Sequence
from pathlib import Path

import click

from lab.console import Console, Declined, open_console
from lab.helping import HelpContext
from lab.text import DOMAIN, LOCALE_DIR, Speech, choose_language
from provision.errors import LabError, UsageError
from provision.message import say

INTERRUPTED = 130


# Which module holds a command; it is loaded when the command is called, or for the whole help.
_COMMANDS = {
    "placing": ("provision", "down", "reset", "destroy"),
    "looking": ("status", "logs"),
    "opening": ("open",),
    "hubbing": ("hub-demo",),
    "learning": ("step", "check", "shell"),
    "starting": ("start", "labs"),
    "solving": ("solve",),
    "explaining": ("why",),
    "hinting": ("hint",),
    "telling": ("history",),
    "reporting": ("report",),
    "doctoring": ("doctor",),
    "caching": ("cache", "bundle"),
    "casing": ("grade-case",),
    "inside": ("here",),
}
# Not for people: services and the outside call them.
_UNLISTED = ("inside",)


class CommandLine(click.Group):
    """All commands, each loaded when it is wanted, their help in the reader's language."""

    context_class = HelpContext

    def __init__(self, speech: Speech) -> None:
        what = say("Hands-on labs about sharing GPUs with Kueue, which grade themselves.")
        super().__init__(name="lab", help=speech.of(what))
        self._speech = speech
        self._modules = {name: module for module, names in _COMMANDS.items() for name in names}

    def list_commands(self, ctx: click.Context) -> list[str]:
        """The names of all commands, as the help lists them."""
        return [name for name, module in self._modules.items() if module not in _UNLISTED]

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        """A command by its name, None when there is none."""
        if cmd_name not in self._modules:
            return None
        module = importlib.import_module(f"lab.commands.{self._modules[cmd_name]}")
        command: click.Command = copy.copy(getattr(module, cmd_name.replace("-", "_")))
        command.params = [copy.copy(parameter) for parameter in command.params]
        command.context_class = HelpContext
        command.help = self._speech.of_template(_folded(command.help or ""))
        for parameter in command.params:
            if isinstance(parameter, click.Option) and parameter.help:
                parameter.help = self._speech.of_template(parameter.help)
        return command


def run(arguments: Sequence[str], environment: Mapping[str, str]) -> int:
    """Run one command; returns its exit code: 0, 1 not yet, 2 usage, 3 lab or target."""
    in_shell = bool(environment.get("LAB_SHELL"))
    speech = Speech(choose_language(environment), in_shell=in_shell)
    console = open_console(environment, speech)
    try:
        code = CommandLine(speech).main(
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
    except Declined as error:
        console.tell(error.what)
        return INTERRUPTED if error.is_interrupted else error.exit_code
    except LabError as error:
        console.tell_error(error)
        return error.exit_code
    except (KeyboardInterrupt, click.Abort):
        console.tell_error(LabError(say("Interrupted; the same command goes on from here.")))
        return INTERRUPTED
    except SystemExit:  # click's answer to a closed pipe, with 1, which would call it NOT YET
        return LabError.exit_code
    except OSError as error:
        return _give_up(console, error)
    except Exception as error:  # exit code 1 would call it NOT YET
        return _confess(console, error)
    return code if isinstance(code, int) else 0


def _confess(console: Console, error: Exception) -> int:
    """A fault of this program, in one line; where memory is short even that may not be possible."""
    frames = traceback.extract_tb(error.__traceback__)
    where = f"{Path(frames[-1].filename).name}:{frames[-1].lineno}" if frames else "?"
    with contextlib.suppress(Exception):
        console.tell_error(
            LabError(
                say(
                    "This program failed: {kind} at {where}: {text}",
                    kind=type(error).__name__,
                    where=where,
                    text=" ".join(str(error).split())[:200] or "-",
                ),
                next_move=say("It is no fault of your work. Report it with what you did."),
            )
        )
    return LabError.exit_code


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
