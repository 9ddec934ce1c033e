"""Who plays answers: this program where the workspace is here, the lab in the machine elsewhere."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Protocol

from lab.model import Step
from lab.places import Place
from lab.remote import Inside, inside_of
from lab.replacing import live_objects
from lab.scenes import Laid, lay_scene
from lab.solving import LIMIT_SECONDS, Answer, answer_to_json, files_in_the_way, play

LOOK_SECONDS = 90.0
SPARE_SECONDS = 30.0  # beyond what the commands may take: the way there, and laying the files

Answers = Sequence[tuple[Step, Answer]]


@dataclass(frozen=True, slots=True)
class InTheWay:
    """What answers would replace: the learner's files, by name, and objects as people call them.

    `saved` is the folder that copies of the files are kept in.
    """

    files: tuple[str, ...]
    objects: tuple[str, ...]
    saved: str


class Player(Protocol):
    """Plays answers where the learner works."""

    def ahead(self, answers: Answers) -> InTheWay:
        """What they would replace; nothing is changed."""

    def play(self, step: Step, answer: Answer) -> str | None:
        """Lay the files and run the commands; where the learner's own are kept, None for none.

        What the step finds in the cluster is laid out first.
        """

    def lay(self, step: Step) -> tuple[Laid, ...]:
        """Lay out what the step finds: all its objects, none for a step without a scene."""


@dataclass(frozen=True, slots=True)
class PlayerHere:
    """For a place whose workspace is on this machine."""

    place: Place

    def ahead(self, answers: Answers) -> InTheWay:
        """Looks into the workspace and asks the cluster."""
        found = [f for step, answer in answers for f in files_in_the_way(self.place, step, answer)]
        objects = live_objects(self.place, [answer for _, answer in answers])
        files = tuple(dict.fromkeys(file.name for file in found))
        return InTheWay(files, tuple(map(str, objects)), str(self.place.saved))

    def play(self, step: Step, answer: Answer) -> str | None:
        """Plays it in the workspace."""
        self.lay(step)
        kept = play(self.place, step, answer)
        return None if kept is None else str(kept)

    def lay(self, step: Step) -> tuple[Laid, ...]:
        """Applies it to the cluster."""
        return lay_scene(self.place, step)


@dataclass(frozen=True, slots=True)
class PlayerThere:
    """For a place that lives in a machine."""

    inside: Inside

    def ahead(self, answers: Answers) -> InTheWay:
        """Asks the lab there."""
        words = {"answers": [answer_to_json(step, answer) for step, answer in answers]}
        found = self.inside.ask("ahead", words, within=LOOK_SECONDS)
        return InTheWay(_texts(found["files"]), _texts(found["objects"]), str(found["saved"]))

    def play(self, step: Step, answer: Answer) -> str | None:
        """Has the lab there play it."""
        words = answer_to_json(step, answer)
        found = self.inside.ask("play", words, within=LIMIT_SECONDS + SPARE_SECONDS)
        return None if found["kept"] is None else str(found["kept"])

    def lay(self, step: Step) -> tuple[Laid, ...]:
        """Has the lab there lay it out."""
        found = self.inside.ask("lay", {"step": step.number}, within=LOOK_SECONDS)
        return tuple(Laid(str(name), bool(is_new)) for name, is_new in found["laid"])


def player_of(place: Place, language: str) -> Player:
    """The player of a place; LabError when it lives in a machine that there is none of."""
    inside = inside_of(place, language)
    return PlayerHere(place) if inside is None else PlayerThere(inside)


def _texts(found: Iterable[object]) -> tuple[str, ...]:
    return tuple(str(one) for one in found)
