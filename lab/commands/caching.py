"""Commands about the built parts: how large their cache is, pruning it, packing it."""

from __future__ import annotations

from pathlib import Path

import click

from lab.commands.options import console_of, yes_option
from lab.web import assets
from provision.errors import LabError
from provision.message import say
from provision.registry import open_cache
from provision.settings import Settings


@click.command()
@click.option("--prune", is_flag=True, help="Remove parts that this checkout does not use.")
@yes_option
@click.pass_context
def cache(context: click.Context, prune: bool, yes: bool) -> None:
    """Show the cache of built parts, or prune it."""
    console = console_of(context, yes=yes)
    store = open_cache(Settings.from_environment(console.environment))
    if prune:
        console.require_agreement(say("Remove built parts that this checkout does not use?"))
        freed = store.prune() + assets.prune(store.path)
        console.tell(say("Freed {size} MB.", size=freed // 1_000_000))
    console.tell(say("Cache {path}: {size} MB.", path=store.path, size=store.size() // 1_000_000))


@click.command()
@click.argument("file", type=click.Path(dir_okay=False, path_type=Path))
@click.pass_context
def bundle(context: click.Context, file: Path) -> None:
    """Pack the built parts with checksums, for machines that cannot build."""
    console = console_of(context)
    store = open_cache(Settings.from_environment(console.environment))
    try:
        assets.fetch(store.path, console.environment, console.tell_progress)
    except LabError as error:
        console.tell(error.what)
    store.write_bundle(file.absolute(), console.tell_progress)
    console.tell(say("Packed into {file}. Use it with BUNDLE={file}.", file=file.absolute()))
