"""The command that tells the lab's story."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import datetime

import click

from checks.history import History
from lab.commands.options import console_of, lab_option
from lab.console import Console
from lab.places import RECORDER, Place
from lab.story import Moment, tell_story
from lab.text import pad, width, wrap
from provision.message import say

SCHEMA = 1
_WIDEST_NAME = 24
_BESIDE_NAME = 32  # the time before it, and enough of the sentence behind it


@click.command()
@click.option("--json", "is_json", is_flag=True, help="Print JSON only.")
@lab_option
@click.pass_context
def history(context: click.Context, is_json: bool, slug: str | None) -> None:
    """Tell the lab's story: what was made, who waited, who was let in, and when."""
    console = console_of(context, slug)
    place = console.place()
    place.target.info()
    moments = tell_story(History(place.history_file))
    seen = place.target.status().components
    is_watched = any(c.name == RECORDER and c.is_ready for c in seen)
    if is_json:
        console.tell_json(_as_json(console, place, moments, is_watched=is_watched))
        return
    for line in draw_story(console, moments):
        click.echo(line)
    if any(moment.is_late for moment in moments):
        console.tell(say("~ seen only later: it happened at that time or before."))
    if not moments:
        console.tell(say("Nothing is on record yet."))
    if not is_watched:
        console.tell(say("The recorder does not see the cluster now: make status says why."))


def draw_story(console: Console, moments: Sequence[Moment]) -> list[str]:
    """Each moment with its time and name, wrapped to the terminal, under a line for each day."""
    widest = min(_WIDEST_NAME, console.columns - _BESIDE_NAME)
    room = min(max((width(moment.name) for moment in moments), default=0), widest)
    lines, day = [], ""
    for moment in moments:
        local = datetime.fromisoformat(moment.time).astimezone()
        if local.strftime("%Y-%m-%d") != day:
            day = local.strftime("%Y-%m-%d")
            lines.append(console.paint(day, "quiet"))
        mark = "~" if moment.is_late else " "
        text = " ".join(console.speech.of(moment.what).split())
        name = _cut(moment.name, room)
        head = f"{local.strftime('%H:%M:%S')}{mark} {pad(name, room)}  "
        first, *rest = wrap(text, console.columns - width(head))
        lines += [head + first, *(" " * width(head) + line for line in rest)]
    return lines


def _cut(text: str, columns: int) -> str:
    if width(text) <= columns:
        return text
    while width(text) > columns - 1:
        text = text[:-1]
    return text + "…"


def _as_json(
    console: Console, place: Place, moments: Sequence[Moment], *, is_watched: bool
) -> Mapping[str, object]:
    return {
        "schema": SCHEMA,
        "lab": place.lab.slug,
        "recorder_runs": is_watched,
        "moments": [
            {
                "time": moment.time,
                "late": moment.is_late,
                "kind": moment.kind,
                "namespace": moment.namespace,
                "name": moment.name,
                "uid": moment.uid,
                "word": moment.word,
                "text": console.speech.of(moment.what),
            }
            for moment in moments
        ],
    }
