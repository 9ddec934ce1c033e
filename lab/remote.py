"""The lab inside the machine that a place lives in, asked over SSH.

What changes the learner's things is done by the lab there. Words go on standard input and come on
standard output: neither an answer nor a token stands among the arguments of a process.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from checks.outcome import message_from_json
from lab.places import Place
from provision.errors import LabError
from provision.message import say
from provision.vm.contacting import why_not_in, why_shut
from provision.vm.machine import Done, Machine, run

PROGRAM = "/usr/local/bin/lab"
REACH_SECONDS = 20.0


@dataclass(frozen=True, slots=True)
class Inside:
    """One way into a machine; `language` is the one its lab speaks in a shell."""

    machine: Machine
    slug: str
    language: str

    def command(self, *arguments: str) -> tuple[str, ...]:
        """A command of the lab in the machine, as root."""
        root = () if self.machine.is_root else ("sudo", "-n", "-H")
        chosen = ("env", f"LAB_LANG={self.language}", f"LAB={self.slug}")
        return (*root, *chosen, PROGRAM, *arguments)

    def ask(self, verb: str, data: Mapping[str, object], *, within: float) -> Mapping[str, Any]:
        """What a hidden command of the lab there answers; `within` is in seconds.

        Raises LabError: its own, in this reader's language, or one about the way to it.
        """
        words = json.dumps(data).encode()
        done = run(self.machine, self.command("here", verb), input=words, within=within)
        if not done.is_reached:
            raise self._unreached(done)
        try:
            # A start-up file of the shell there may print something first.
            answer = json.loads(done.stdout[max(done.stdout.find(b"{\n"), 0) :])
        except ValueError as error:
            raise self._unheard(done) from error
        if not isinstance(answer, dict):
            raise self._unheard(done)
        if "error" in answer:
            raise _told(answer["error"])
        if done.returncode:
            raise self._unheard(done)
        return answer

    def terminal(self, *arguments: str) -> tuple[str, ...]:
        """The local command that runs one of the lab there on this terminal.

        LabError when the machine does not answer: ssh itself would say it in its own words.
        """
        done = run(self.machine, ("true",), input=None, within=REACH_SECONDS)
        if not done.is_reached:
            raise self._unreached(done)
        ssh, *rest = self.machine.argv(*self.command(*arguments))
        return (ssh, "-t", *rest)

    def _unreached(self, done: Done) -> LabError:
        if why_shut(done, self.machine) is not None:
            return why_not_in(done, self.machine)
        return LabError(
            say(
                "The machine {name} does not answer over SSH: {reason}",
                name=self.machine.name,
                reason=done.last_line or "-",
            ),
            next_move=say("See make status; make provision brings it back."),
        )

    def _unheard(self, done: Done) -> LabError:
        return LabError(
            say(
                "The lab in the machine {name} ended with {code}: {reason}",
                name=self.machine.name,
                code=done.returncode,
                reason=done.last_line or "-",
            ),
            next_move=say("make provision mends what was put on the machine."),
        )


def inside_of(place: Place, language: str) -> Inside | None:
    """The lab in the machine of a place; None when the place is here. LabError without one."""
    if place.target.is_here:
        return None
    machine = place.target.machine()
    return None if machine is None else Inside(machine, place.lab.slug, language)


def _told(error: Mapping[str, Any]) -> LabError:
    try:
        following = error["next"]
        return LabError(
            message_from_json(error["what"]),
            next_move=None if following is None else message_from_json(following),
        )
    except (KeyError, TypeError, ValueError):
        return LabError(say("The lab in the machine answers in a way that is not understood."))
