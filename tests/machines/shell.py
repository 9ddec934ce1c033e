"""Programs of the machine that the tests run on, each with a time limit."""

from __future__ import annotations

import os
import subprocess
from collections.abc import Mapping, Sequence
from pathlib import Path

from provision.errors import TargetError
from provision.message import say

LINES = 8


def run(
    *command: str | Path,
    within: float = 60,
    folder: Path | None = None,
    env: Mapping[str, str] | None = None,
) -> str:
    """What a program prints; TargetError with its last lines when it fails or takes too long."""
    argv = [str(part) for part in command]
    try:
        done = subprocess.run(
            argv,
            cwd=folder,
            env={**os.environ, **(env or {})},
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            timeout=within,
            check=False,
        )
    except (OSError, subprocess.TimeoutExpired) as error:
        raise TargetError(say("{command}: {reason}", command=argv[0], reason=error)) from error
    if done.returncode:
        raise failure(argv, done.stderr or done.stdout, done.returncode)
    return done.stdout


def succeeds(*command: str | Path, within: float = 60) -> bool:
    """Whether a program ends well; what it says is nobody's concern."""
    try:
        run(*command, within=within)
    except TargetError:
        return False
    return True


def failure(argv: Sequence[str], text: str, code: int) -> TargetError:
    """The error of a program that failed, with its last lines."""
    lines = " / ".join(text.strip().splitlines()[-LINES:])
    return TargetError(
        say("{command} ended with {code}: {lines}", command=argv[0], code=code, lines=lines)
    )
