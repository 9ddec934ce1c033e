"""Waiting for a condition by a deadline, keeping the last reason."""

from __future__ import annotations

import time
from collections.abc import Callable

from provision.errors import TimedOut
from provision.message import Message, say


def wait_until(missing: Callable[[], Message | None], *, within: float, every: float = 0.1) -> None:
    """Poll until `missing()` returns None; until then it returns what is not so yet.

    `within` and `every` are seconds. Raises TimedOut with the last reason.
    """
    deadline = time.monotonic() + within
    while (reason := missing()) is not None:
        if time.monotonic() >= deadline:
            raise TimedOut(say("after {seconds} s: {reason}", seconds=f"{within:g}", reason=reason))
        time.sleep(every)
