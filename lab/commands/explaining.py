"""The command that tells why a Job waits."""

from __future__ import annotations

import click

from checks.inquiry import MAKER_KINDS, Answer, NotThere, inquire
from checks.outcome import CannotTell
from lab.commands.options import console_of, lab_option
from lab.console import Console
from lab.model import RecordedKind
from lab.places import Place
from lab.why import WhyReport, as_json
from provision.errors import LabError, UsageError
from provision.message import Message, say

CANNOT_TELL = 3


@click.command()
@click.argument("name", default="")
@click.option("--namespace", "-n", default="", help="Look in this namespace only.")
@click.option("--json", "is_json", is_flag=True, help="Print JSON only.")
@lab_option
@click.pass_context
def why(context: click.Context, name: str, namespace: str, is_json: bool, slug: str | None) -> None:
    """Tell why a Job waits or does not run; NAME is a Job, a pod or a Workload.

    Exit code: 0 told, 2 no such name, 3 the place does not answer or a component is down.
    """
    console = console_of(context, slug)
    place = console.place()
    if not name:
        raise UsageError(
            say("Which one? No name was given."),
            next_move=say("Name a Job, a pod or a Workload, or what made it: make why JOB=NAME"),
        )
    answer = _ask(place, name, namespace)
    trouble = _trouble(place)
    if is_json:
        console.tell_json(as_json(place.lab.slug, answer, trouble, console.speech))
    else:
        _print(console, answer, trouble)
    context.exit(CANNOT_TELL if trouble else 0)


def _ask(place: Place, name: str, namespace: str) -> Answer:
    info = place.target.info()
    try:
        return inquire(
            info.grader_kubeconfig,
            name,
            namespaces=(namespace,) if namespace else place.lab.namespaces,
            api_version=str(place.lab.facts.get("api_version", "")),
            only=bool(namespace),
        )
    except CannotTell as error:
        raise LabError(error.what, next_move=error.next_move) from error
    except NotThere as error:
        raise UsageError(
            say(
                "There is nothing named {name} in {namespaces}: no {kinds}, pod or Workload.",
                kinds=", ".join(["Job", *(kind.kind for kind in _makers(place))]),
                name=repr(error.name)[:80],
                namespaces=", ".join(error.namespaces),
            ),
            next_move=say("Did you mean {names}?", names=", ".join(error.near))
            if error.near
            else say(
                "See what there is: kubectl get {kinds} -A",
                kinds=",".join(["jobs", *(k.plural for k in _makers(place)), "workloads", "pods"]),
            ),
        ) from error


def _makers(place: Place) -> list[RecordedKind]:
    """What makes pods or Jobs in this lab, besides Jobs."""
    return [kind for kind in place.lab.recorded if kind.kind in MAKER_KINDS]


def _trouble(place: Place) -> Message | None:
    """Components that do not answer: what stands in the cluster may then be old."""
    needed = [c for c in place.target.status().components if c.is_needed]
    down = [c.name for c in needed if not c.is_ready]
    if needed and not down:
        return None
    return say("Not ready: {names}. What stands here may be old.", names=", ".join(down) or "-")


def _print(console: Console, answer: Answer, trouble: Message | None) -> None:
    report = WhyReport(console.speech, columns=min(console.columns, 80), paint=console.paint)
    click.echo(report.draw(answer, trouble))
