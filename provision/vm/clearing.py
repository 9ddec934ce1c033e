"""Whether a given machine can be cleared of the lab: it answers, or nobody is there any more."""

from __future__ import annotations

from pathlib import Path

from provision.errors import TargetError, TimedOut
from provision.message import Message, say
from provision.vm.contacting import is_key_refused, is_silent, known_hosts_of, why_shut
from provision.vm.machine import Done, Machine, run

ANSWER_SECONDS = 25.0


def lets_in(machine: Machine, home: Path) -> bool:
    """Whether the machine runs a command for us; False when nobody answers.

    TargetError for all else: a machine that is there would keep what was put on it for ever.
    """
    try:
        done = run(machine, ("true",), input=None, within=ANSWER_SECONDS)
    except TimedOut:
        return False
    if done.returncode == 0:
        return True
    if is_silent(done):
        return False
    raise TargetError(
        say(
            "The lab cannot be taken off {machine}: {why}. The place stays.",
            machine=machine.name,
            why=why_shut(done, machine) or done.last_line.rstrip(".") or "?",
        ),
        next_move=_next_move(done, machine, home),
    )


def _next_move(done: Done, machine: Machine, home: Path) -> Message:
    if is_key_refused(done):
        return say(
            "Compare it on the machine: ssh-keygen -lf /etc/ssh/ssh_host_ed25519_key.pub. If the "
            "new one is right, remove {path}, run make provision, then make destroy. If that "
            "machine is gone for good, remove the folder {home} by hand.",
            path=known_hosts_of(machine),
            home=home,
        )
    return say(
        "Let {user} in there again, or run make provision with the right HOST and KEY; then make "
        "destroy. If that machine is no longer yours, remove the folder {home} by hand: what was "
        "put on the machine stays there.",
        user=machine.user,
        home=home,
    )
