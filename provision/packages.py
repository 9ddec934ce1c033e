"""Programs that come as packages of the Python index: locked by version and hash, fetched once."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Mapping
from pathlib import Path

from provision.message import Message, say


def install_locked(folder: Path, lock_file: Path, env: Mapping[str, str]) -> Message | None:
    """Install what a requirements file with hashes names into `folder`; None when that worked.

    Otherwise what pip said last. `env` is handed to pip, for its index and proxies.
    """
    if not lock_file.is_file():
        file = f"{lock_file.parent.name}/{lock_file.name}"
        return say("{file} is not there", file=file)
    command = [sys.executable, "-m", "pip", "install", "--quiet", "--no-deps", "--require-hashes"]
    command += ["--disable-pip-version-check", "--no-warn-script-location"]
    done = subprocess.run(
        [*command, "--target", str(folder), "-r", str(lock_file)],
        env=dict(env),
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        check=False,
    )
    if done.returncode == 0:
        return None
    return pip_reason(done.stderr)


def pip_reason(told: str) -> Message:
    """Why pip failed, by the last error that it wrote to standard error."""
    lines = [x for x in told.splitlines() if x.startswith("ERROR")]
    if not lines:
        return say("pip failed")
    return say("{reason}", reason=lines[-1].removeprefix("ERROR: "))
