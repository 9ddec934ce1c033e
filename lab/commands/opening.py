"""Opening the learner's page."""

from __future__ import annotations

import click

from lab.commands.options import console_of, lab_option
from lab.commands.remoting import open_there
from lab.console import Console
from lab.places import INSIDE, Place
from lab.web.browsing import show, tunnel
from lab.web.launch import page_folder
from lab.web.launching import open_page
from lab.web.listening import Beyond
from provision.errors import UsageError
from provision.message import Message, say
from provision.state import kind_of


@click.command()
@click.option("--address", default="", help="Listen at this address of the machine, too.")
@click.option("--tls-cert", default="", help="Certificate for TLS at --address, a PEM file.")
@click.option("--tls-key", default="", help="Its key, a PEM file.")
@click.option("--no-browser", is_flag=True, help="Print the link only.")
@lab_option
@click.pass_context
def open(
    context: click.Context,
    address: str,
    tls_cert: str,
    tls_key: str,
    no_browser: bool,
    slug: str | None,
) -> None:
    """Open the page in a browser: steps, a terminal, and the queue as a picture."""

    console = console_of(context, slug)
    place = console.place()
    is_said = bool(address or tls_cert or tls_key)
    if not place.target.is_here:
        if is_said:
            raise UsageError(
                say("The page of a machine is reached through a forward on 127.0.0.1 only."),
                next_move=say("Leave --address and --tls-cert out."),
            )
        open_there(console, place, has_browser=not no_browser)
        return
    beyond = Beyond(address, tls_cert, tls_key).checked() if is_said else None
    opened = open_page(
        place, console.environment, console.speech.language, beyond, console.tell_progress
    )
    console.tell(say("The page is open. This link logs you in; keep it to yourself:"))
    click.echo(f"  {opened.link}")
    if opened.link_beyond is not None:
        click.echo(f"  {opened.link_beyond}")
        if not opened.launch.certificate:
            console.tell(
                say(
                    "Warning: beyond this machine the page goes over the network as plain text. "
                    "Whoever listens there can take it over. Use --tls-cert, or ssh -L."
                )
            )
    _tell_tunnel(console, opened.port)
    if not no_browser:
        show(opened.link, page_folder(place.home), console.environment)
    console.tell(_end_of(place))


def _end_of(place: Place) -> Message:
    """How it is closed; a machine keeps its page, and is not taken down from inside."""
    if kind_of(place.home) == INSIDE:
        return say("The page belongs to this machine: it runs as long as the machine does.")
    return say("make down ends it.")


def _tell_tunnel(console: Console, port: int) -> None:

    if (command := tunnel(port, console.environment)) is not None:
        console.tell(say("From your own machine: run this there, then open the link there."))
        click.echo(f"  {command}")
