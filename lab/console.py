"""What a command needs of the outside: language, terminal, environment, and how to ask."""

from __future__ import annotations

import json
import os
import shutil
import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

import click

from lab.places import Place, Places
from lab.report.terminal import TextReport
from lab.text import Speech, pad, width, wrap
from provision.errors import LabError, UsageError
from provision.message import Message, say
from provision.target import Progress

_COLOURS = {"good": "green", "bad": "yellow", "odd": "magenta", "quiet": "bright_black"}


class Declined(UsageError):
    """A question was not answered with yes. It is no error of anybody; the exit code says it."""

    def __init__(self, *, is_interrupted: bool) -> None:
        super().__init__(say("Nothing was changed."))
        self.is_interrupted = is_interrupted


@dataclass(frozen=True, slots=True)
class Console:
    """One run of the command line; made once in `lab/cli.py` and handed to each command."""

    environment: Mapping[str, str]
    speech: Speech
    columns: int
    is_colourful: bool
    is_interactive: bool
    slug: str | None
    is_agreed: bool
    under_way: set[str] = field(default_factory=set)

    def place(self) -> Place:
        """The place the command is about."""
        return self.places().open(self.slug)

    def places(self) -> Places:
        """All places of this `LAB_HOME`."""
        return Places(self.environment, is_root=os.geteuid() == 0)

    def report(self) -> TextReport:
        """A report for this terminal."""
        return TextReport(self.speech, columns=self.columns, paint=self.paint)

    def paint(self, text: str, role: str) -> str:
        """Text in the colour of its role, where the terminal has colours."""
        return click.style(text, fg=_COLOURS[role]) if self.is_colourful else text

    def tell(self, message: Message, *, indent: int = 0) -> None:
        """One sentence on standard output, wrapped to the terminal."""
        for line in wrap(self.speech.of(message), self.columns - indent):
            click.echo(" " * indent + line)

    def tell_progress(self, progress: Progress) -> None:
        """A line of work under way, its seconds first; its end says nothing new and is not told."""
        stage = self.speech.of(progress.stage)
        if progress.is_done and stage in self.under_way:
            self.under_way.remove(stage)
            return
        if not progress.is_done:
            self.under_way.add(stage)
        mark = f"{progress.seconds:6.1f} s  "
        first, *rest = wrap(stage, self.columns - len(mark))
        click.echo("\n".join([mark + first, *(" " * len(mark) + line for line in rest)]))

    def tell_rows(self, rows: Sequence[tuple[Message, str | Sequence[str]]]) -> None:
        """Labels and their values in two columns; a value of several parts is wrapped."""
        labels = [self.speech.of(label) for label, _ in rows]
        room = max(width(label) for label in labels)
        for label, (_, value) in zip(labels, rows, strict=True):
            whole = [value] if isinstance(value, str) else None
            first, *rest = whole or wrap(", ".join(value), self.columns - room - 4)
            click.echo(f"  {pad(label, room)}  {first}")
            for line in rest:
                click.echo(" " * (room + 4) + line)

    def tell_json(self, data: Mapping[str, object]) -> None:
        """Data for programs, alone on standard output."""
        click.echo(json.dumps(data, ensure_ascii=False, indent=2))

    def tell_error(self, error: LabError) -> None:
        """What happened and the next move, on standard error."""
        sentences = [say("Error: {what}", what=error.what)]
        if error.next_move is not None:
            sentences.append(say("Next: {move}", move=error.next_move))
        lines = [line for s in sentences for line in wrap(self.speech.of(s), self.columns)]
        click.echo("\n".join(lines), err=True)

    def require_agreement(self, question: Message) -> None:
        """Ask before something is lost; without a terminal, `--yes` or `YES=1` must say it."""
        if self.is_agreed:
            return
        if not self.is_interactive:
            raise UsageError(
                say("There is no terminal to ask on: {question}", question=question),
                next_move=say("Say yes beforehand: YES=1 with make, --yes with lab."),
            )
        *lines, last = wrap(f"{self.speech.of(question)} [y/N]", self.columns)
        click.echo("".join(f"{line}\n" for line in lines) + last, nl=False)
        try:
            answer = input(" ").strip().lower()
        except (EOFError, KeyboardInterrupt) as error:
            click.echo()
            raise Declined(is_interrupted=isinstance(error, KeyboardInterrupt)) from None
        if answer not in ("y", "yes", "예", "네", "ㅇ"):
            raise Declined(is_interrupted=False)


def open_console(environment: Mapping[str, str], speech: Speech) -> Console:
    """The console of this process, before any option is read."""
    stdout = sys.stdout
    is_terminal = stdout.isatty()
    columns = shutil.get_terminal_size((80, 24)).columns
    colourful = is_terminal and not environment.get("NO_COLOR")
    return Console(
        environment=environment,
        speech=speech,
        columns=max(min(columns, 100), 40),
        is_colourful=colourful and environment.get("TERM", "dumb") != "dumb",
        is_interactive=is_terminal and sys.stdin.isatty(),
        slug=None,
        is_agreed=environment.get("YES", "") not in ("", "0"),
    )
