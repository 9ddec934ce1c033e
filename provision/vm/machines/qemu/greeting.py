"""Waiting for a machine that was powered on: until it lets us in, and its first boot is done."""

from __future__ import annotations

from pathlib import Path

import psutil

from provision.errors import TargetError, TimedOut
from provision.local.processes import is_alive
from provision.message import Message, say
from provision.vm.contacting import is_key_refused
from provision.vm.machine import Machine, run
from provision.vm.machines.qemu.command import KVM
from provision.waiting import wait_until

BOOT_SECONDS = {KVM: 300.0}
SLOW_BOOT_SECONDS = 1500.0
LOGIN_SECONDS = 30.0
TAIL_BYTES, TAIL_LINES = 4096, 3
CLOUD_INIT = ("cloud-init", "status", "--wait")


def boot_seconds(accelerator: str) -> float:
    """How long a boot may take until its end, in seconds."""
    return BOOT_SECONDS.get(accelerator, SLOW_BOOT_SECONDS)


def await_login(machine: Machine, process: psutil.Process, console: Path, *, within: float) -> None:
    """Returns when the machine ran a command; TargetError when it ended or nobody got in."""

    def missing() -> Message | None:
        if not is_alive(process):
            raise TargetError(
                say("The machine went off while it booted; {last}", last=_last_words(console)),
                next_move=say("Read {path}, then run the same command again.", path=console),
            )
        try:
            done = run(machine, ("true",), input=None, within=LOGIN_SECONDS)
        except TimedOut as error:
            return error.what
        if done.returncode == 0:
            return None
        if is_key_refused(done):
            return say("it shows another host key than the one that it was given")
        return say("{reason}", reason=done.last_line)

    try:
        wait_until(missing, within=within, every=1.0)
    except TimedOut as error:
        raise TargetError(
            say(
                "The machine runs, but lets nobody in, {why}; {last}",
                why=error.what,
                last=_last_words(console),
            ),
            next_move=say(
                "Read {path}. The image must have cloud-init and sshd. Run the same command again "
                "to go on waiting, or make destroy.",
                path=console,
            ),
        ) from error


def await_first_boot(machine: Machine, *, within: float) -> Message | None:
    """Returns when cloud-init is done; what is to be said of it, None when all went well."""
    try:
        done = run(machine, CLOUD_INIT, input=None, within=within)
    except TimedOut as error:
        raise TargetError(
            say("cloud-init is not done in the machine, after {seconds} s.", seconds=f"{within:g}"),
            next_move=say("Run the same command again to go on waiting."),
        ) from error
    if done.returncode == 0:
        return None
    if not done.is_reached:
        raise TargetError(
            say("The machine was lost while it booted: {reason}", reason=done.last_line),
            next_move=say("Run the same command again; it goes on where this one stopped."),
        )
    return say(
        "cloud-init had trouble in the machine; cloud-init status --long says there what it was."
    )


def _last_words(console: Path) -> Message:
    """The end of what the machine wrote to its console."""
    try:
        with console.open("rb") as file:
            file.seek(0, 2)
            file.seek(max(0, file.tell() - TAIL_BYTES))
            text = file.read().decode(errors="replace")
    except OSError:
        return say("its console cannot be read.")
    lines = [shown for line in text.splitlines() if (shown := _plain(line))]
    if not lines:
        return say("its console is silent.")
    return say("its console ends with:\n{lines}", lines="\n".join(lines[-TAIL_LINES:]))


def _plain(line: str) -> str:
    """A line without control characters; the machine may write what it likes."""
    return "".join(c for c in line if c.isprintable()).strip()[:200]
