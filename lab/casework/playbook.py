"""What the case kit knows of a lab: its answers' files, what they do, and what stands before them.

It is data beside the right answers, `tests/grading/base/<lab>/kit.yaml` (docs/grade-case.md).
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path

from lab.fields import Fields, read_fields
from provision.errors import LabError
from provision.message import say

SCHEMA = 1
BOOK = "kit.yaml"
BASE = Path(__file__).parents[2] / "tests" / "grading" / "base"
USUAL = "usual"
Chain = tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Act:
    """The usual answer to one step.

    `files` are laid out for those who have passed the step, `helpers` of them also for those who
    are at it. `usual` is what such a learner does. The world of later steps is built by `build`,
    or by applying the files of each of `bursts` at once; with neither, nothing of it stays.
    """

    files: tuple[str, ...] = ()
    helpers: tuple[str, ...] = ()
    usual: str = ""
    build: str = ""
    bursts: tuple[tuple[str, ...], ...] = ()
    before: Chain | None = None

    @property
    def stays(self) -> bool:
        """It puts something on the cluster."""
        return bool(self.build or self.bursts)


@dataclass(frozen=True, slots=True)
class Playbook:
    """All steps of a lab; `waiting` are Jobs of the answers that must not be admitted.

    `witness` is the step whose evidence later ones compare with, 0 for none. `kinds` are those
    that this lab makes beside the usual ones, with the paths of their lists, what runs first;
    taken away, each goes before all that it may have made.
    """

    base: Path
    acts: Mapping[str, Act]
    waiting: tuple[str, ...] = ()
    witness: int = 0
    kinds: Mapping[str, str] = field(default_factory=dict)

    def act(self, step: int) -> Act:
        """The usual answer to a step."""
        return self.acts[str(step)]

    def chain(self, step: int, *, is_answered: bool = False) -> Chain:
        """What is built, in this order, before a learner begins with a step (or has answered it).

        All steps before it unless the book says otherwise, without those of which nothing stays.
        """
        before = self.act(step).before
        if before is None:
            before = tuple(str(number) for number in range(1, step))
        wanted = (*before, str(step)) if is_answered else before
        return tuple(name for name in wanted if self.acts[name].stays)


def base_of(lab: str) -> Path:
    """Where the right answers to all steps of a lab are; LabError when there are none here."""
    folder = BASE / lab
    if not folder.is_dir():
        raise LabError(
            say("The cases of {lab} are not here.", lab=lab),
            next_move=say("They come with the project's folder: run lab grade-case there."),
        )
    return folder


def read_playbook(lab: str) -> Playbook:
    """The book of a lab; CatalogError names the key that is off, LabError when there is none."""
    base = base_of(lab)
    fields = read_fields(base / BOOK, schema=SCHEMA)
    steps = fields.take("steps", dict)
    setups = fields.take("setups", dict, {})
    acts = {
        str(name): _act(value, base, f"steps.{name}") for name, value in (steps | setups).items()
    }
    kinds = fields.take("kinds", dict, {})
    book = Playbook(
        base=base,
        acts=acts,
        waiting=fields.take_list("waiting", str),
        witness=fields.take("witness", int, 0),
        kinds={str(kind): str(path) for kind, path in kinds.items()},
    )
    fields.end()
    _require_known(book, base)
    return book


def _act(value: object, base: Path, where: str) -> Act:
    fields = Fields(value, file=str(base / BOOK), path=where)
    usual, build = fields.take("usual", str, ""), fields.take("build", str, "")
    has_before = isinstance(value, Mapping) and "before" in value
    before = tuple(str(name) for name in fields.take("before", list, []))
    act = Act(
        files=fields.take_list("files", str),
        helpers=fields.take_list("helpers", str),
        usual=usual,
        build=usual if build == USUAL else build,
        bursts=tuple(tuple(map(str, burst)) for burst in fields.take_list("bursts", list)),
        before=before if has_before else None,
    )
    fields.end()
    return act


def _require_known(book: Playbook, base: Path) -> None:
    """What a step builds on is in the book."""
    for name, act in book.acts.items():
        unknown = [other for other in act.before or () if other not in book.acts]
        if unknown:
            raise LabError(
                say(
                    "{file}: steps.{step}.before: {name} is neither a step nor a setup",
                    file=base / BOOK,
                    step=name,
                    name=unknown[0],
                ),
                next_move=say("Correct {file}.", file=base / BOOK),
            )
