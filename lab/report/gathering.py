"""What a report is about: all steps graded now, what is on record, and where all of it is from."""

from __future__ import annotations

import hashlib
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path

from checks.outcome import StepVerdict
from lab.examining import Examiner, overall
from lab.grading import checks_folder
from lab.model import Lab
from lab.places import Place
from lab.standing import Standing
from provision.errors import LabError
from provision.state import load_state
from provision.target import TargetInfo


@dataclass(frozen=True, slots=True)
class Report:
    """A whole lab at one moment.

    `made_at` is RFC 3339 with the offset of this machine; `place_id` is empty for a place that was
    never provisioned; the hashes are SHA-256 in hexadecimal, over names and bytes of all files.
    """

    lab: Lab
    standings: tuple[Standing, ...]
    info: TargetInfo | None
    place_id: str
    made_at: str
    lab_hash: str
    checks_hash: str

    @property
    def verdict(self) -> StepVerdict:
        """That of all steps together."""
        return overall(self.standings)

    @property
    def passed(self) -> int:
        """How many steps passed: now, or on record, whatever has become of them since."""
        return len(self._passes)

    @property
    def true_now(self) -> int:
        """How many steps hold at this moment."""
        return sum(s.is_true_now is True for s in self.standings)

    @property
    def solved(self) -> int:
        """How many of those by the answers."""
        return sum(s.record.is_solved for s in self._passes)

    @property
    def _passes(self) -> list[Standing]:
        return [s for s in self.standings if s.has_passed or s.record.passed_at]

    @property
    def untold(self) -> int:
        """How many steps cannot be judged now."""
        return sum(s.verdict is StepVerdict.CANNOT_TELL for s in self.standings)

    @property
    def attempts(self) -> int:
        """How often a verdict was asked for, in all."""
        return sum(s.record.attempts for s in self.standings)

    @property
    def hints(self) -> int:
        """How many hints were shown, in all."""
        return sum(len(s.record.hints) for s in self.standings)


def gather(place: Place) -> Report:
    """Grade all steps now, without counting it as an attempt, and put the record beside it."""
    standings = Examiner(place, is_recording=False).check(place.lab.steps)
    return Report(
        lab=place.lab,
        standings=standings,
        info=_info(place),
        place_id=_place_id(place),
        made_at=datetime.now().astimezone().isoformat(timespec="seconds"),
        lab_hash=digest(place.lab.folder),
        checks_hash=digest(checks_folder()),
    )


def digest(folder: Path) -> str:
    """SHA-256 over the relative names and the bytes of all files below a folder.

    What Python leaves beside its sources is passed over.
    """
    total = hashlib.sha256()
    for file in sorted(_files(folder)):
        name = file.relative_to(folder).as_posix().encode()
        content = file.read_bytes()
        total.update(b"%d %s %d\n" % (len(name), name, len(content)))
        total.update(content)
    return total.hexdigest()


def _files(folder: Path) -> Iterator[Path]:
    for file in folder.rglob("*"):
        if file.is_file() and "__pycache__" not in file.parts:
            yield file


def _info(place: Place) -> TargetInfo | None:
    try:
        return place.target.info()
    except LabError:
        return None


def _place_id(place: Place) -> str:
    try:
        state = load_state(place.home)
    except LabError:
        return ""
    return "" if state is None else state.id
