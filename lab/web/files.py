"""The learner's files to look at: as they are, and refused by name where they are no plain file."""

from __future__ import annotations

import contextlib
import os
import stat
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path

from checks.outcome import Outcome
from lab.text import Speech
from lab.web.state import Known
from provision.errors import UsageError
from provision.message import Message, say

MOST_FILES = 200
MOST_LINES = 5000
LARGEST = 256 << 10
# Lexers are regular expressions, and some take a time that grows with the square of a line.
COLOURED, LONGEST_LINE = 64 << 10, 400
_LEXERS = {
    **dict.fromkeys((".yaml", ".yml"), "yaml"),
    **{".json": "json", ".sh": "bash", ".py": "python"},
}


@dataclass(frozen=True, slots=True)
class Mark:
    """What a check says of a line; `line` 0 is the whole file."""

    line: int
    text: Message


def list_files(workspace: Path) -> list[Mapping[str, object]]:
    """The plain files that lie in the workspace itself, by name; links are not followed.

    Names that are no UTF-8 cannot be asked for, so they are left out.
    """
    found: list[Mapping[str, object]] = []
    with contextlib.suppress(OSError), os.scandir(workspace) as entries:
        for entry in entries:
            with contextlib.suppress(OSError):
                if not entry.is_file(follow_symlinks=False) or not _is_text(entry.name):
                    continue
                status = entry.stat(follow_symlinks=False)
                modified = datetime.fromtimestamp(status.st_mtime, UTC)
                found.append(
                    {
                        "name": entry.name,
                        "size": status.st_size,
                        "modified": modified.isoformat(timespec="seconds"),
                    }
                )
    return sorted(found, key=lambda file: str(file["name"]))[:MOST_FILES]


def show_file(
    workspace: Path, name: str, marks: list[Mark], speech: Speech
) -> Mapping[str, object]:
    """One file as lines of HTML with classes only; UsageError for what is no file to show."""
    content = read_file(workspace, name)
    problem, size = None, len(content)
    if b"\0" in content:
        problem, content = speech.of(say("It holds NUL bytes, so it is no text.")), b""
    text = content.decode("utf-8-sig", errors="replace")
    lines = text.replace("\r\n", "\n").replace("\r", "\n").split("\n")
    if len(lines) > MOST_LINES:
        problem = speech.of(say("Only the first {count} lines are shown.", count=MOST_LINES))
    return {
        "name": name,
        "size": size,
        "html": to_lines("\n".join(lines[:MOST_LINES]), name),
        "marks": [{"line": mark.line, "text": speech.of(mark.text)} for mark in marks],
        "problem": problem,
    }


def read_file(workspace: Path, name: str) -> bytes:
    """The bytes of a plain file of the workspace; nothing else is ever opened for reading."""
    if not name or name in (".", "..") or "/" in name or "\0" in name or not _is_text(name):
        raise _refused(name, say("that is no name of a file"))
    flags = os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC | os.O_NOCTTY
    with contextlib.ExitStack() as stack:
        try:
            folder = os.open(workspace, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
            stack.callback(os.close, folder)
            kind = stat.S_IFMT(os.stat(name, dir_fd=folder, follow_symlinks=False).st_mode)
            if kind != stat.S_IFREG:  # asked before it is opened: a device may act on that
                raise _refused(name, _KINDS.get(kind, say("a device or a socket")))
            handle = os.open(name, flags, dir_fd=folder)
            stack.callback(os.close, handle)
            status = os.fstat(handle)
            if not stat.S_ISREG(status.st_mode):
                raise _refused(name, say("a device or a socket"))
            if status.st_size > LARGEST:
                size = say("{size} bytes; {cap} is the most", size=status.st_size, cap=LARGEST)
                raise _refused(name, size)
            with os.fdopen(os.dup(handle), "rb") as file:
                return file.read(LARGEST)
        except OSError as error:
            raise _refused(name, say("{error}", error=error.strerror)) from error


def to_lines(text: str, name: str) -> str:
    """A `<span class="line">` for each line, with the classes of pygments inside, all escaped."""
    from pygments import highlight
    from pygments.formatters.html import HtmlFormatter
    from pygments.lexers import get_lexer_by_name

    if not text:
        return ""
    lexer = get_lexer_by_name(_kind(text, name), stripnl=False, ensurenl=False)
    html = highlight(text, lexer, HtmlFormatter(nowrap=True)).removesuffix("\n")
    return "\n".join(f'<span class="line">{line}</span>' for line in html.split("\n"))


def _kind(text: str, name: str) -> str:
    """Which lexer a file gets; large ones and those of very long lines stay without colours."""
    if len(text) > COLOURED or max(map(len, text.split("\n"))) > LONGEST_LINE:
        return "text"
    return "make" if name == "Makefile" else _LEXERS.get(Path(name).suffix.lower(), "text")


def marks_of(known: Known, path: Path) -> list[Mark]:
    """What the newest verdicts say of a file, by the path and line where they looked."""
    marks = []
    for _, verdict in sorted(known.verdicts.items()):
        for check in verdict.result.checks:
            if check.outcome is not Outcome.FAILED or check.finding is None:
                continue
            values = dict(_values(check.finding.looked_at))
            if str(path) in (values.get("path"), values.get("text")):
                line = values.get("line", "")
                marks.append(Mark(int(line) if line.isdigit() else 0, check.finding.found))
    return marks


def _values(message: Message) -> Iterator[tuple[str, str]]:
    for key, value in message.values.items():
        if isinstance(value, Message):
            yield from _values(value)
        else:
            yield key, value


def _is_text(name: str) -> bool:
    try:
        name.encode()
    except UnicodeEncodeError:
        return False
    return True


def _refused(name: str, why: Message) -> UsageError:
    shown = name[:80].encode("utf-8", "replace").decode()
    return UsageError(
        say("{name} cannot be shown here: {why}.", name=shown, why=why),
        next_move=say("Look at it in the terminal."),
    )


_KINDS = {
    stat.S_IFLNK: say("a symbolic link, which is not followed"),
    stat.S_IFDIR: say("a directory"),
    stat.S_IFIFO: say("a named pipe (FIFO)"),
}
