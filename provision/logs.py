"""Asking for a log by its component's name, as every target is asked."""

from __future__ import annotations

from collections.abc import Iterable

from provision.errors import UsageError
from provision.message import say


def unknown_log(name: str, known: Iterable[str]) -> UsageError:
    """The error for a log that is not among the `known` ones; an empty `name` was not said."""
    names = ", ".join(known)
    return UsageError(
        say("There is no log {name}; there are: {known}.", name=name, known=names)
        if name
        else say("Whose log? There are: {known}.", known=names),
        next_move=say("Write one of these, as in `make logs NAME=kueue`."),
    )
