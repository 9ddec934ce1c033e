"""Why a machine that answers will not do: errors in plain words, each with the next move."""

from __future__ import annotations

from pathlib import Path

from provision.errors import TargetError, UsageError
from provision.message import say
from provision.vm.machine import Done, Machine


def another_machine(login: str, before: Machine) -> TargetError:
    """The error for a HOST that is not the machine that the place lives in."""
    return TargetError(
        say(
            "This place lives in {before}, and {login} is another machine: its host key differs.",
            before=before.name,
            login=login,
        ),
        next_move=say(
            "Leave HOST out to go on with {before}, or remove the place first: make destroy.",
            before=before.name,
        ),
    )


def no_shell(machine: Machine, done: Done) -> TargetError:
    """The error for a login that ends without running a command."""
    return TargetError(
        say(
            "{machine} lets {user} log in, but runs no command: {why}.",
            machine=machine.name,
            user=machine.user,
            why=done.last_line or say("exit code {code}", code=done.returncode),
        ),
        next_move=say("Name a login with a shell of its own in HOST=user@host."),
    )


def no_root(machine: Machine, reason: str) -> TargetError:
    """The error for a login that is not root and may not become it."""
    return TargetError(
        say(
            "{user} on {machine} is not root and may not become it without a password: {why}.",
            user=machine.user,
            machine=machine.name,
            why=reason or say("sudo failed"),
        ),
        next_move=say(
            "Log in as root (HOST=root@...), or allow it there in a file of /etc/sudoers.d: "
            "{user} ALL=(ALL) NOPASSWD: ALL",
            user=machine.user,
        ),
    )


def lost_key(path: Path) -> UsageError:
    """The error for a remembered key whose file is not there any more."""
    return UsageError(
        say("The private key {path}, which got into this place's machine, is gone.", path=path),
        next_move=say("Name another one in KEY, or write KEY= with nothing for your own keys."),
    )
