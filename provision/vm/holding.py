"""One controller at a time works on a machine: a lock there, kept as long as a connection lives."""

from __future__ import annotations

import contextlib
import os
import selectors
import socket
import subprocess
import time
from collections.abc import Iterator

from provision.errors import TargetError
from provision.message import say
from provision.vm.machine import ALIAS, Machine

LOCK = "/run/lock/gpu-queue-lab"
ANSWER_SECONDS = 30.0
HOLD_SECONDS = 6 * 3600
_BUSY = 75
# Holds the lock until its standard input ends. $1 the lock, $2 who holds it.
_SCRIPT = (
    'exec 9>>"$1" || exit 74; flock -n 9 || { cat "$1"; exit 75; }; '
    f'echo "$2" >"$1"; echo held; timeout {HOLD_SECONDS} cat >/dev/null; : >"$1"'
)


@contextlib.contextmanager
def held(machine: Machine) -> Iterator[None]:
    """Hold the machine's lock; TargetError that names the holder when another controller has it.

    It has a connection of its own. When we die, that ends, and with it the lock.
    """
    who = f"{socket.gethostname()}, process {os.getpid()}, since {time.strftime('%H:%M:%S')}"
    shell = machine.as_root("sh", "-c", _SCRIPT, "sh", LOCK, who)
    argv = machine.argv(*shell)
    own = ("-o", "ControlMaster=no", "-o", "ControlPath=none")
    process = subprocess.Popen(
        (*argv[:-3], *own, *argv[-3:]),
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        start_new_session=True,
    )
    try:
        _await(process, machine)
        yield
    finally:
        _let_go(process)


def _await(process: subprocess.Popen[bytes], machine: Machine) -> None:
    """Returns when the lock is held."""
    if process.stdout is None:
        raise TargetError(say("{alias} cannot be locked.", alias=ALIAS))
    with selectors.DefaultSelector() as selector:
        selector.register(process.stdout, selectors.EVENT_READ)
        is_heard = bool(selector.select(ANSWER_SECONDS))
    line = process.stdout.readline().decode(errors="replace").strip() if is_heard else ""
    if line == "held":
        return
    with contextlib.suppress(subprocess.TimeoutExpired):
        process.wait(5)
    if process.returncode == _BUSY:
        raise TargetError(
            say("{machine} is being worked on by {who}.", machine=machine.name, who=line or "?"),
            next_move=say("Wait for it and run the same command again."),
        )
    raise TargetError(
        say("{machine} could not be locked for this run.", machine=machine.name),
        next_move=say("See that it answers and that /run/lock can be written; then run it again."),
    )


def _let_go(process: subprocess.Popen[bytes]) -> None:
    for stream in (process.stdin, process.stdout):
        if stream is not None:
            with contextlib.suppress(OSError):
                stream.close()
    try:
        process.wait(5)
    except subprocess.TimeoutExpired:
        process.kill()
        process.wait()
