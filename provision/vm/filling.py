"""Whether a full disk is behind a task that failed; the machine is asked, as its words may hide it.

sftp says "Failure" and nothing more, k3s that it did not start; dpkg and pip advise something else.
"""

from __future__ import annotations

import shutil
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from provision.errors import LabError
from provision.message import Message, say
from provision.vm.events import NO_ROOM
from provision.vm.machine import Machine, run

ASK_SECONDS = 20.0
LOW_MIB, LOW_PERCENT = 64, 85  # both: a small file system is not full for being small
LOW_NAMES = 20  # file names that can still be given (inodes)
# Where the roles and what they start write; each may be a file system of its own.
_FOLDERS = (
    *("/", "/etc", "/home", "/opt", "/opt/gpu-queue-lab", "/root", "/run", "/tmp", "/usr"),
    *("/usr/local", "/var", "/var/cache", "/var/lib", "/var/lib/kubelet", "/var/lib/rancher"),
    *("/var/lib/rancher/k3s", "/var/lib/rancher/k3s/agent", "/var/lib/rancher/k3s/server/db"),
    *("/var/log", "/var/tmp"),
)
# $@: folders. Blocks of 1 KiB first, then a line between, then inodes.
_SCRIPT = 'df -Pk "$@" 2>/dev/null; echo --; df -Pi "$@" 2>/dev/null; exit 0'


@dataclass(frozen=True, slots=True)
class Full:
    """A file system that is full, or nearly so; `is_names` when it is its inodes that are used."""

    folder: str
    free: int
    is_names: bool = False


def advice(machine: Machine, home: Path, cause: str) -> Message | None:
    """What to do when the machine, or this one, has no room left; None when it has."""
    found = next(_full_there(machine), None)
    if found is not None and found.is_names:
        return say(
            "No more files fit into {folder} of {machine} (df -i shows it): remove some there, "
            "then run the same command again: it goes on.",
            folder=found.folder,
            machine=machine.name,
        )
    if found is not None:
        return say(
            "{free} MiB are free in {folder} of {machine}: free some space there, then run the "
            "same command again: it goes on.",
            free=found.free,
            folder=found.folder,
            machine=machine.name,
        )
    if not any(sign in cause for sign in NO_ROOM):
        return None
    free = shutil.disk_usage(home).free >> 20
    if free < LOW_MIB:
        return say(
            "{free} MiB are free in {folder} here: free some space, then run the same command "
            "again: it goes on.",
            free=free,
            folder=home,
        )
    return say(
        "Free some space on {machine} (df -h and df -i show where), then run the same command "
        "again: it goes on.",
        machine=machine.name,
    )


def _full_there(machine: Machine) -> Iterator[Full]:
    command = machine.as_root("sh", "-c", _SCRIPT, "sh", *_FOLDERS)
    try:
        done = run(machine, command, input=None, within=ASK_SECONDS)
    except LabError:
        return
    yield from understand(done.stdout.decode(errors="replace"))


def understand(answer: str) -> Iterator[Full]:
    """The full file systems in what `df` said, of blocks and then of inodes."""
    blocks, _, inodes = answer.partition("\n--\n")
    for folder, free, percent in _rows(blocks):
        if free >> 10 < LOW_MIB and percent >= LOW_PERCENT:
            yield Full(folder, free >> 10)
    for folder, free, percent in _rows(inodes):
        if free < LOW_NAMES and percent >= LOW_PERCENT:
            yield Full(folder, free, is_names=True)


def _rows(table: str) -> Iterator[tuple[str, int, int]]:
    """Where each file system is mounted, what is free there, and how many percent are used."""
    for line in table.splitlines():
        words = line.split(None, 5)
        if len(words) == 6 and words[3].isdecimal() and words[4].rstrip("%").isdecimal():
            yield words[5], int(words[3]), int(words[4].rstrip("%"))
