"""Commands about the built parts: how large their cache is, pruning it, packing it."""

from __future__ import annotations

from pathlib import Path

import click

from lab.catalog import load_lab
from lab.commands.options import console_of, yes_option
from lab.console import Console
from lab.web import assets
from provision.errors import LabError, UsageError
from provision.message import say
from provision.registry import open_cache
from provision.settings import Settings

FILE, FOLDER = "gpu-queue-lab-parts.tar", "gpu-queue-lab-bundle"


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
@click.argument("out", required=False, type=click.Path(path_type=Path))
@click.pass_context
def bundle(context: click.Context, out: Path | None) -> None:
    """Pack the built parts with checksums, for machines that cannot build.

    With TARGET=vm: collect all that the machine is made from into a folder, for the lab of LAB.
    """
    console = console_of(context)
    if console.environment.get("TARGET") == "vm":
        _collect_for_machines(console, (out or Path(FOLDER)).absolute())
    else:
        _pack_parts(console, (out or Path(FILE)).absolute())


def _pack_parts(console: Console, file: Path) -> None:
    if file.is_dir():
        raise UsageError(
            say("{path} is a folder; the parts are packed into one file.", path=file),
            next_move=say("Name a file: make bundle OUT=parts.tar."),
        )
    store = open_cache(Settings.from_environment(console.environment))
    try:
        assets.fetch(store.path, console.environment, console.tell_progress)
    except LabError as error:
        console.tell(error.what)
    store.write_bundle(file, console.tell_progress)
    console.tell(say("Packed into {file}. Use it with BUNDLE={file}.", file=file))


def _collect_for_machines(console: Console, folder: Path) -> None:
    """A bundle of the vm target, for each way of getting machine and GPUs that is not ruled out."""
    from provision.vm.collecting.collector import collect
    from provision.vm.collecting.plan import read_plan
    from provision.vm.settings import PROVIDERS, read_settings

    chosen = read_settings(console.environment)
    settings = Settings.from_environment(console.environment)
    slug = console.environment.get("LAB", "")
    parts = load_lab(slug).parts if slug else ()
    unneeded = [name for name in PROVIDERS if chosen.gpus not in ("", name)]
    if chosen.maker == "ssh":
        unneeded.append("qemu")
    try:
        page: Path | None = assets.fetch(settings.cache, console.environment, console.tell_progress)
    except LabError as error:
        console.tell(error.what)
        page = None
    collected = collect(
        folder,
        read_plan(console.environment.get("SYSTEM", "")).without(*unneeded).for_parts(parts),
        page=page,
        environ=settings.environ,
        tell=console.tell_progress,
    )
    for remark in collected.remarks:
        console.tell(remark)
    files = [collected.bundle.path(artefact) for artefact in collected.bundle.artefacts]
    console.tell(
        say(
            "{count} files, {size} MB in {folder}. Use it with BUNDLE={folder}.",
            count=len(files),
            size=sum(file.stat().st_size for file in files) // 1_000_000,
            folder=folder,
        )
    )
