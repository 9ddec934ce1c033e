"""The history file of a place: one JSON object a line, appended whole, bounded in size.

`history.jsonl` is the newest file and `history.1.jsonl` the one before it. A file begins with a
head that names the life of the cluster; each file holds all that was known when it was begun, so
that it can be read alone.
"""

from __future__ import annotations

import json
import os
from collections.abc import Iterable, Iterator, Mapping
from datetime import UTC, datetime
from pathlib import Path

SCHEMA = 1
LARGEST = 4 << 20
HISTORY = "history.jsonl"
LIFE = "cluster.id"
Entry = Mapping[str, object]


def stamp(seconds: float) -> str:
    """A time in seconds since the epoch as RFC 3339 in UTC, to the millisecond."""
    text = datetime.fromtimestamp(seconds, UTC).isoformat(timespec="milliseconds")
    return text.replace("+00:00", "Z")


def before(file: Path) -> Path:
    """The file that was the newest one before."""
    return file.with_name(f"{file.stem}.1{file.suffix}")


def read_life(file: Path) -> str:
    """The life of the cluster beside a history file; empty where the place keeps none."""
    try:
        return file.with_name(LIFE).read_text("utf-8").strip()
    except (OSError, UnicodeDecodeError):
        return ""


def read_lines(file: Path, life: str) -> Iterator[bytes]:
    """The lines of both files that belong to this life, oldest first, their heads among them."""
    for part in (before(file), file):
        lines = _lines(part)
        line = next(lines, b"")
        head = parse(line)
        if head.get("schema") == SCHEMA and head.get("life") == life:
            yield line
            yield from lines


def read_entries(file: Path, life: str) -> Iterator[Entry]:
    """What `read_lines` gives, parsed, without lines that were torn."""
    return (entry for line in read_lines(file, life) if (entry := parse(line)))


def parse(line: bytes) -> Entry:
    """The object in a line; empty when it was torn by a kill or a full disk."""
    try:
        entry = json.loads(line)
    except ValueError:
        return {}
    return entry if isinstance(entry, dict) else {}


def _lines(file: Path) -> Iterator[bytes]:
    try:
        with file.open("rb") as lines:
            yield from lines
    except OSError:
        return


class Journal:
    """The writer of a history. One at a time; every call may raise OSError."""

    def __init__(self, file: Path, life: str, *, largest: int = LARGEST) -> None:
        self._file, self._life, self._largest = file, life, largest
        self._handle: int | None = None

    def begin(self) -> Iterator[Entry]:
        """Set the files of another life aside; what is on record of this one."""
        for part in (before(self._file), self._file):
            head = parse(next(_lines(part), b""))
            if part.exists() and (head.get("schema"), head.get("life")) != (SCHEMA, self._life):
                part.replace(_aside(part, str(head.get("life") or "unknown")))
        return read_entries(self._file, self._life)

    def append(self, entry: Entry) -> None:
        """Put one line at the end, whole or not at all."""
        if self._handle is None:
            self._handle = self._open()
        self._write(self._handle, entry)

    def is_full(self) -> bool:
        """The file is as large as it may become."""
        return self._handle is not None and os.fstat(self._handle).st_size >= self._largest

    def turn(self, known: Iterable[Entry]) -> None:
        """Begin a new file with what is known; the one so far becomes the one before."""
        self.close()
        self._file.replace(before(self._file))
        for entry in known:
            self.append(entry)

    def beat(self) -> None:
        """Note by the file's time that the recorder is there and sees everything."""
        if self._handle is None:
            self._handle = self._open()
        os.utime(self._handle)

    def close(self) -> None:
        """Give the file back."""
        if self._handle is not None:
            os.close(self._handle)
            self._handle = None

    def _open(self) -> int:
        flags = os.O_RDWR | os.O_APPEND | os.O_CREAT | os.O_CLOEXEC
        handle = os.open(self._file, flags, 0o600)
        try:
            size = os.fstat(handle).st_size
            if size == 0:
                self._write(handle, {"schema": SCHEMA, "life": self._life})
            elif os.pread(handle, 1, size - 1) != b"\n":
                os.write(handle, b"\n")  # ends a line that was torn
        except BaseException:
            os.close(handle)
            raise
        return handle

    @staticmethod
    def _write(handle: int, entry: Entry) -> None:
        line = (json.dumps(entry, ensure_ascii=False, separators=(",", ":")) + "\n").encode()
        size = os.fstat(handle).st_size
        try:
            if os.write(handle, line) != len(line):
                raise OSError(28, os.strerror(28))
        except OSError:
            os.ftruncate(handle, size)
            raise


def _aside(part: Path, life: str) -> Path:
    """Where a file of an ended life goes: history-<life>.jsonl, with .1 for the one before."""
    stem, _, number = part.stem.partition(".")
    name = "".join(c for c in life if c.isalnum())[:40] or "unknown"
    return part.with_name(f"{stem}-{name}{'.' + number if number else ''}{part.suffix}")
