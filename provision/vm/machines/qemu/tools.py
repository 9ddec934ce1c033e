"""The programs of QEMU that a machine is made with, and whether this controller can make one."""

from __future__ import annotations

import platform
import shutil
import subprocess
from dataclasses import dataclass
from pathlib import Path

from provision.errors import TargetError
from provision.files import reason_of
from provision.message import Message, say

SYSTEM, IMG = "qemu-system-x86_64", "qemu-img"
PROCESSORS = ("x86_64", "AMD64")
IMG_SECONDS = 120.0


@dataclass(frozen=True, slots=True)
class Tools:
    """Absolute paths of the emulator and of the tool for disk images."""

    system: Path
    img: Path


def find_tools(search_path: str, processor: str | None = None) -> Tools:
    """The programs along PATH; TargetError when one is missing or the processor is another one."""
    found = processor or platform.machine()
    if found not in PROCESSORS:
        raise TargetError(
            say("QEMU's machine is for x86-64 processors; this is {processor}.", processor=found),
            next_move=given_instead(),
        )
    paths = {name: shutil.which(name, path=search_path) for name in (SYSTEM, IMG)}
    missing = [name for name, path in paths.items() if path is None]
    if missing:
        raise TargetError(
            say(
                "There is no {names} here, so no machine can be made.",
                names=", ".join(missing),
            ),
            next_move=say(
                "Install QEMU (Debian, Ubuntu: apt-get install qemu-system-x86 qemu-utils), or use "
                "a machine that you have: VM=ssh HOST=user@host."
            ),
        )
    return Tools(Path(str(paths[SYSTEM])).resolve(), Path(str(paths[IMG])).resolve())


def given_instead() -> Message:
    """The way out where no machine can be made here."""
    return say("Use a machine that you have: make provision TARGET=vm VM=ssh HOST=user@host.")


def run_img(tools: Tools, *arguments: str) -> bytes:
    """Run qemu-img; what it wrote. TargetError with its last line when it fails or hangs."""
    try:
        done = subprocess.run(
            (str(tools.img), *arguments),
            stdin=subprocess.DEVNULL,
            capture_output=True,
            timeout=IMG_SECONDS,
            check=False,
        )
    except (OSError, subprocess.TimeoutExpired) as error:
        raise _failed(reason_of(error)) from error
    if done.returncode:
        raise _failed(last_line(done.stderr))
    return done.stdout


def last_line(output: bytes) -> Message:
    """The last thing that a program said, or that it said nothing."""
    lines = output.decode(errors="replace").strip().splitlines()
    if not lines:
        return say("it said nothing")
    return say("{reason}", reason=lines[-1].strip().rstrip("."))


def _failed(reason: Message) -> TargetError:
    return TargetError(
        say("qemu-img failed: {reason}", reason=reason),
        next_move=say("Look at the disk and its free space, then run the same command again."),
    )
