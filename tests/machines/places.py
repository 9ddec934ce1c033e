"""Where machines and what they are made of lie."""

from __future__ import annotations

import contextlib
import fcntl
import os
from collections.abc import Iterator
from pathlib import Path

from provision.settings import Settings

# Of the whole system, so that `down --all` finds what any checkout has started.
RUNS = Path("/var/lib/gpu-queue-lab-machines")


def cache() -> Path:
    """The folder for what is made once: Debian's files, bundles, built programs."""
    return settings().cache / "machines"


def settings() -> Settings:
    """The settings of this environment; Go's caches stay, since tests build more than once."""
    return Settings.from_environment({**os.environ, "KEEP_GO_CACHE": "1"})


@contextlib.contextmanager
def alone(folder: Path) -> Iterator[None]:
    """Hold the lock of a folder of the cache: what is being made there is made by one only."""
    folder.mkdir(parents=True, exist_ok=True)
    with (folder / ".lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        yield
