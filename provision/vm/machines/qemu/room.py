"""Whether this controller has what the machine is to get; each lack is told with what would fit."""

from __future__ import annotations

import os
import shutil
from pathlib import Path

import psutil

from provision.errors import TargetError
from provision.message import say
from provision.vm.settings import QemuSettings

LEAST_MEMORY, LEAST_DISK = 2048, 8192  # MiB, as the settings have them
SPARE_MEMORY = 256  # MiB that stay for the controller
KEEP_DISK = 512  # MiB that a machine which is there already needs to start


def require_room(wanted: QemuSettings, folder: Path, *, is_new: bool) -> None:
    """TargetError when processors, memory or disk of this controller do not suffice.

    The disk of a new machine must fit whole: when the controller's disk runs full later, the
    machine stands still in the middle of its work.
    """
    _require_cpus(wanted.cpus)
    _require_memory(wanted.memory)
    _require_disk(wanted.disk if is_new else KEEP_DISK, folder, is_new=is_new)


def _require_cpus(cpus: int) -> None:
    found = os.cpu_count() or 1
    if cpus > found:
        raise TargetError(
            say(
                "The machine is to have {cpus} processors; there are {found} here.",
                cpus=cpus,
                found=found,
            ),
            next_move=say("Set VM_CPUS={found} or less.", found=found),
        )


def _require_memory(memory: int) -> None:
    free = (psutil.virtual_memory().available >> 20) - SPARE_MEMORY
    if memory > free:
        fitting = free // 256 * 256
        less = say("set VM_MEMORY={fitting}M", fitting=fitting)
        raise TargetError(
            say(
                "The machine is to have {memory} MiB of memory; {free} MiB can be had here.",
                memory=memory,
                free=max(free, 0),
            ),
            next_move=say("End some programs, or {less}.", less=less)
            if fitting >= LEAST_MEMORY
            else say("End some programs, or use another machine: VM=ssh HOST=user@host."),
        )


def _require_disk(disk: int, folder: Path, *, is_new: bool) -> None:
    free = shutil.disk_usage(folder).free >> 20
    if disk <= free:
        return
    fitting = (free - 1024) // 1024
    can_shrink = is_new and fitting << 10 >= LEAST_DISK
    raise TargetError(
        say(
            "The machine's disk needs {disk} MiB in {path}; {free} MiB are free.",
            disk=disk,
            path=folder,
            free=free,
        ),
        next_move=say("Free some space there, or set VM_DISK={fitting}G.", fitting=fitting)
        if can_shrink
        else say("Free some space there, or choose another folder with LAB_HOME."),
    )
