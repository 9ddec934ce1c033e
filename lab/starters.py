"""Files that a learner finds in the workspace: today a Makefile that hands on to the project's.

A starter is replaced or removed only while it holds just what was laid: the place keeps a copy
to compare. One that was changed, or that stood there before, is the learner's.
"""

from __future__ import annotations

import contextlib
import shlex
from collections.abc import Mapping
from pathlib import Path

from lab.places import Place
from provision.files import write_atomically

MAKEFILE = "Makefile"
PROJECT = Path(__file__).parents[1]
# Where a place is, as far as somebody has said so; the rest is the same in every shell.
TOLD = ("LAB_HOME", "LAB_WORKSPACE", "LAB_CACHE", "TARGET")
TEXT = """\
# Made by gpu-queue-lab, so that `make check STEP=5` works in this folder, too.
# Change it as you like: from then on it is yours, and stays as it is.
{exports}
export STEP JOB NAME NAMESPACE FORMAT OUT
.PHONY: help check step hint why history report status open

help:
\t@echo "make check step hint why history report status open"

check step hint why history report status open:
\t@case "$$OUT" in ""|/*) ;; *) OUT="$$PWD/$$OUT" ;; esac; \\
\texec $(MAKE) --no-print-directory -C {project} $@ OUT="$$OUT"
"""


def makefile(place: Place, environment: Mapping[str, str], project: Path = PROJECT) -> str | None:
    """The text of the Makefile; None when a path cannot stand in one."""
    told = {"LAB": place.lab.slug}
    told |= {name: environment[name] for name in TOLD if environment.get(name)}
    if any("\n" in value for value in (*told.values(), str(project))):
        return None
    exports = "\n".join(f"export {name} := {_value(value)}" for name, value in told.items())
    return TEXT.format(exports=exports, project=shlex.quote(str(project)).replace("$", "$$"))


def lay_starters(place: Place, environment: Mapping[str, str]) -> None:
    """Lay the starters where nothing is, or only what we have laid before; never in its place."""
    file, text = place.workspace / MAKEFILE, makefile(place, environment)
    is_free = not file.is_symlink() and (not file.exists() or is_untouched(place, file))
    if text is not None and is_free and place.workspace.is_dir():
        write_atomically(_copy(place), text)
        write_atomically(file, text, mode=0o644)


def take_starters(place: Place) -> None:
    """Remove those that hold just what was laid there."""
    file = place.workspace / MAKEFILE
    if is_untouched(place, file):
        file.unlink()


def is_untouched(place: Place, file: Path) -> bool:
    """Whether this is a starter as it was laid."""
    with contextlib.suppress(OSError):
        is_ours = file.name == MAKEFILE and not file.is_symlink() and file.is_file()
        return is_ours and file.read_bytes() == _copy(place).read_bytes()
    return False


def _copy(place: Place) -> Path:
    return place.home / "starters" / MAKEFILE


def _value(text: str) -> str:
    """A value that make reads as it is."""
    return text.replace("$", "$$").replace("#", "\\#")
