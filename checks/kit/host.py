"""Reading a file where the learner works, through a testinfra host (`local://` or `ssh://`).

The only module that imports testinfra. One shell command a file: it looks at the type before it
opens anything, follows no link, and sends at most `LARGEST` bytes. A host that cannot be asked is
never taken for a file that is wrong: whatever is no whole answer is `HostFailed`.
"""

from __future__ import annotations

import secrets
import threading
from dataclasses import dataclass
from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from testinfra.backend.base import CommandResult
    from testinfra.host import Host

LARGEST = 256 * 1024
_SECONDS = 5
# Beyond what the command itself may take: a connection that is made first, or has gone dead.
_ANSWER_SECONDS = 20.0

# Answers a line with the mark, one with "<kind> <mtime> <size>", then the bytes, or the names there
# are instead. What a shell's start-up files print stands before the mark.
# $0 folder, $1 name, $2 cap in bytes, $3 mark.
_SCRIPT = """
printf '%s\\n' "$3"
cd -- "$0" 2>/dev/null || { echo no-folder; exit 0; }
if [ -L "$1" ]; then echo link; exit 0; fi
if [ ! -e "$1" ]; then echo absent; timeout 3 ls -1A | head -n 500 | head -c 16384; exit 0; fi
if [ -d "$1" ]; then echo directory; exit 0; fi
if [ -p "$1" ]; then echo pipe; exit 0; fi
if [ ! -f "$1" ]; then echo special; exit 0; fi
if [ ! -r "$1" ]; then echo unreadable; exit 0; fi
d=$(dirname -- "$1"); r=$(pwd -P); p=$(cd -- "$d" && pwd -P) || { echo unreadable; exit 0; }
case "$p/" in "$r"/*) ;; *) echo outside; exit 0;; esac
stat -c "file %Y %s" -- "$1" || { echo unreadable; exit 0; }
exec timeout 3 head -c "$2" -- "$1"
"""


class FileKind(StrEnum):
    """What stands under a name."""

    FILE = "file"
    ABSENT = "absent"
    NO_FOLDER = "no-folder"
    LINK = "link"
    DIRECTORY = "directory"
    PIPE = "pipe"
    SPECIAL = "special"
    UNREADABLE = "unreadable"
    OUTSIDE = "outside"


@dataclass(frozen=True, slots=True)
class Found:
    """What is there: for a file its bytes (at most `LARGEST` and one), `size` in bytes and `mtime`
    in seconds since the epoch; for an absent one the other names that its folder holds; for
    anything else only the kind.
    """

    kind: FileKind
    content: bytes = b""
    size: int = 0
    mtime: int = 0
    others: tuple[str, ...] = ()


class HostFailed(Exception):
    """The host could not be asked; the text says what came back."""


class Workplace:
    """The learner's folder on the host that a target names."""

    def __init__(self, spec: str, folder: Path) -> None:
        """`spec` is a testinfra host spec, `folder` an absolute path on that host."""
        self.folder = folder
        self._spec = spec
        self._host: Host | None = None

    def read(self, name: str) -> Found:
        """What stands under `name`, a path below the folder. HostFailed when nobody answers."""
        mark = secrets.token_hex(8)
        answer = self._ask(_SCRIPT, str(self.folder), name, str(LARGEST + 1), mark)
        _, found, rest = answer.stdout_bytes.partition(f"{mark}\n".encode())
        if not found:
            raise HostFailed(_last_words(answer))
        head, _, content = rest.partition(b"\n")
        return _understand(head.decode("ascii", "replace"), content, answer.rc)

    def _ask(self, *words: str) -> CommandResult:
        """What the host answers. testinfra has no time limit of its own, hence the thread.

        ssh ends with 255 when it cannot reach the host, which testinfra raises as a RuntimeError;
        the command itself never ends so.
        """
        answers: list[CommandResult | Exception] = []

        def run() -> None:
            try:
                answers.append(
                    self._reach().run(f"timeout {_SECONDS} sh -c %s %s %s %s %s", *words)
                )
            except Exception as error:
                answers.append(error)

        thread = threading.Thread(target=run, daemon=True)
        thread.start()
        thread.join(_ANSWER_SECONDS)
        if not answers:
            raise HostFailed(f"no answer within {_ANSWER_SECONDS:g} s")
        answer = answers[0]
        if isinstance(answer, RuntimeError) and hasattr(answer.args[0], "rc"):
            raise HostFailed(_last_words(answer.args[0])) from answer
        if isinstance(answer, Exception):
            raise answer
        return answer

    def _reach(self) -> Host:
        import testinfra  # costs time, and steps without files need none

        if self._host is None:
            self._host = testinfra.get_host(self._spec)
        return self._host


def _last_words(answer: CommandResult) -> str:
    """How a command ended that gave no answer."""
    lines = answer.stderr_bytes.decode(errors="replace").strip().splitlines()
    return f"exit code {answer.rc}: {lines[-1][:120] if lines else '-'}"


def _understand(head: str, content: bytes, exit_code: int) -> Found:
    word, *numbers = head.split()[:3] or [""]
    try:
        kind = FileKind(word)
    except ValueError:
        raise HostFailed(f"exit code {exit_code}: {head[:80]!r}") from None
    if kind is FileKind.ABSENT:
        return Found(kind, others=tuple(content.decode(errors="replace").splitlines()))
    if kind is not FileKind.FILE:
        return Found(kind)
    if exit_code != 0 or len(numbers) != 2:
        raise HostFailed(f"exit code {exit_code} after {head[:80]!r}")
    return Found(kind, content, size=int(numbers[1]), mtime=int(numbers[0]))
