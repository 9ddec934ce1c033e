"""The learner's files as text: anything else is refused by name, never opened blindly."""

from __future__ import annotations

import codecs
import re
import shlex
from collections.abc import Sequence
from dataclasses import dataclass
from difflib import SequenceMatcher
from pathlib import Path

from checks.kit.expect import mismatch, plain
from checks.kit.host import LARGEST, FileKind, Found, HostFailed, Workplace
from checks.outcome import CannotTell, Mismatch
from provision.message import Message, say


@dataclass(frozen=True, slots=True)
class TextFile:
    """A file's text without byte order mark, lines ended by \\n. `mtime` in epoch seconds."""

    name: str
    path: Path
    text: str
    size: int
    mtime: int

    @property
    def is_blank(self) -> bool:
        """Nothing but white space."""
        return not self.text.strip()


class Files:
    """The files of the workspace, each read once per run."""

    def __init__(self, workplace: Workplace) -> None:
        self._workplace = workplace
        self._read: dict[str, Found] = {}

    def path(self, name: str) -> Path:
        """Where a file of the workspace stands on the host."""
        return self._workplace.folder / name

    def text(self, name: str) -> TextFile:
        """The file's text; Mismatch when it is no readable UTF-8 text file with something in it."""
        if name not in self._read:
            try:
                self._read[name] = self._workplace.read(name)
            except HostFailed as failed:
                raise CannotTell(
                    say("the workspace could not be read ({reason})", reason=failed),
                    next_move=say("make status"),
                ) from failed
        found = self._read[name]
        if near := near_name(name, found.others):
            raise self._refuse(
                name,
                say("no such file; there is {near}", near=near),
                say("give it the name {name}: mv {near} {name}", name=name, near=shlex.quote(near)),
            )
        if found.kind is not FileKind.FILE:
            raise self._refuse(name, _KIND_WORDS[found.kind])
        if found.size > LARGEST or len(found.content) > LARGEST:
            raise self._refuse(
                name, say("{size} bytes; {cap} is the most", size=found.size, cap=LARGEST)
            )
        file = TextFile(
            name, self.path(name), self._decode(name, found.content), found.size, found.mtime
        )
        if file.is_blank:
            raise self._refuse(name, say("the file is empty"))
        return file

    def _decode(self, name: str, content: bytes) -> str:
        if content.startswith((codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)):
            raise self._refuse(name, say("the file is saved as UTF-16"))
        if b"\0" in content:
            raise self._refuse(name, say("the file is not text: it holds NUL bytes"))
        try:
            text = content.decode("utf-8-sig")
        except UnicodeDecodeError as error:
            line = content.count(b"\n", 0, error.start) + 1
            raise self._refuse(
                name, say("the file is not UTF-8 text (line {line})", line=line)
            ) from None
        return text.replace("\r\n", "\n").replace("\r", "\n")

    def _refuse(self, name: str, found: Message, next_move: Message | None = None) -> Mismatch:
        usual = say(
            "write {name} as a plain text file in {folder}", name=name, folder=self.path("")
        )
        return mismatch(
            plain(self.path(name)), say("a file of UTF-8 text"), found, next_move or usual
        )


def near_name(name: str, others: Sequence[str]) -> str:
    """Of the names in a folder the one that was surely meant to be this; empty when none was.

    Near is another case, ending or spelling; a number in the name must be the same.
    """
    wanted = _stem(name)
    scores = {
        other: SequenceMatcher(None, _stem(other), wanted).ratio()
        for other in others
        if _NAME.fullmatch(other) and re.findall(r"\d+", other) == re.findall(r"\d+", name)
    }
    best = max(scores, key=lambda other: scores[other], default="")
    return best if scores.get(best, 0.0) >= _NEAR else ""


def _stem(name: str) -> str:
    """Small letters without what stands behind the first dot."""
    return name.lstrip(".").lower().partition(".")[0]


_NAME = re.compile(r"[\w.() -]{1,80}(?<!\.swp)(?<!\.bak)")
_NEAR = 0.85
_KIND_WORDS = {
    FileKind.ABSENT: say("no such file"),
    FileKind.NO_FOLDER: say("the folder does not exist"),
    FileKind.LINK: say("a symbolic link, which is not followed"),
    FileKind.DIRECTORY: say("a directory"),
    FileKind.PIPE: say("a named pipe (FIFO)"),
    FileKind.SPECIAL: say("a device or a socket"),
    FileKind.UNREADABLE: say("a file that may not be read"),
    FileKind.OUTSIDE: say("a file outside the workspace"),
}
