"""QEMU as a process: started in the background, found again, powered off, ended by its own id.

The file with the process id outlives a QEMU that was killed, and the id may be another's by then.
So the process must name that file in its command, and must have begun when QEMU did. That moment is
counted in ticks since boot, which no change of the clock moves.
"""

from __future__ import annotations

import contextlib
import fcntl
import subprocess
import time
from collections.abc import Sequence
from pathlib import Path

import psutil

from provision.errors import TargetError, TimedOut
from provision.files import reason_of, write_atomically
from provision.local.processes import await_end, is_alive
from provision.message import Message, say
from provision.vm.machines.qemu.monitor import press_button
from provision.vm.machines.qemu.tools import last_line
from provision.waiting import wait_until

START_SECONDS = 60.0
OFF_SECONDS = 180.0  # for an emulated machine on a busy controller
PRESS_EVERY = 5.0  # a machine that still boots does not hear the button
END_SECONDS = 10.0
STARTED = "qemu.started"  # beside the file with the process id
BOOT_ID = Path("/proc/sys/kernel/random/boot_id")


def find_process(pid_file: Path) -> psutil.Process | None:
    """The QEMU that wrote `pid_file`; None when it runs no more."""
    try:
        process = psutil.Process(int(pid_file.read_text("ascii")))
        is_ours = str(pid_file) in process.cmdline() and is_alive(process)
        return process if is_ours and _began_then(process.pid, pid_file) else None
    except (OSError, ValueError, OverflowError, psutil.Error):
        return None


def _began_then(pid: int, pid_file: Path) -> bool:
    """Whether the process is as old as the one that was noted under that id.

    Without a note of that id (we were killed before it was written) the command alone decides.
    """
    try:
        noted = pid_file.with_name(STARTED).read_text("ascii").strip()
    except (OSError, ValueError):
        return True
    return noted.split()[:1] != [str(pid)] or noted == _beginning(pid)


def _beginning(pid: int) -> str:
    """The process id, the ticks since boot at which it began, and which boot that was."""
    fields = Path(f"/proc/{pid}/stat").read_text("utf-8", errors="replace").rpartition(")")[2]
    return f"{pid} {fields.split()[19]} {BOOT_ID.read_text('ascii').strip()}"


def start(command: Sequence[str], pid_file: Path, *, within: float = START_SECONDS) -> None:
    """Run QEMU until it has gone to the background; TargetError with its own words when it fails.

    One that does not get there in time is ended.
    """
    _await_free(pid_file)
    pid_file.with_name(STARTED).unlink(missing_ok=True)
    try:
        process = subprocess.Popen(
            command,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.PIPE,
            start_new_session=True,
        )
    except OSError as error:
        raise _not_started(reason_of(error)) from error
    try:
        _, told = process.communicate(timeout=within)
    except BaseException as error:
        _end_all(process)
        if isinstance(error, subprocess.TimeoutExpired):
            raise _not_started(
                say("no answer within {seconds} s", seconds=f"{within:g}")
            ) from error
        raise
    if process.returncode:
        raise _not_started(last_line(told))
    if (found := find_process(pid_file)) is None:
        raise _not_started(say("it ended at once"))
    write_atomically(pid_file.with_name(STARTED), _beginning(found.pid) + "\n")


def _await_free(pid_file: Path) -> None:
    """Wait until no QEMU holds its lock: one that was killed does so until its last thread is gone.

    The lock on the disk goes with it. TargetError when somebody keeps it.
    """

    def missing() -> Message | None:
        try:
            with pid_file.open("r+b") as file:
                fcntl.lockf(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except FileNotFoundError:
            return None
        except BlockingIOError:
            return say("a QEMU that is not known here holds {path}", path=pid_file)
        return None

    try:
        wait_until(missing, within=END_SECONDS, every=0.05)
    except TimedOut as error:
        raise TargetError(
            say(
                "The machine is not started: for {seconds} s now, a QEMU that is not known here "
                "has held {path}.",
                seconds=f"{END_SECONDS:g}",
                path=pid_file,
            ),
            next_move=say(
                "End that process (fuser {path} shows it), then run it again.", path=pid_file
            ),
        ) from error


def power_off(process: psutil.Process, monitor: Path, *, within: float = OFF_SECONDS) -> bool:
    """Press the power button and wait; True when the machine went off by itself.

    One that does not is ended by its process id.
    """
    pressed = 0.0

    def missing() -> Message | None:
        nonlocal pressed
        if not is_alive(process):
            return None
        if time.monotonic() - pressed >= PRESS_EVERY:
            pressed = time.monotonic()
            press_button(monitor)
        return say("the machine is still on")

    try:
        wait_until(missing, within=within, every=0.2)
    except TimedOut:
        end(process)
        return False
    return True


def end(process: psutil.Process, *, grace: float = END_SECONDS) -> None:
    """TERM, which QEMU obeys at once, then KILL, to this process only; TimedOut if it stays."""
    for signal in (process.terminate, process.kill):
        with contextlib.suppress(psutil.NoSuchProcess):
            signal()
        try:
            await_end([process], within=grace)
        except TimedOut:
            if signal == process.kill:
                raise
        else:
            return


def _end_all(process: subprocess.Popen[bytes]) -> None:
    """End QEMU's first process and the one in the background that it may have made already."""
    with contextlib.suppress(psutil.Error):
        for child in psutil.Process(process.pid).children(recursive=True):
            child.kill()
    process.kill()
    with contextlib.suppress(subprocess.TimeoutExpired):
        process.wait(END_SECONDS)
    if process.stderr is not None:
        process.stderr.close()


def _not_started(reason: Message) -> TargetError:
    if any(word in str(reason) for word in ("hostfwd", "host forwarding")):
        return TargetError(
            say("The machine's port was taken at the last moment: {reason}", reason=reason),
            next_move=say("Run the same command again: another port is chosen."),
        )
    return TargetError(
        say("QEMU did not start the machine: {reason}", reason=reason),
        next_move=say(
            "Mend what it says; VM_ACCELERATOR=tcg does without KVM, VM_MEMORY and VM_CPUS make "
            "the machine smaller."
        ),
    )
