"""Commands that show the place: what runs, what is ready, and what the logs say."""

from __future__ import annotations

import sys
from collections.abc import Mapping, Sequence
from pathlib import Path

import click

from lab.commands.options import console_of, lab_option
from lab.commands.remoting import machine_and_page
from lab.console import Console
from lab.places import PAGE, Place
from lab.report.standing_json import target_as_json
from lab.text import pad, width
from lab.web.launching import opened
from provision.errors import LabError
from provision.message import Message, say
from provision.target import ComponentStatus, TargetInfo, TargetStatus

STATUS_SCHEMA = 1


@click.command()
@click.option("--json", "is_json", is_flag=True, help="Print JSON only.")
@lab_option
@click.pass_context
def status(context: click.Context, is_json: bool, slug: str | None) -> None:
    """Show what runs, what is ready, and where things are."""
    console = console_of(context, slug)
    place = console.place()
    state = place.target.status()
    if is_json:
        console.tell_json(_status_as_json(console, place, state))
    else:
        _tell_status(console, place, state)
    context.exit(0 if state.is_ready else 3)


@click.command()
@click.argument("name", default="")
@click.option("--lines", default=40, show_default=True, help="How many of the last lines.")
@lab_option
@click.pass_context
def logs(context: click.Context, name: str, lines: int, slug: str | None) -> None:
    """Show the last lines of a component's log."""
    path = console_of(context, slug).place().target.log_path(name)
    try:
        with path.open("rb") as file:
            file.seek(max(path.stat().st_size - 400 * max(lines, 1), 0))
            tail = file.read().decode(errors="replace").splitlines()[-max(lines, 1) :]
    except OSError as error:
        raise LabError(
            say("There is no log of {name} yet: {error}", name=name, error=error),
            next_move=say("Bring the place up with make provision."),
        ) from error
    click.echo("\n".join(tail))


def _tell_status(console: Console, place: Place, state: TargetStatus) -> None:
    if state.remark is not None:
        console.tell(state.remark)
    elif not state.is_provisioned:
        console.tell(
            say("{lab} was not provisioned at {home}.", lab=place.lab.slug, home=place.home)
        )
        console.tell(
            say("Bring it up with make provision LAB={lab}.", lab=place.lab.slug)
            if place.target.is_here
            else say("Bring it up with make provision TARGET=vm LAB={lab}.", lab=place.lab.slug)
        )
    columns = (say("component"), say("running"), say("ready"), say("version"))
    rows = [tuple(console.speech.of(name) for name in columns)]
    rows += [_row(console, component) for component in state.components]
    widths = [max(width(row[i]) for row in rows) for i in range(len(columns))]
    for row in rows if state.components else ():
        cells = zip(row, widths, strict=True)
        click.echo("  ".join(pad(cell, room) for cell, room in cells).rstrip())
    for component in state.components:
        if component.detail is not None:
            console.tell(say("{name}: {detail}", name=component.name, detail=component.detail))
    if state.info is not None:
        console.tell_rows(_facts(console, place, state.info))
        if state.info.note is not None:
            console.tell(state.info.note)
    for other in console.places().all():
        if other.lab.slug != place.lab.slug:
            is_up = other.target.status().is_ready
            word = say("ready") if is_up else say("down")
            console.tell(say("other lab: {lab} ({state})", lab=other.lab.slug, state=word))


def _facts(console: Console, place: Place, info: TargetInfo) -> Sequence[tuple[Message, str]]:
    """Where things are: here, or in the machine and how it is reached."""
    facts = [(say("lab"), place.lab.slug)]
    if info.kubeconfig.is_file():  # not yet, when a first provision was broken off
        facts.append((say("kubeconfig"), str(info.kubeconfig)))
    if not place.target.is_here:
        there = machine_and_page(place)
        facts.insert(1, (say("machine"), there.machine))
        folder = say("{folder}, in the machine", folder=info.workspace)
        facts.append((say("your folder"), console.speech.of(folder)))
        if there.page is not None:
            facts.append((say("page"), there.page))
        return facts
    facts.append((say("your folder"), str(info.workspace)))
    if (page := opened(place)) is not None:
        addresses = (page.address, page.address_beyond)
        facts.append((say("page"), ", ".join(one for one in addresses if one)))
    return facts


def _row(console: Console, component: ComponentStatus) -> tuple[str, ...]:
    yes, no = console.speech.of(say("yes")), console.speech.of(say("no"))
    if component.is_off:
        off = say("off (make open)") if component.name == PAGE else say("off")
        return component.name, console.speech.of(off), "-", component.version
    return (
        component.name,
        yes if component.is_running else no,
        yes if component.is_ready else no,
        component.version,
    )


def _status_as_json(console: Console, place: Place, state: TargetStatus) -> Mapping[str, object]:
    info = state.info
    return {
        "schema": STATUS_SCHEMA,
        "lab": place.lab.slug,
        "home": str(place.home),
        "provisioned": state.is_provisioned,
        "ready": state.is_ready,
        "kubeconfig": None if info is None else str(info.kubeconfig),
        "workspace": str(place.workspace),
        "tools": None if info is None else str(place.target.tools_dir()),
        "lab_command": str(Path(sys.executable).parent / "lab"),
        "versions": {} if info is None else dict(info.versions),
        "target": None if info is None else target_as_json(info, console.speech),
        "components": [
            {
                "name": component.name,
                "running": component.is_running,
                "ready": component.is_ready,
                "needed": component.is_needed,
                "on_demand": component.is_on_demand,
                "pid": component.pid,
                "version": component.version,
                "detail": None if component.detail is None else console.speech.of(component.detail),
                "log": str(component.log),
            }
            for component in state.components
        ],
        "labs": [other.lab.slug for other in console.places().all()],
    }
