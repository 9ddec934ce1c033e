"""The learner's folder: nothing in it is ever replaced without a dated copy kept first."""

from __future__ import annotations

import contextlib
import shutil
from collections.abc import Mapping
from datetime import datetime
from pathlib import Path

from lab.places import Place, require_folder
from lab.starters import is_untouched
from provision.errors import LabError, UsageError
from provision.files import write_atomically
from provision.message import say

OWNED = ".workspace"


def dated_folder(place: Place, why: str) -> Path:
    """A new folder below the place's `saved`, named by the time and by what it is kept for."""
    stamp = datetime.now().astimezone().strftime("%Y-%m-%d_%H-%M-%S")
    folder = place.saved / f"{stamp}-{why}"
    number = 1
    while folder.exists():
        number += 1
        folder = place.saved / f"{stamp}-{why}-{number}"
    return folder


def is_ours(place: Place) -> bool:
    """The workspace was made for this place: it held nothing when the place was first brought up.

    Only such a folder may ever be removed; one that was there before stays the learner's.
    """
    try:
        return (place.home / OWNED).read_text(encoding="utf-8") == str(place.workspace)
    except (OSError, UnicodeDecodeError):
        return False


def claim(place: Place) -> None:
    """Note that the workspace was made for this place; call it when it was empty before."""
    write_atomically(place.home / OWNED, str(place.workspace))


def require_apart(place: Place, environment: Mapping[str, str]) -> None:
    """Refuse a workspace that holds more than a workspace: /, HOME, LAB_HOME, the project."""
    workspace = place.workspace.resolve()
    held = [place.home.parent.resolve(), Path(__file__).resolve().parent.parent]
    if home := environment.get("HOME"):
        held.append(Path(home).resolve())
    for path in held:
        if path == workspace or path.is_relative_to(workspace):
            raise UsageError(
                say("The workspace {path} holds {inner}.", path=place.workspace, inner=path),
                next_move=say("Name a folder of its own in LAB_WORKSPACE."),
            )


def entries(place: Place) -> tuple[Path, ...]:
    """What is the learner's in the workspace, hidden things too; empty when there is no workspace.

    A starter that was not changed is not the learner's.
    """
    require_folder(place.workspace)
    try:
        found = sorted(place.workspace.iterdir())
        return tuple(entry for entry in found if not is_untouched(place, entry))
    except FileNotFoundError:
        return ()
    except OSError as error:
        raise LabError(
            say("The workspace {path} cannot be read: {error}", path=place.workspace, error=error),
            next_move=say("Mend its permissions, or set LAB_WORKSPACE to another folder."),
        ) from error


def keep_and_empty(place: Place, why: str) -> Path | None:
    """Move all of the learner's in the workspace into a dated folder; the folder itself stays.

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


def remove(place: Place) -> None:
    """Remove the workspace of a place whose target is gone, and the place's folder if now empty."""
    if place.workspace.is_dir():
        shutil.rmtree(place.workspace)
    with contextlib.suppress(OSError):
        place.home.rmdir()
