"""What the kit remembers of its place between two commands, so that no case starts from zero."""

from __future__ import annotations

import json
import os
from dataclasses import dataclass, field
from pathlib import Path

from checks.outcome import Evidence, evidence_from_json, evidence_to_json
from lab.casework.playbook import Chain
from lab.casework.world import Prints

SCHEMA = 2
Credit = tuple[Prints, tuple[Evidence, ...]]


@dataclass(frozen=True, slots=True)
class Kept:
    """Levels of the world that were reached, and the evidence that goes with one of them."""

    levels: dict[Chain, Prints] = field(default_factory=dict)
    credit: Credit | None = None


@dataclass(frozen=True, slots=True)
class Memory:
    """A file beside the place; what it says is believed only as far as the cluster agrees."""

    file: Path

    def read(self) -> Kept:
        """What was written last; nothing when there is no such file or it is not whole."""
        try:
            data = json.loads(self.file.read_text(encoding="utf-8"))
            if data["schema"] != SCHEMA:
                return Kept()
            levels = {tuple(chain): _prints(rows) for chain, rows in data["levels"]}
            if (credit := data["credit"]) is None:
                return Kept(levels)
            evidence = tuple(evidence_from_json(item) for item in credit["evidence"])
            return Kept(levels, (_prints(credit["prints"]), evidence))
        except (OSError, ValueError, KeyError, TypeError, AttributeError):
            return Kept()

    def write(self, kept: Kept) -> None:
        """Keep this, whole or not at all."""
        credit = kept.credit
        data = {
            "schema": SCHEMA,
            "levels": [[[*chain], _rows(prints)] for chain, prints in kept.levels.items()],
            "credit": credit
            and {
                "prints": _rows(credit[0]),
                "evidence": [evidence_to_json(item) for item in credit[1]],
            },
        }
        part = self.file.with_name(f"{self.file.name}.{os.getpid()}")
        part.write_text(json.dumps(data), encoding="utf-8")
        part.replace(self.file)

    def forget(self) -> None:
        """From now on nothing is known."""
        self.file.unlink(missing_ok=True)


def _rows(prints: Prints) -> list[list[str]]:
    return [[*key, value] for key, value in prints.items()]


def _prints(rows: list[list[str]]) -> Prints:
    return {(kind, namespace, name): value for kind, namespace, name, value in rows}
