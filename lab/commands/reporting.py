"""The command for reports about a whole lab."""

from __future__ import annotations

import json
from pathlib import Path

import click

from lab.commands.options import console_of, lab_option
from lab.console import Console
from lab.report.as_json import as_json
from lab.report.gathering import Report, gather
from lab.report.junit import as_junit
from lab.report.page import as_page
from lab.report.terminal import TextReport
from lab.report.text import as_text
from provision.errors import LabError, UsageError
from provision.files import write_atomically
from provision.message import say

FORMATS = ("text", "json", "junit", "html")
FILE_COLUMNS = 100


@click.command()
@click.option("--format", "form", default="text", help="text, json, junit or html.")
@click.option("--json", "is_json", is_flag=True, help="The same as --format json.")
@click.option(
    "--out", type=click.Path(path_type=Path), help="Write into this file, not to the terminal."
)
@lab_option
@click.pass_context
def report(
    context: click.Context, form: str, is_json: bool, out: Path | None, slug: str | None
) -> None:
    """Report on all steps: verdicts, attempts, hints, evidence and versions.

    Steps are looked at now, and that is not counted as an attempt. Exit code 0 once the report is
    there, whatever it says.
    """
    console = console_of(context, slug)
    if form not in FORMATS:
        raise UsageError(
            say("There is no report in the form {form}.", form=repr(form)[:40]),
            next_move=say("Known forms: {known}.", known=", ".join(FORMATS)),
        )
    told = gather(console.place())
    text = _draw(console, told, "json" if is_json else form, is_file=out is not None)
    if out is None:
        click.echo(text, nl=False)
        return
    try:
        if not out.absolute().parent.is_dir():
            raise FileNotFoundError(2, "no such folder", str(out.absolute().parent))
        write_atomically(out, text, mode=0o644)
    except OSError as error:
        raise LabError(
            say("The report could not be written to {file}: {error}", file=out, error=error),
            next_move=say("Name another file with --out, or OUT= with make."),
        ) from error
    console.tell(say("The report is in {file}.", file=out))


def _draw(console: Console, told: Report, form: str, *, is_file: bool) -> str:
    speech = console.speech
    if form == "json":
        return json.dumps(as_json(told, speech), ensure_ascii=False, indent=2) + "\n"
    if form == "junit":
        return as_junit(told, speech)
    if form == "html":
        return as_page(told, speech)
    columns = FILE_COLUMNS if is_file else console.columns
    painted = TextReport(speech, columns=columns) if is_file else console.report()
    return as_text(told, speech, painted, columns=columns)
