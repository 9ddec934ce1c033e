"""What commands of ours left at a place that is none: verdicts and starters, and nothing else."""

from __future__ import annotations

import contextlib
import shutil

from lab.places import Place
from lab.starters import take_starters
from lab.workspace import entries
from provision.state import LOCK_FILE, MARKER_FILE, kind_of

FOLDERS = ("verdicts", "starters")


def is_leftover(place: Place) -> bool:
    """No place was ever made there, and all that lies there is ours."""
    home = place.home
    if home.is_symlink() or not home.is_dir():
        return False
    if kind_of(home) is not None or (home / MARKER_FILE).exists():
        return False
    ours = {home / name for name in (*FOLDERS, LOCK_FILE)}
    if place.target.is_here and not entries(place):
        ours.add(place.workspace)
    return all(path in ours and not path.is_symlink() for path in home.iterdir())


def remove_leftovers(place: Place) -> None:
    """Remove it, and the place's folder; a workspace goes only when it lies in there, and empty."""
    if place.target.is_here:
        take_starters(place)
    for name in FOLDERS:
        shutil.rmtree(place.home / name, ignore_errors=True)
    (place.home / LOCK_FILE).unlink(missing_ok=True)
    with contextlib.suppress(OSError):
        if place.workspace.parent == place.home:
            place.workspace.rmdir()
    with contextlib.suppress(OSError):
        place.home.rmdir()
