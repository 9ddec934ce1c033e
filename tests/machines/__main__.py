"""The command line: `python -m tests.machines up NAME N`, `down NAME` and others."""

from __future__ import annotations

import sys
import time
from pathlib import Path

import click

from provision.errors import LabError
from tests.machines.booting import boot, halt
from tests.machines.bundling import make_bundle, shared_bundle
from tests.machines.leftovers import leftovers
from tests.machines.needs import missing
from tests.machines.record import all_names, read_record


@click.group(help=__doc__)
def cli() -> None:
    """Nothing can be done where a machine cannot be had."""
    if reasons := missing():
        click.echo("A test machine needs what is not here: " + ", ".join(reasons) + ".", err=True)
        click.echo("Next: install the packages, or run the tests as root of a machine.", err=True)
        raise SystemExit(3)


@cli.command()
def needs() -> None:
    """Nothing but to see that all is there; exit code 3 and what is missing otherwise."""


@cli.command()
@click.argument("name")
@click.argument("subnet", type=int)
def up(name: str, subnet: int) -> None:
    """A fresh machine NAME at 10.213.SUBNET.2, reachable by SSH."""
    started = time.monotonic()
    record = boot(name, subnet)
    options = f"-i {record.identity} -o UserKnownHostsFile={record.known_hosts}"
    click.echo(f"{name} answers after {time.monotonic() - started:.1f} s:")
    click.echo(f"ssh {options} root@{record.address}")


@cli.command()
@click.argument("names", nargs=-1)
@click.option("--all", "is_all", is_flag=True, help="All that were started here.")
def down(names: tuple[str, ...], is_all: bool) -> None:
    """Power machines off and remove all of them; exit code 3 when something stays."""
    stays = [left for name in (all_names() if is_all else names) for left in halt(name)]
    for left in stays:
        click.echo(f"left behind: {left}")
    raise SystemExit(3 if stays else 0)


@cli.command("list")
def list_all() -> None:
    """The machines that are up, and what there is of each."""
    for name in all_names():
        record = read_record(name)
        state = "up" if record and record.process() else "not up"
        address = record.address if record else "-"
        click.echo(f"{name} {address} {state}: {len(leftovers(name))} things")


@cli.command()
@click.option("--training", is_flag=True, help="With JobSet and Trainer.")
@click.argument("folder", required=False, type=click.Path(path_type=Path))
def bundle(training: bool, folder: Path | None) -> None:
    """Make the bundle of stand-ins, in FOLDER or in the cache, and print where it is."""
    if folder:
        click.echo(make_bundle(folder, has_training=training).folder)
    else:
        click.echo(shared_bundle(has_training=training))


if __name__ == "__main__":
    try:
        cli()
    except LabError as error:
        sys.exit(f"{error.what}")
