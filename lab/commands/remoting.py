"""What the commands of a place do when it lives in a machine: nothing is done to files here.

The workspace's path means a folder of that machine; what stands under it here is somebody else's.
"""

from __future__ import annotations

import contextlib
import os
import sys
from dataclasses import dataclass

import click

from lab.casework.kit import remove_kit
from lab.console import Console
from lab.places import PAGE, Place
from lab.remote import inside_of
from lab.resetting import keep_record
from lab.web.assets import fetch
from lab.web.browsing import show, tunnel
from lab.web.launch import link_to, page_address, page_folder
from lab.workspace import dated_folder
from provision.errors import LabError, UsageError
from provision.message import Message, say
from provision.settings import Settings
from provision.target import Provisioned, Tell
from provision.vm.choosing import kept_choices

LAUNCH_SECONDS = 90.0


def bring_up_there(console: Console, place: Place, tell: Tell) -> Provisioned:
    """Provision the machine; xterm.js is fetched first, since it goes there inside our wheel.

    Where it cannot be had, what is collected for the machine says that our wheel is missing.
    """
    environment = console.environment
    with contextlib.suppress(LabError):
        if not environment.get("BUNDLE"):
            fetch(Settings.from_environment(environment).cache, environment, tell)
    provisioned = place.target.up(tell)
    console.places().remember(place.lab.slug)
    return provisioned


def reset_there(console: Console, place: Place) -> Provisioned:
    """Bring the machine's lab back to its start, and what is on record here."""
    console.require_agreement(
        say(
            "Bring {lab} in its machine back to its start? The files in {workspace} are kept there "
            "as a copy.",
            lab=place.lab.slug,
            workspace=place.workspace,
        )
    )
    provisioned = place.target.reset(console.tell_progress)
    keep_record(place, dated_folder(place, "reset"))
    return provisioned


def destroy_there(console: Console, place: Place) -> None:
    """Remove the lab from its machine, or the machine, and the place here."""
    console.require_agreement(destroy_question(place))
    place.target.destroy(console.tell_progress)
    with contextlib.suppress(OSError):
        place.home.rmdir()
    remove_kit(console.environment, console.places().root, place.lab.slug)
    console.places().forget(place.lab.slug)
    console.tell(say("Removed. The cache of built parts stays: see make cache."))


def open_there(console: Console, place: Place, *, has_browser: bool) -> None:
    """Open the machine's page through a forward on loopback; its token comes over SSH."""
    place.target.info()
    inside = inside_of(place, console.speech.language)
    if inside is None:
        raise UsageError(say("{lab} does not live in a machine.", lab=place.lab.slug))
    launch = inside.ask("launch", {}, within=LAUNCH_SECONDS)
    port = place.target.start(PAGE, console.tell_progress)
    language = console.speech.language
    spoken = launch.get("language", language)
    link = link_to(page_address(port), launch["token"], language, spoken)
    console.tell(say("The page is open. This link logs you in; keep it to yourself:"))
    click.echo(f"  {link}")
    if (command := tunnel(port, console.environment)) is not None:
        console.tell(say("From your own machine: run this there, then open the link there."))
        click.echo(f"  {command}")
    if has_browser:
        page_folder(place.home).mkdir(parents=True, exist_ok=True, mode=0o700)
        show(link, page_folder(place.home), console.environment)
    there = (
        say("The page lives in the machine; make down ends the way there and powers it off.")
        if _is_ours(place)
        else say("The page lives in the machine; make down ends the way there.")
    )
    console.tell(there)


@dataclass(frozen=True, slots=True)
class There:
    """The machine as people call it, and the page's address while a forward leads there."""

    machine: str
    page: str | None


def machine_and_page(place: Place) -> There:
    """Where a place that lives in a machine is; LabError when it has no machine."""
    machine, port = place.target.machine(), place.target.port(PAGE)
    page = None
    if port is not None and place.target.is_running(PAGE):
        page = page_address(port)
    return There("-" if machine is None else machine.name, page)


def destroy_question(place: Place) -> Message:
    """What is about to go, and what becomes of the machine: one that is given stays."""
    lab, workspace, home = place.lab.slug, place.workspace, place.home
    if _is_ours(place):
        return say(
            "Remove the machine of {lab} with all that is in it, the files in {workspace} too, and "
            "{home} here? They cannot be brought back.",
            lab=lab,
            workspace=workspace,
            home=home,
        )
    return say(
        "Remove {lab} with the files in {workspace} of its machine, and {home} here? They cannot "
        "be brought back. The machine stays; what the lab put on it goes.",
        lab=lab,
        workspace=workspace,
        home=home,
    )


def _is_ours(place: Place) -> bool:
    """QEMU made the machine for this place; a given one is never powered off or removed."""
    return kept_choices(place.home).maker == "qemu"


def shell_there(console: Console, place: Place) -> None:
    """Become the shell in the machine; never returns."""
    place.target.info()
    inside = inside_of(place, console.speech.language)
    if inside is None:
        raise UsageError(say("{lab} does not live in a machine.", lab=place.lab.slug))
    command = inside.terminal("shell")
    sys.stdout.flush()
    try:
        os.execvp(command[0], command)
    except OSError as error:
        raise LabError(
            say("The shell {shell} could not be started: {error}", shell=command[0], error=error),
            next_move=say("Install an OpenSSH client (Debian: apt-get install openssh-client)."),
        ) from error
