"""A machine that runs and does nothing: it is let go on, or switched off to be started anew."""

from __future__ import annotations

import shutil
from pathlib import Path

import psutil

from provision.errors import TargetError
from provision.message import Message, say
from provision.vm.machines.qemu.monitor import DEAD, STILL, go_on, state_of
from provision.vm.machines.qemu.process import end
from provision.vm.machines.qemu.room import KEEP_DISK


def wake(process: psutil.Process, monitor: Path, folder: Path) -> Message | None:
    """See to it that the machine does something; what is to be said of it, None for nothing.

    QEMU stops it when its disk cannot be written because the controller's own is full. TargetError
    while that is still so. One that died is switched off: `process` runs no more then.
    """
    state = state_of(monitor)
    if state in DEAD:
        end(process)
        return say("The machine had died ({state}) and is started anew.", state=state)
    if state not in STILL:
        return None
    free = shutil.disk_usage(folder).free >> 20
    if state == "io-error" and free < KEEP_DISK:
        raise TargetError(
            say(
                "The machine stands still: its disk in {path} could not be written, {free} MiB are "
                "free.",
                path=folder,
                free=free,
            ),
            next_move=say("Free some space and run the same command again; it goes on then."),
        )
    go_on(monitor)
    return say("The machine stood still ({state}) and goes on.", state=state)
