"""What earlier runs of collecting have got, so that the next one need not ask anybody for it."""

from __future__ import annotations

import json
from dataclasses import asdict, fields
from pathlib import Path

from provision.files import read_plain, write_atomically
from provision.vm.bundle.model import Artefact
from provision.vm.collecting.plan import Wanted
from provision.vm.collecting.sums import fits

FILE = ".collected.json"
KEYS = {f.name for f in fields(Artefact)}


class Journal:
    """The file `.collected.json` in the folder of a bundle; one that is damaged is begun anew."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._rows: dict[str, dict[str, str]] = {}
        try:
            raw = json.loads(read_plain(folder / FILE))
            for file, row in raw.items():
                if set(row) == KEYS | {"wanted"} and all(isinstance(v, str) for v in row.values()):
                    self._rows[file] = row
        except (OSError, ValueError, TypeError, AttributeError, RecursionError):
            self._rows = {}

    def find(self, wanted: Wanted) -> Artefact | None:
        """What was had for exactly this, if its file is still as it was."""
        row = dict(self._rows.get(wanted.file, {}))
        if row.pop("wanted", None) != _spec(wanted):
            return None
        artefact = Artefact(kind=wanted.kind, **{k: v for k, v in row.items() if k != "kind"})
        return artefact if fits(self._folder / artefact.file, f"sha256:{artefact.sha256}") else None

    def note(self, wanted: Wanted, artefact: Artefact) -> None:
        """Remember, at once, that this was had; raises OSError."""
        row = {k: str(v) for k, v in asdict(artefact).items()}
        self._rows[wanted.file] = {**row, "wanted": _spec(wanted)}
        text = json.dumps(self._rows, indent=1, sort_keys=True)
        write_atomically(self._folder / FILE, text, mode=0o644)


def _spec(wanted: Wanted) -> str:
    return " ".join((wanted.source, wanted.version, wanted.checksum))
