"""One controller at a time works on a machine: a lock there, kept as long as its holder is heard.

The holder sends a byte every few seconds. A controller that died, or that the network took away,
holds nothing any more after `SILENCE_SECONDS`, whatever the connection still looks like there.
"""

from __future__ import annotations

import contextlib
import os
import selectors
import socket
import subprocess
import threading
import time
from collections.abc import Iterator

from provision.errors import TargetError, TimedOut
from provision.message import Message, say
from provision.target import Progress, Tell
from provision.vm.machine import Machine
from provision.waiting import wait_until

LOCK = "/run/lock/gpu-queue-lab"
ANSWER_SECONDS = 30.0
SILENCE_SECONDS = 30
BEAT_SECONDS = 5.0
PATIENCE = 45.0  # longer than one that is gone can hold it
_BUSY = 75
_BEAT = b"x"
# Holds the lock while it hears of us. $1 the lock, $2 who holds it, $3 the longest silence.
_SCRIPT = (
    'exec 9>>"$1" || exit 74; flock -n 9 || { cat "$1"; exit 75; }; echo "$2" >"$1"; echo held; '
    'while [ "$(timeout "$3" dd bs=1 count=1 2>/dev/null)" = x ]; do :; done; : >"$1"'
)


def _holder(line: str) -> Message:
    """Who holds the lock, from the line in it: host, process id and time of day."""
    words = line.split()
    if len(words) != 3:
        return say("{who}", who=line or "?")
    host, pid, since = words
    return say("{host}, process {pid}, since {time}", host=host, pid=pid, time=since)


@contextlib.contextmanager
def held(machine: Machine, tell: Tell, started: float) -> Iterator[None]:
    """Hold the machine's lock; TargetError that names the holder when another controller has it.

    It has a connection of its own. When we die, that ends, and with it the lock.
    """
    holder = _acquire(machine, tell, started)
    try:
        yield
    finally:
        holder.let_go()


def _acquire(machine: Machine, tell: Tell, started: float) -> _Holder:
    found: list[_Holder] = []
    told: list[Message] = []

    def missing() -> Message | None:
        holder = _Holder(machine)
        reason = holder.why_not()
        if reason is None:
            found.append(holder)
            return None
        if not told:
            told.append(reason)
            tell(Progress(reason, time.monotonic() - started))
        return reason

    try:
        wait_until(missing, within=PATIENCE, every=2.0)
    except TimedOut as error:
        raise TargetError(
            error.what, next_move=say("Wait for it and run the same command again.")
        ) from error
    return found[0]


class _Holder:
    """A connection that holds the lock, or has found it held."""

    def __init__(self, machine: Machine) -> None:
        who = f"{socket.gethostname()} {os.getpid()} {time.strftime('%H:%M:%S')}"
        words = ("sh", "-c", _SCRIPT, "sh", LOCK, who, str(SILENCE_SECONDS))
        argv = machine.argv(*machine.as_root(*words))
        own = ("-o", "ControlMaster=no", "-o", "ControlPath=none")
        self._machine = machine
        self._done = threading.Event()
        self._process = subprocess.Popen(
            (*argv[:-3], *own, *argv[-3:]),
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            start_new_session=True,
        )
        self._beat = threading.Thread(target=self._keep_beating, name="lock", daemon=True)

    def why_not(self) -> Message | None:
        """None when the lock is held now, else who holds it; TargetError when there is no telling.

        Unless it is held, the connection has ended on return.
        """
        try:
            line = self._first_line()
            if line == "held":
                self._beat.start()
                return None
            with contextlib.suppress(subprocess.TimeoutExpired):
                self._process.wait(5)
        except BaseException:
            self.let_go()
            raise
        self.let_go()
        name = self._machine.name
        if self._process.returncode == _BUSY:
            return say("{machine} is being worked on by {who}", machine=name, who=_holder(line))
        raise TargetError(
            say("{machine} could not be locked for this run.", machine=name),
            next_move=say(
                "See that it answers and that /run/lock can be written; then run it again."
            ),
        )

    def let_go(self) -> None:
        """End the connection, and with it the lock."""
        self._done.set()
        for stream in (self._process.stdin, self._process.stdout):
            if stream is not None:
                with contextlib.suppress(OSError):
                    stream.close()
        try:
            self._process.wait(5)
        except subprocess.TimeoutExpired:
            self._process.kill()
            self._process.wait()

    def _first_line(self) -> str:
        stream = self._process.stdout
        if stream is None:
            return ""
        with selectors.DefaultSelector() as selector:
            selector.register(stream, selectors.EVENT_READ)
            is_heard = bool(selector.select(ANSWER_SECONDS))
        return stream.readline().decode(errors="replace").strip() if is_heard else ""

    def _keep_beating(self) -> None:
        stream = self._process.stdin
        while stream is not None and not self._done.wait(BEAT_SECONDS):
            try:
                os.write(stream.fileno(), _BEAT)
            except (OSError, ValueError):  # ended, or let go of at this moment
                return
