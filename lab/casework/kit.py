"""The kit's own place: never the learner's, started when needed and kept warm."""

from __future__ import annotations

import contextlib
import fcntl
import os
import shutil
import signal
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path

from lab.casework.desk import Desk
from lab.casework.memory import Memory
from lab.casework.playing import Player
from lab.places import Place, Places
from lab.solving import environment
from provision.settings import Settings

FOLDER = ".kit"
MEMORY = "cases.json"
# Settings of the learner's that must not lead the kit to the learner's things.
_NOT_TAKEN = ("LAB", "LAB_WORKSPACE", "XDG_STATE_HOME", "TARGET", "VM", "HOST", "KUBECONFIG")


def kit_environment(base: Mapping[str, str], root: Path) -> dict[str, str]:
    """The environment of the kit below a `LAB_HOME`: own home, own place, shared cache."""
    home = root / FOLDER
    kept = {key: value for key, value in base.items() if key not in _NOT_TAKEN}
    cache = str(Settings.from_environment(base).cache)
    return {
        **kept,
        "LAB_HOME": str(home),
        "LAB_CACHE": cache,
        "HOME": str(home / "person"),
        "LC_ALL": "C.UTF-8",
    }


def kit_place(base: Mapping[str, str], root: Path, slug: str) -> Place:
    """The kit's place of a lab, whether it is up or not."""
    return Places(kit_environment(base, root), is_root=False).open(slug)


def remove_kit(base: Mapping[str, str], root: Path, slug: str) -> None:
    """End what runs of the kit's place of a lab, and remove it; nothing when there is none."""
    place = kit_place(base, root, slug)
    if place.home.is_dir():
        place.target.destroy(lambda _: None)
        shutil.rmtree(place.home, ignore_errors=True)


@contextmanager
def open_player(base: Mapping[str, str], root: Path, slug: str) -> Iterator[Player]:
    """Whoever plays cases on the kit's place, which is up; others wait until this one is done."""
    variables = kit_environment(base, root)
    Path(variables["HOME"]).mkdir(parents=True, exist_ok=True)
    with (root / FOLDER / "lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        place = Places(variables, is_root=False).open(slug)
        _wake(place)
        memory = Memory(place.home / MEMORY)
        if place.target.status().is_provisioned and not memory.read().levels:
            place.target.reset(lambda _: None)
        else:
            place.target.up(lambda _: None)
        yield Player(place, Desk(place.workspace, environment(place, variables)), memory)


def _wake(place: Place) -> None:
    """Let go on what an interrupted case has left paused."""
    for component in place.target.status().components:
        if component.pid is not None:
            with contextlib.suppress(ProcessLookupError):
                os.kill(component.pid, signal.SIGCONT)
