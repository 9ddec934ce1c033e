"""The learner's folder: nothing in it is ever replaced without a dated copy kept first."""

from __future__ import annotations

import shutil
from datetime import datetime
from pathlib import Path

from lab.places import Place, require_folder
from provision.errors import LabError
from provision.message import say


def dated_folder(place: Place, why: str) -> Path:
    """A new folder below the place's `saved`, named by the time and by what it is kept for."""
    stamp = datetime.now().astimezone().strftime("%Y-%m-%d_%H-%M-%S")
    folder = place.saved / f"{stamp}-{why}"
    number = 1
    while folder.exists():
        number += 1
        folder = place.saved / f"{stamp}-{why}-{number}"
    return folder


def entries(place: Place) -> tuple[Path, ...]:
    """What is in the workspace, hidden things too; empty when there is no workspace."""
    require_folder(place.workspace)
    try:
        return tuple(sorted(place.workspace.iterdir()))
    except FileNotFoundError:
        return ()
    except OSError as error:
        raise LabError(
            say("The workspace {path} cannot be read: {error}", path=place.workspace, error=error),
            next_move=say("Mend its permissions, or set LAB_WORKSPACE to another folder."),
        ) from error


def keep_and_empty(place: Place, why: str) -> Path | None:
    """Move all that the workspace holds into a dated folder; the folder itself stays.

    A shell may stand in it. Returns where things went, or None when there was nothing.
    """
    found = entries(place)
    if not found:
        return None
    folder = dated_folder(place, why)
    try:
        folder.mkdir(parents=True)
        for entry in found:
            shutil.move(entry, folder / entry.name)
    except OSError as error:
        raise LabError(
            say("Your files could not be kept in {folder}: {error}", folder=folder, error=error),
            next_move=say("Make room or mend the permissions; what was moved is in that folder."),
        ) from error
    return folder


def keep_histories(place: Place, folder: Path) -> None:
    """Move what the recorder has set aside when the cluster began anew into a dated folder."""
    for file in sorted(place.home.glob(f"{place.history_file.stem}-*{place.history_file.suffix}")):
        folder.mkdir(parents=True, exist_ok=True)
        shutil.move(file, folder / file.name)


def keep_copies(place: Place, files: list[Path], why: str) -> Path:
    """Copy single files of the learner into a dated folder, links as links."""
    folder = dated_folder(place, why)
    folder.mkdir(parents=True)
    for file in files:
        if file.is_symlink() or file.is_file():
            shutil.copy2(file, folder / file.name, follow_symlinks=False)
        else:
            shutil.move(file, folder / file.name)
    return folder
