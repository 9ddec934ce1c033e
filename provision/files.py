"""Files written so that a reader sees the old or the new content, never half of it."""

from __future__ import annotations

import contextlib
import errno
import os
import tempfile
from collections.abc import Iterator
from pathlib import Path

from provision.errors import TargetError
from provision.message import Message, say


class NotPlain(OSError):
    """Something else than a file stands there: a folder, a named pipe, a link."""

    def __init__(self) -> None:
        super().__init__("not a plain file")


def reason_of(error: Exception) -> Message:
    """Why a file could not be read or written: the system's words, or our own."""
    if isinstance(error, NotPlain):
        return say("not a plain file")
    return say("{reason}", reason=getattr(error, "strerror", None) or error)


def write_atomically(path: Path, content: str | bytes, *, mode: int = 0o600) -> bool:
    """Put `content` at `path` by way of a temporary file beside it; True when it was different.

    A file that holds the same content already is left alone. Raises OSError.
    """
    data = content.encode() if isinstance(content, str) else content
    with contextlib.suppress(OSError):
        # A named pipe would be waited at for ever.
        if path.is_file() and path.read_bytes() == data and path.stat().st_mode & 0o777 == mode:
            return False
    with naming(path):
        _replace(path, data, mode)
    return True


def require_plain(path: Path) -> None:
    """OSError when something else than a file stands there: a named pipe would be waited at."""
    if path.exists() and not path.is_file():
        raise NotPlain


def read_plain(path: Path) -> bytes:
    """What a file holds; OSError for whatever is none, FileNotFoundError when nothing is there."""
    require_plain(path)
    return path.read_bytes()


def _replace(path: Path, data: bytes, mode: int) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    handle, name = tempfile.mkstemp(prefix=f".{path.name}.", dir=path.parent)
    try:
        with os.fdopen(handle, "wb") as file:
            file.write(data)
            file.flush()
            os.fsync(file.fileno())
        Path(name).chmod(mode)
        Path(name).replace(path)
    except BaseException:
        Path(name).unlink(missing_ok=True)
        raise


@contextlib.contextmanager
def naming(path: Path) -> Iterator[None]:
    """Give an OSError that names no file, as one of `write` does, the name `path`."""
    try:
        yield
    except OSError as error:
        if error.filename is None:
            error.filename = str(path)
        raise


@contextlib.contextmanager
def plain_file_errors() -> Iterator[None]:
    """Turn an OSError about a file into a TargetError that says what helps."""
    try:
        yield
    except OSError as error:
        name = error.filename2 or error.filename or say("a file of the lab")
        if error.errno in (errno.ENOSPC, errno.EDQUOT, errno.EFBIG):
            raise TargetError(
                say("The disk is full: {path} could not be written.", path=name),
                next_move=say("Free some space and run the same command again; nothing is lost."),
            ) from error
        if error.errno in (errno.EROFS, errno.EACCES, errno.EPERM):
            raise TargetError(
                say("{path} cannot be written: {reason}.", path=name, reason=error.strerror),
                next_move=say("Name a folder that you may write in LAB_HOME (or LAB_CACHE)."),
            ) from error
        if error.errno in (errno.ENOTDIR, errno.EEXIST, errno.EISDIR):
            raise TargetError(
                say("{path} is in the way: {reason}.", path=name, reason=error.strerror),
                next_move=say("Move it aside, or choose another folder with LAB_HOME."),
            ) from error
        raise
