"""Files that a learner finds in the workspace: today a Makefile that hands on to the project's.

Where there is no project's folder, as in a machine of the vm target, it calls `lab` itself.

A starter is replaced or removed only while it holds just what was laid: the place keeps a copy
to compare. One that was changed, or that stood there before, is the learner's.
"""

from __future__ import annotations

import contextlib
import shlex
import sys
from collections.abc import Mapping
from pathlib import Path

from lab.places import Place
from provision.files import write_atomically

MAKEFILE = "Makefile"
PROJECT = Path(__file__).parents[1]
# Where a place is, as far as somebody has said so; the rest is the same in every shell.
TOLD = ("LAB_HOME", "LAB_WORKSPACE", "LAB_CACHE", "TARGET")
VERBS = "step start check hint why labs history report doctor status logs open"
TEXT = """\
# Made by gpu-queue-lab, so that `make check STEP=5` works in this folder, too.
# Change it as you like: from then on it is yours, and stays as it is.
{exports}
export STEP JOB NAME NAMESPACE FORMAT OUT
.PHONY: help {verbs}

help:
\t@echo "make {verbs}"

{verbs}:
\t@case "$$OUT" in ""|/*) ;; *) OUT="$$PWD/$$OUT" ;; esac; \\
\texec $(MAKE) --no-print-directory -C {project} $@ OUT="$$OUT"
"""

# For where `lab` is installed as a program. Words reach it as environment variables, never as shell
# text; an empty number is no argument.
INSTALLED = """\
# Made by gpu-queue-lab, so that `make check STEP=5` works in this folder.
# Change it as you like: from then on it is yours, and stays as it is.
{exports}
export STEP JOB NAME NAMESPACE FORMAT OUT
.PHONY: help {verbs}

help:
\t@echo "make {verbs}"

step start check hint:
\t@{program} $@ -- $${{STEP:+"$$STEP"}}

logs:
\t@{program} logs -- "$$NAME"

why:
\t@{program} why $${{NAMESPACE:+--namespace="$$NAMESPACE"}} -- "$$JOB"

report:
\t@{program} report --format "$${{FORMAT:-text}}" $${{OUT:+--out="$$OUT"}}

labs history doctor status open:
\t@{program} $@
"""


def makefile(place: Place, environment: Mapping[str, str], project: Path = PROJECT) -> str | None:
    """The text of the Makefile; None when a path cannot stand in one.

    A `project` without a Makefile is no project's folder: `lab` is called then.
    """
    told = {"LAB": place.lab.slug}
    is_project = (project / MAKEFILE).is_file()
    # An installed program knows its kind of place: what the role has said once is not repeated.
    names = TOLD if is_project else [name for name in TOLD if name != "TARGET"]
    told |= {name: environment[name] for name in names if environment.get(name)}
    if any("\n" in value for value in (*told.values(), str(project))):
        return None
    exports = "\n".join(f"export {name} := {_value(value)}" for name, value in told.items())
    if not is_project:
        return INSTALLED.format(exports=exports, program=_word(str(_program())), verbs=VERBS)
    return TEXT.format(exports=exports, project=_word(str(project)), verbs=VERBS)


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


def _program() -> Path:
    """`lab` as it was called, when that is an installed program; else the one of this Python."""
    for candidate in (Path("/usr/local/bin/lab"), Path(sys.executable).parent / "lab"):
        if candidate.is_file():
            return candidate
    return Path("lab")


def _word(text: str) -> str:
    """One word of a recipe's shell."""
    return shlex.quote(text).replace("$", "$$")


def _copy(place: Place) -> Path:
    return place.home / "starters" / MAKEFILE


def _value(text: str) -> str:
    """A value that make reads as it is."""
    return text.replace("$", "$$").replace("#", "\\#")
