"""What the grader may know of the past: that of this case, not what earlier cases have left.

The kit's cluster lives on from case to case, and so does the recorder's history.
"""

from __future__ import annotations

import shutil
from collections.abc import Iterable
from dataclasses import dataclass, fields
from datetime import datetime
from pathlib import Path

from checks.journal import LIFE, parse, read_life, read_lines
from lab.places import Place

FOLDER = "case"


@dataclass(frozen=True, slots=True)
class CasePlace(Place):
    """The kit's place with the history of one case only."""

    history: Path

    @property
    def history_file(self) -> Path:
        """What changed in the cluster since the case began, and of what was there then."""
        return self.history


def with_own_past(place: Place, began: float) -> CasePlace:
    """The place as it is graded: a history without what was gone when the case began.

    `began` is in seconds since the epoch, by the clock that the recorder goes by.
    """
    folder = place.home / FOLDER
    folder.mkdir(exist_ok=True)
    source, history = place.history_file, folder / place.history_file.name
    life = source.with_name(LIFE)
    if life.exists():
        shutil.copy(life, folder / LIFE)
    history.write_bytes(b"".join(_of_case(list(read_lines(source, read_life(source))), began)))
    kept = {one.name: getattr(place, one.name) for one in fields(Place)}
    return CasePlace(**kept, history=history)


def _of_case(lines: Iterable[bytes], began: float) -> Iterable[bytes]:
    """The lines about objects that were there when the case began, or came after that."""
    gone: dict[str, bool] = {}
    told = [(line, parse(line)) for line in lines]
    for _, entry in told:
        seen = str(entry.get("seen", ""))
        if "kind" in entry and seen and datetime.fromisoformat(seen).timestamp() < began:
            gone[str(entry.get("uid"))] = entry.get("change") == "deleted"
    is_head = True
    for line, entry in told:
        if "schema" in entry:
            if is_head:  # one head is enough: this is one file
                yield line
            is_head = False
        elif not gone.get(str(entry.get("uid")), False):
            yield line
