"""Whether the components of a place are ready while its checks run."""

from __future__ import annotations

import threading

from lab.places import Place
from provision.errors import LabError
from provision.message import Message, say
from provision.target import TargetStatus


class Probe:
    """Asks the target how its components are, while the checks run.

    A verdict that was read from a place whose controllers do not run would blame the learner for
    what nobody did: whatever the checks say, it is then CANNOT TELL.
    """

    def __init__(self, place: Place) -> None:
        self._place = place
        self._answer: TargetStatus | LabError | None = None
        self._thread = threading.Thread(target=self._ask, daemon=True)
        self._thread.start()

    def _ask(self) -> None:
        try:
            self._answer = self._place.target.status()
        except LabError as error:
            self._answer = error

    def trouble(self) -> tuple[Message, Message | None] | None:
        """What is not ready and what to do, None when all that the cluster needs is."""
        self._thread.join(timeout=10)
        answer = self._answer
        if answer is None:
            return say("The components of the place do not answer."), _MEND
        if isinstance(answer, LabError):
            return answer.what, answer.next_move
        needed = [c for c in answer.components if c.is_needed]
        down = [c for c in needed if not c.is_ready]
        if not down and needed:
            return None
        names = ", ".join(_TITLES.get(c.name, c.name) for c in down) or "-"
        what = (
            say("The place is down: {names}.", names=names)
            if all(not c.is_running for c in needed)
            else say("Not ready: {names}.", names=names)
        )
        if down and down[0].name == _MACHINE and down[0].detail is not None:  # it is the cause
            what = say("{what} The machine: {why}.", what=what, why=down[0].detail)
        return what, answer.remark or _MEND


# Products whose own spelling differs from the name of their process.
_TITLES = {"kueue": "Kueue", "kwok": "KWOK"}
_MACHINE = "machine"
_MEND = say("Look with make status, bring it back with make provision, then check again.")
