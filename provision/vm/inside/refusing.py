"""What the target inside refuses, in words."""

from __future__ import annotations

from provision.errors import TargetError
from provision.message import say


def from_outside(verb: str) -> TargetError:
    """The error for what is done from outside only."""
    return TargetError(
        say("The machine that the lab lives in is not taken down from inside."),
        next_move=say("Run make {verb} outside, where it was provisioned.", verb=verb),
    )


def nothing_yet(lab: str) -> TargetError:
    """The error for a machine that was not provisioned for a lab."""
    return TargetError(
        say("There is no cluster for {lab} yet.", lab=lab),
        next_move=say("Provision it from outside: make provision in the project's folder."),
    )
