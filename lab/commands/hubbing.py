"""The command that shows the page behind JupyterHub."""

from __future__ import annotations

import importlib.util
import os
import shutil
import signal
from collections.abc import Mapping
from pathlib import Path

import click

from lab.commands.options import console_of, lab_option
from lab.console import Console
from lab.web.assets import fetch
from lab.web.hub.demo import FOLDER, Demo, lay_out, running
from provision.errors import LabError
from provision.message import say
from provision.registry import open_cache
from provision.settings import Settings

PROXY = "configurable-http-proxy"
NPM_BIN = Path(__file__).parents[2] / ".venv" / "npm" / "node_modules" / ".bin"
# What each learner's server gets of the person's settings.
HANDED_ON = ("LAB_LANG", "LAB_PORTS", "TARGET", "LANG", "LC_ALL")


@click.command("hub-demo")
@lab_option
@click.pass_context
def hub_demo(context: click.Context, slug: str | None) -> None:
    """Show JupyterHub with two learners on this machine, a demo without isolation."""
    console = console_of(context, slug)
    environment = console.environment
    _require_hub()
    proxy = _find_proxy(environment)
    cache = _require_parts(environment)
    fetch(cache, environment, console.tell_progress)
    demo = lay_out(
        console.places().root / FOLDER, proxy, _for_learners(environment, cache, console)
    )
    console.tell(say("Starting the hub ..."))
    for name in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
        signal.signal(name, signal.default_int_handler)
    try:
        with running(demo, environment) as hub:
            _tell(console, demo)
            hub.wait()
    except KeyboardInterrupt:
        console.tell(say("The hub is down, and the learners' places with it."))
        return
    raise LabError(
        say("The hub has ended by itself."), next_move=say("Look at {path}.", path=demo.log)
    )


def _tell(console: Console, demo: Demo) -> None:
    console.tell(say("The hub is up. Each learner logs in at an address of their own:"))
    for link in demo.links().values():
        click.echo(f"  {link}")
    console.tell(say("The password of both is {password}", password=demo.password))
    console.tell(
        say(
            "This is a demo: both are the same user of this machine, and nothing keeps one from "
            "the other's files. docs/hub.md says what a class needs."
        )
    )
    console.tell(say("Ctrl-C ends it and takes their places down; their files stay."))


def _for_learners(environment: Mapping[str, str], cache: Path, console: Console) -> dict[str, str]:
    kept = {name: environment[name] for name in HANDED_ON if environment.get(name)}
    return {**kept, "LAB_CACHE": str(cache), "LAB": console.places().slug(console.slug)}


def _require_hub() -> None:
    if importlib.util.find_spec("jupyterhub") is None:
        raise LabError(
            say("JupyterHub's package is not installed here."),
            next_move=say("Run make hub-demo: it installs what is missing."),
        )


def _find_proxy(environment: Mapping[str, str]) -> str:
    search = os.pathsep.join((str(NPM_BIN), environment.get("PATH", "")))
    found = shutil.which(PROXY, path=search)
    if found is None or shutil.which("node", path=environment.get("PATH")) is None:
        raise LabError(
            say("The hub needs {proxy} and Node.js.", proxy=PROXY),
            next_move=say("Install Node.js 20 or newer with npm, then run make hub-demo."),
        )
    return found


def _require_parts(environment: Mapping[str, str]) -> Path:
    cache = open_cache(Settings.from_environment(environment))
    if not any(entry.is_current for entry in cache.entries()):
        raise LabError(
            say("The parts of the lab are not built yet."),
            next_move=say("Run make provision once; learners' places then start in seconds."),
        )
    return cache.path
