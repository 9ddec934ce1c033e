"""mmdebstrap with a time limit, of which nothing is left when it is killed.

As root it binds the host's /dev/shm, /dev/pts and /sys into the tree that it makes: whoever removes
the tree of one that was killed must not meet them, nor anybody who still writes there.
"""

from __future__ import annotations

import os
import subprocess
import tempfile
from pathlib import Path

from provision.errors import TargetError
from provision.message import say
from tests.machines.shell import failure

# Mounts that only it sees, and processes that all end with it.
APART = ("unshare", "--mount", "--pid", "--fork", "--kill-child", "--mount-proc")


def bootstrap(*words: str | Path, within: float) -> None:
    """Make a Debian's files; TargetError when it fails or takes too long."""
    command = ("mmdebstrap", "--quiet", "--mode=root", "--variant=minbase", *words)
    with tempfile.TemporaryDirectory() as folder:
        # apt looks into it as a user of its own.
        Path(folder).chmod(0o755)
        run_apart(*command, within=within, temporary=folder)


def run_apart(*command: str | Path, within: float, temporary: str) -> None:
    """Run a program in namespaces of its own; when this returns or raises, all of it has ended."""
    argv = [str(part) for part in command]
    path = f"{os.environ.get('PATH', '')}:/usr/sbin:/sbin"
    with subprocess.Popen(
        [*APART, *argv],
        env={**os.environ, "PATH": path, "TMPDIR": temporary},
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
    ) as process:
        try:
            text, _ = process.communicate(timeout=within)
        except BaseException as error:
            process.kill()
            # The output ends when the last one that writes to it has ended.
            process.communicate()
            if isinstance(error, subprocess.TimeoutExpired):
                raise TargetError(
                    say("{command}: {reason}", command=argv[0], reason=error)
                ) from error
            raise
    if process.returncode:
        raise failure(argv, text, process.returncode)
