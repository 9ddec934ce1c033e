"""What the lab needs of this machine and of its own files, beside the target."""

from __future__ import annotations

import os
import platform
import shutil
from collections.abc import Iterator

from lab.places import Place, require_folder
from lab.progress import ProgressLog
from provision.errors import LabError
from provision.health import Diagnosis, bad, good, note
from provision.message import say

# Beside the built programs: what commands call. `make` only saves typing.
NEEDED = ("sh",)
HANDY = ("make", "bash")


def examine_tools() -> Iterator[Diagnosis]:
    """Python, and the programs that commands call."""
    yield good("tools.python", say("Python {version}", version=platform.python_version()))
    for tool in (*NEEDED, *HANDY):
        path = shutil.which(tool)
        if path is not None:
            yield good(f"tools.{tool}", say("{tool} is {path}", tool=tool, path=path))
        elif tool in NEEDED:
            what = say("there is no {tool}", tool=tool)
            yield bad(f"tools.{tool}", what, say("install {tool}", tool=tool))
        else:
            what = say("there is no {tool}; the lab works without it", tool=tool)
            yield note(f"tools.{tool}", what)


def examine_files(place: Place, *, is_here: bool = True) -> Iterator[Diagnosis]:
    """The learner's folder, where it `is_here`, and the record of progress."""
    if is_here:
        yield _workspace(place)
    try:
        records = ProgressLog(place.progress_file).records()
    except LabError as error:
        yield bad("record", error.what, error.next_move or say("make reset starts anew"))
        return
    passed = sum(bool(record.passed_at) for record in records.values())
    what = say(
        "the record of progress can be read: {passed} of {count} steps passed",
        passed=passed,
        count=len(place.lab.steps),
    )
    yield good("record", what)


def _workspace(place: Place) -> Diagnosis:
    folder = place.workspace
    try:
        require_folder(folder)
    except LabError as error:
        return bad("workspace", error.what, error.next_move or say("move it away"))
    if not folder.exists():
        return note(
            "workspace",
            say("your folder {path} is not there yet", path=folder),
            say("make provision makes it"),
        )
    if not os.access(folder, os.R_OK | os.W_OK | os.X_OK):
        return bad(
            "workspace",
            say("your folder {path} cannot be read and written", path=folder),
            say("mend its permissions, or set LAB_WORKSPACE to another folder"),
        )
    return good("workspace", say("your folder is {path}", path=folder))
