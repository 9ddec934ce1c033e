"""Where a Unix socket of a place goes: its path may take no more than about 100 bytes."""

from __future__ import annotations

import contextlib
import hashlib
import os
from pathlib import Path

from provision.errors import TargetError
from provision.message import say

SOCKET_LIMIT = 90  # of 108 bytes: supervisor binds the path with its process id behind it first
RUNTIME = Path("/tmp")


def short_socket(inside: Path, runtime: Path = RUNTIME) -> Path:
    """The path `inside` a place, or one in a private folder below `runtime` when that is too long.

    The folder of the socket is made. Raises TargetError when the private one is somebody else's.
    """
    if len(os.fsencode(inside)) <= SOCKET_LIMIT:
        inside.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
        return inside
    folder = runtime / f"gpu-queue-lab-{os.getuid()}"
    with contextlib.suppress(FileExistsError):
        folder.mkdir(mode=0o700)
    found = folder.lstat()
    if found.st_uid != os.getuid() or found.st_mode & 0o077 or folder.is_symlink():
        raise TargetError(
            say("{path} is not a folder that only you may enter.", path=folder),
            next_move=say("Remove it, or choose a shorter LAB_HOME."),
        )
    return folder / f"{hashlib.sha256(os.fsencode(inside)).hexdigest()[:16]}.sock"
