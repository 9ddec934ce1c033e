"""Errors that a person reads: what happened, and what to do next."""

from __future__ import annotations

from provision.message import Message


class LabError(Exception):
    """What happened and the next move, both as Messages. Caught once, in `lab/cli.py`.

    `exit_code` is that of the `lab` command: 3, the lab or its target cannot do it now.
    """

    exit_code = 3

    def __init__(self, what: Message, *, next_move: Message | None = None) -> None:
        super().__init__(str(what))
        self.what = what
        self.next_move = next_move


class UsageError(LabError):
    """The command was called in a way that cannot be meant; exit code 2."""

    exit_code = 2


class TargetError(LabError):
    """The place where the lab runs could not be brought up, read or taken down."""


class TimedOut(LabError):
    """A condition did not come true in time; `what` holds the last reason, not just "timeout"."""
