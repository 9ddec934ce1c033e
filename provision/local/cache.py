"""The per-user cache of built parts: one folder for each thing that was built, complete or absent.

    parts/<key>/entry.json, bin/<part>, manifests/<controller>.json
    go/{mod,build}            Go's own caches, there only while building (or with KEEP_GO_CACHE)
    page/<digest>             what the learner's page takes from npm; not ours to look into
    toolchain/, overrides/    Go from the package index; generated go.mod files

The cache may be read-only when it holds what is needed.
"""

from __future__ import annotations

import contextlib
import json
import os
import shutil
import stat
import tempfile
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from provision.errors import TargetError
from provision.files import write_atomically
from provision.message import say

ENTRY_FILE = "entry.json"
SCHEMA = 1


@dataclass(frozen=True, slots=True)
class FileFact:
    """What a file of an entry must be: `size` in bytes, `sha256` in hex."""

    size: int
    sha256: str


@dataclass(frozen=True, slots=True)
class Entry:
    """One set of parts, built: `key` says of what, `platform` such as "linux/amd64".

    `versions` maps each part to its version, `files` each file below the entry to its facts;
    `built` is an RFC 3339 time and `go` the version of the toolchain.
    """

    key: str
    name: str
    platform: str
    versions: Mapping[str, str]
    files: Mapping[str, FileFact]
    built: str
    go: str

    @property
    def size(self) -> int:
        """Bytes of all files."""
        return sum(fact.size for fact in self.files.values())


def entry_to_json(entry: Entry) -> str:
    """The text of an entry.json."""
    return json.dumps({"schema": SCHEMA, **asdict(entry)}, indent=1, sort_keys=True) + "\n"


def entry_from_json(text: str) -> Entry:
    """The entry in an entry.json; ValueError when it is not one."""
    try:
        raw: dict[str, Any] = json.loads(text)
        if raw.pop("schema") != SCHEMA:
            raise ValueError("schema")
        files = {name: FileFact(**fact) for name, fact in raw.pop("files").items()}
        return Entry(files=files, **raw)
    except (KeyError, TypeError, AttributeError) as error:
        raise ValueError(str(error)) from error


class PartCache:
    """The folders of the cache and what is in them."""

    def __init__(self, root: Path) -> None:
        self.root = root
        self.parts = root / "parts"
        self.go = root / "go"
        self.toolchain = root / "toolchain"
        self.overrides = root / "overrides"

    def folder(self, key: str) -> Path:
        """The folder of an entry, whether it exists or not."""
        return self.parts / key

    def find(self, key: str) -> Entry | None:
        """The entry, if it is complete: every file is there with its size."""
        folder = self.folder(key)
        try:
            entry = entry_from_json((folder / ENTRY_FILE).read_text("utf-8"))
            is_whole = all((folder / n).stat().st_size == f.size for n, f in entry.files.items())
        except (OSError, ValueError):
            return None
        return entry if is_whole and entry.key == key else None

    def entries(self) -> tuple[Entry, ...]:
        """All complete entries, the newest first."""
        names = sorted(p.name for p in self.parts.iterdir()) if self.parts.is_dir() else []
        found = [e for e in map(self.find, names) if e is not None]
        return tuple(sorted(found, key=lambda e: e.built, reverse=True))

    def size(self) -> int:
        """Bytes that the whole cache takes, Go's own caches included."""
        return folder_size(self.root)

    def prune(self, keep: frozenset[str], *, keep_go: bool = False) -> int:
        """Remove all but the entries in `keep`, and Go's caches; the bytes that were freed."""
        before = self.size()
        for path in self.parts.iterdir() if self.parts.is_dir() else ():
            if path.name not in keep:
                remove_tree(path)
        for path in (self.toolchain, self.overrides, *(() if keep_go else (self.go,))):
            remove_tree(path)
        return before - self.size()

    def add(self, draft: Path, entry: Entry) -> None:
        """Make the folder `draft` the entry, in one step; one that another run made stays."""
        write_atomically(draft / ENTRY_FILE, entry_to_json(entry), mode=0o644)
        target = self.folder(entry.key)
        if self.find(entry.key) is None:
            remove_tree(target)
            draft.rename(target)
        else:
            remove_tree(draft)

    def check_writable(self) -> None:
        """TargetError when nothing can be added."""
        try:
            self.parts.mkdir(parents=True, exist_ok=True)
            # By a name of its own: two runs at once would remove each other's.
            handle, name = tempfile.mkstemp(prefix=".writable-", dir=self.parts)
            os.close(handle)
            Path(name).unlink(missing_ok=True)
        except OSError as error:
            raise TargetError(
                say(
                    "The cache {path} lacks the needed parts and cannot be written: {reason}.",
                    path=self.root,
                    reason=error.strerror,
                ),
                next_move=say("Name a folder that you may write in LAB_CACHE."),
            ) from error


def folder_size(root: Path) -> int:
    """Bytes of all files below `root`, links not followed; 0 when it is absent."""
    total = 0
    for folder, _, names in os.walk(root):
        for name in names:
            with contextlib.suppress(OSError):
                total += os.lstat(f"{folder}/{name}").st_size
    return total


def remove_tree(path: Path) -> None:
    """Remove a file or folder, also one whose folders are read-only, as Go's module cache has."""
    if not path.is_dir() or path.is_symlink():
        path.unlink(missing_ok=True)
        return
    for folder, _, _ in os.walk(path):
        if not Path(folder).lstat().st_mode & stat.S_IWUSR:
            Path(folder).chmod(0o700)
    shutil.rmtree(path)
