"""Commands that bring the place up and take it down."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

import click

from lab.casework.kit import remove_kit
from lab.commands.options import console_of, lab_option, yes_option
from lab.commands.remoting import bring_up_there, destroy_there, reset_there
from lab.console import Console
from lab.leftovers import is_leftover, remove_leftovers
from lab.places import INSIDE, Place, require_folder
from lab.resetting import reset_place
from lab.starters import MAKEFILE, is_untouched, lay_starters, take_starters
from lab.web.assets import fetch
from lab.web.launching import Shells, forget_launch, is_open, open_again
from lab.workspace import (
    claim,
    entries,
    is_ours,
    remove,
    require_apart,
)
from provision.errors import LabError
from provision.message import Message, say
from provision.settings import Settings
from provision.state import kind_of
from provision.target import Provisioned, Tell


@click.command()
@click.option("--events", "is_told", is_flag=True, hidden=True)
@lab_option
@click.pass_context
def provision(context: click.Context, is_told: bool, slug: str | None) -> None:
    """Bring the place up: build what is missing, start it, lay out the cluster."""
    console = console_of(context, slug)
    if is_told:
        _provision_for_the_page(console)
        return
    place = console.place()
    console.tell(say("{title}: bringing the place up.", title=console.speech.pick(place.lab.title)))
    _tell_ready(console, place, _bring_up(console, place, console.tell_progress))


def _provision_for_the_page(console: Console) -> None:
    from lab.events import tell_failure, tell_progress

    try:
        _bring_up(console, console.place(), tell_progress)
    except LabError as error:
        tell_failure(error)
        raise


def _bring_up(console: Console, place: Place, tell: Tell) -> Provisioned:
    if not place.target.is_here:
        return bring_up_there(console, place, tell)
    require_folder(place.workspace)
    require_apart(place, console.environment)
    was_empty, was_open = not entries(place), is_open(place)
    provisioned = place.target.up(tell)
    if was_empty:
        claim(place)
    lay_starters(place, console.environment)
    console.places().remember(place.lab.slug)
    if was_open and not is_open(place):  # all was started anew while somebody looks at the page
        provisioned = _remarked(provisioned, *open_again(place, tell))
    return _fetched(console, provisioned, tell) if provisioned.is_changed else provisioned


def _fetched(console: Console, provisioned: Provisioned, tell: Tell) -> Provisioned:
    """What the page needs is fetched while there is a network, as the parts are; it may lack."""
    try:
        fetch(Settings.from_environment(console.environment).cache, console.environment, tell)
    except LabError as error:
        return _remarked(provisioned, error.what)
    return provisioned


def _remarked(provisioned: Provisioned, *remarks: Message) -> Provisioned:
    return replace(provisioned, remarks=(*provisioned.remarks, *remarks))


@click.command()
@lab_option
@click.pass_context
def down(context: click.Context, slug: str | None) -> None:
    """Stop every process; the cluster, your files and your progress stay."""
    console = console_of(context, slug)
    place = console.place()
    shells = Shells.of(place)
    place.target.down(console.tell_progress)
    forget_launch(place)
    console.tell(say("The place is down. make provision brings the same one back."))
    shells.end()


@click.command()
@lab_option
@yes_option
@click.pass_context
def reset(context: click.Context, slug: str | None, yes: bool) -> None:
    """Bring cluster, workspace and progress back to the start; a copy of your files is kept."""
    console = console_of(context, slug, yes=yes)
    place = console.place()
    place.target.info()
    if not place.target.is_here:
        _tell_ready(console, place, reset_there(console, place))
        return
    require_folder(place.workspace)
    console.require_agreement(
        say(
            "Bring {lab} back to its start? Your {count} files in {workspace} are kept as a copy.",
            lab=place.lab.slug,
            count=len(entries(place)),
            workspace=place.workspace,
        )
    )
    done = reset_place(place, console.environment, console.tell_progress)
    if done.kept is not None:
        console.tell(say("Your files are kept in {folder}.", folder=done.kept))
    _tell_ready(console, place, done.provisioned)
    done.end_shells()


@click.command()
@lab_option
@yes_option
@click.pass_context
def destroy(context: click.Context, slug: str | None, yes: bool) -> None:
    """Remove the place with all that is in it; only the cache of built parts stays."""
    console = console_of(context, slug, yes=yes)
    place = console.place()
    if not place.home.exists():
        console.tell(say("There is no place at {home}; nothing was removed.", home=place.home))
        return
    if is_leftover(place):
        _remove_leftovers(console, place)
        return
    if not place.target.is_here:
        destroy_there(console, place)
        return
    _destroy_here(console, place)


def _remove_leftovers(console: Console, place: Place) -> None:
    console.require_agreement(
        say(
            "There is no place at {home}; remove what earlier commands left there?",
            home=place.home,
        )
    )
    remove_leftovers(place)
    console.places().forget(place.lab.slug)
    console.tell(say("Removed. The cache of built parts stays: see make cache."))


def _destroy_here(console: Console, place: Place) -> None:
    goes_too = is_ours(place) and not place.workspace.is_symlink()
    if goes_too:
        question = say(
            "Remove {home}, and {workspace} with its {count} files? They cannot be brought back.",
            home=place.home,
            workspace=place.workspace,
            count=len(entries(place)),
        )
    else:
        question = say(
            "Remove {home}? {workspace} stays: it was there before.",
            home=place.home,
            workspace=place.workspace,
        )
    if place.saved.is_dir() and any(place.saved.iterdir()):
        question = say(
            "{question} The copies of your files in {saved} go, too.",
            question=question,
            saved=place.saved,
        )
    console.require_agreement(question)
    shells = Shells.of(place)
    is_laid = is_untouched(place, place.workspace / MAKEFILE)
    take_starters(place)
    try:
        place.target.destroy(console.tell_progress)
    except LabError:
        if is_laid:
            lay_starters(place, console.environment)
        raise
    if goes_too:
        remove(place)
    remove_kit(console.environment, console.places().root, place.lab.slug)
    console.places().forget(place.lab.slug)
    console.tell(say("Removed. The cache of built parts stays: see make cache."))
    shells.end()


def _tell_ready(console: Console, place: Place, provisioned: Provisioned) -> None:
    info = provisioned.info
    seconds = f"{provisioned.seconds:.1f}"
    console.tell(
        say("Ready after {seconds} s.", seconds=seconds)
        if provisioned.is_changed
        else say("Ready; nothing had to be changed ({seconds} s).", seconds=seconds)
    )
    console.tell_rows(
        (
            (say("versions"), [f"{name} {version}" for name, version in info.versions.items()]),
            (say("your folder"), str(info.workspace)),
            (say("kubeconfig"), f"export KUBECONFIG={info.kubeconfig}"),
            (say("kubectl"), f'export PATH="{place.target.tools_dir()}:$PATH"'),
        ),
    )
    for remark in (info.note, *provisioned.remarks):
        if remark is not None:
            console.tell(remark)
    console.tell(_following(place, console.environment))


def _following(place: Place, environment: Mapping[str, str]) -> Message:
    """What there is to do then: only verbs that the Makefile has where the reader stands."""
    if environment.get("LAB_SHELL") or kind_of(place.home) == INSIDE:
        return say("Next: make open for the page; or make step STEP=1, make check STEP=1")
    return say("Next: make open for the page; or make step STEP=1, make shell, make check STEP=1")
