"""Hints of a lab as data: for each check ladders of four levels, chosen by what was found."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path

from checks.outcome import CheckResult, Finding
from lab.content import render
from lab.fields import CatalogError, Fields, read_fields
from lab.model import Lab, Step
from lab.places import Place
from lab.progress import HintUse, StepRecord
from lab.text import LANGUAGES, Speech
from provision.message import Message, say

SCHEMA = 1
LEVELS = 4
LEVEL_NAMES = (say("where to look"), say("the idea"), say("the field"), say("the command"))
_PARTS = {"looked_at": "looked_at", "expected": "expected", "found": "found", "next": "next_move"}


@dataclass(frozen=True, slots=True)
class Ladder:
    """Four hints for some checks, each text a template of the lab's facts and of the finding.

    `checks` are ids such as "2.queue_file"; `about` names the case that the ladder is for, empty
    for the general one; `when` holds for each part of a finding the words of which one must stand
    in it (in English, since ids and API words are the same in all languages).
    """

    checks: tuple[str, ...]
    about: str
    when: Mapping[str, tuple[str, ...]]
    levels: tuple[str, ...]

    def fits(self, finding: Finding) -> bool:
        """Whether this finding is of the case that the ladder is for."""
        parts = {part: str(getattr(finding, field)) for part, field in _PARTS.items()}
        return all(any(word in parts[part] for word in words) for part, words in self.when.items())


@dataclass(frozen=True, slots=True)
class Offer:
    """The hints there are for a check that failed; `used` is the highest level shown so far."""

    step: Step
    failure: CheckResult
    finding: Finding
    ladder: Ladder
    used: int

    @property
    def level(self) -> int:
        """The one that comes next, counted from 1; the last one again when all were shown."""
        return min(self.used + 1, self.of)

    @property
    def of(self) -> int:
        """How many levels there are."""
        return len(self.ladder.levels)

    @property
    def use(self) -> HintUse:
        """What goes on record when the coming level is shown."""
        return HintUse(self.failure.id, self.ladder.about, self.level)

    @property
    def is_again(self) -> bool:
        """All of them were shown before."""
        return self.used >= self.of


def hint_file(lab: Lab, language: str) -> Path:
    """Where the hints of a lab stand in a language."""
    return lab.folder / language / "hints.yaml"


def read_hints(lab: Lab, language: str) -> tuple[Ladder, ...]:
    """The ladders of a lab in their order; empty when the lab has no file of hints.

    CatalogError names the file and the field that is wrong.
    """
    file = hint_file(lab, language)
    if not file.exists():
        return ()
    fields = read_fields(file, schema=SCHEMA)
    ladders = tuple(
        _read_ladder(item, file, position)
        for position, item in enumerate(fields.take_list("hints", dict))
    )
    fields.end()
    return ladders


def offer(lab: Lab, step: Step, record: StepRecord, failure: CheckResult) -> Offer | None:
    """What hints a failed check has; None when the lab has none for it."""
    finding = failure.finding
    if finding is None:
        return None
    name = f"{step.number}.{failure.id}"
    for ladder in read_hints(lab, LANGUAGES[0]):
        if name in ladder.checks and ladder.fits(finding):
            used = min(max(record.level_used(failure.id, ladder.about), 0), len(ladder.levels))
            return Offer(step, failure, finding, ladder, used)
    return None


def hint_text(place: Place, chosen: Offer, level: int, speech: Speech) -> str:
    """A hint as Markdown in the reader's language, with what was found put in."""
    same = [
        ladder
        for ladder in read_hints(place.lab, speech.language)
        if (ladder.checks, ladder.about) == (chosen.ladder.checks, chosen.ladder.about)
    ]
    source = (same or [chosen.ladder])[0].levels[level - 1]
    where = str(hint_file(place.lab, speech.language))
    seen = _seen(chosen.finding, speech)
    return render(source, place, chosen.step, where=where, more=seen).rstrip()


def _seen(finding: Finding, speech: Speech) -> Mapping[str, object]:
    """What a hint may name: the four parts, and every value in them; absent ones are empty.

    `field` is the path of the field at fault, `schema` the same as `kubectl explain` wants it.
    """
    seen: defaultdict[str, str] = defaultdict(str)
    for field in reversed(_PARTS.values()):
        seen.update(_values(getattr(finding, field), speech))
    parts = {part: speech.of(getattr(finding, name)) for part, name in _PARTS.items()}
    field = seen["field"]
    schema = re.sub(r"\[[^\]]*\]", "", field) or "spec"
    return {**_unended(parts), "field": field, "schema": schema, "seen": _unended(seen)}


def _unended(texts: Mapping[str, str]) -> Mapping[str, str]:
    """Without the full stop, which the hint sets itself; a name that is not there stays empty."""
    return defaultdict(str, {name: text.removesuffix(".") for name, text in texts.items()})


def _values(message: Message, speech: Speech) -> Iterator[tuple[str, str]]:
    for key, value in message.values.items():
        if isinstance(value, Message):
            yield from _values(value, speech)
            yield key, speech.of(value)
        else:
            yield key, value


def _read_ladder(data: object, file: Path, position: int) -> Ladder:
    where = f"hints[{position}]"
    fields = Fields(data, file=str(file), path=where)
    conditions = Fields(fields.take("when", dict, {}), file=str(file), path=f"{where}.when")
    when = {part: conditions.take_list(part, str) for part in _PARTS}
    conditions.end()
    ladder = Ladder(
        checks=fields.take_list("for", str),
        about=fields.take("about", str, ""),
        when={part: words for part, words in when.items() if words},
        levels=fields.take_list("levels", str),
    )
    fields.end()
    if len(ladder.levels) != LEVELS or not ladder.checks or bool(ladder.about) != bool(ladder.when):
        raise CatalogError(
            say(
                "{file}: {where} needs the checks that it is for, {count} levels, and about and "
                "when together or neither",
                file=file,
                where=where,
                count=LEVELS,
            ),
            next_move=say("Correct {field} in {file}.", field=where, file=file),
        )
    return ladder
