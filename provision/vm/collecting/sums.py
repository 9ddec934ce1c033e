"""Checksums: out of published lists, and of files."""

from __future__ import annotations

import base64
import hashlib
import json
import re
import zipfile
import zlib
from pathlib import Path
from typing import Any

from provision.files import require_plain

ALGORITHMS = {64: "sha256", 128: "sha512"}
MODULE = "h1"
LARGEST = 256 << 20  # bytes that the files of a module may have
_LINE = re.compile(r"(?m)^([0-9a-fA-F]{64}|[0-9a-fA-F]{128})[ \t]+[ *]?(?:\./)?(\S+)[ \t]*$")
_DIGEST = re.compile(r"(sha256:[0-9a-f]{64}|sha512:[0-9a-f]{128})")


def listed_sum(text: str, file: str) -> str:
    """`sha256:<hex>` or `sha512:<hex>` of a file, or "" when the text does not have it.

    The text is a list as `sha256sum` writes it, or GitHub's record of a release in JSON, where each
    asset has a `digest`. Two different sums for one name count as none.
    """
    found = _assets(text, file) if text.lstrip().startswith("{") else _lines(text, file)
    return found.pop() if len(found) == 1 else ""


def file_sums(path: Path, algorithm: str = "sha256") -> dict[str, str]:
    """The sha256 of a plain file and its other sum that is asked for, by their names.

    Sums are in hex, that of a Go module (`h1`) as a go.sum has it.

    OSError when it cannot be read.
    """
    require_plain(path)
    sums = {name: hashlib.new(name) for name in {"sha256", algorithm} & {*ALGORITHMS.values()}}
    with path.open("rb") as file:
        while chunk := file.read(1 << 20):
            for running in sums.values():
                running.update(chunk)
    found = {name: running.hexdigest() for name, running in sums.items()}
    return found | {MODULE: _module_sum(path)} if algorithm == MODULE else found


def fits(path: Path, checksum: str) -> str | None:
    """The file's sha256 when `checksum` is its sum, None when it is not, or there is no file."""
    algorithm, _, wanted = checksum.partition(":")
    try:
        sums = file_sums(path, algorithm)
    except OSError:
        return None
    return sums["sha256"] if sums.get(algorithm) == wanted else None


def _module_sum(path: Path) -> str:
    """What a go.sum says of a module in a zip, after "h1:"; "-" when the file is no such zip."""
    try:
        with zipfile.ZipFile(path) as archive:
            if sum(entry.file_size for entry in archive.infolist()) > LARGEST:
                return "-"
            lines = "".join(
                f"{hashlib.sha256(archive.read(name)).hexdigest()}  {name}\n"
                for name in sorted(archive.namelist())
            )
    except (zipfile.BadZipFile, zlib.error, NotImplementedError, RuntimeError, EOFError):
        return "-"
    return base64.b64encode(hashlib.sha256(lines.encode()).digest()).decode()


def _lines(text: str, file: str) -> set[str]:
    return {
        f"{ALGORITHMS[len(digest)]}:{digest.lower()}"
        for digest, name in _LINE.findall(text)
        if name == file
    }


def _assets(text: str, file: str) -> set[str]:
    try:
        record: Any = json.loads(text)
        digests = [a["digest"] for a in record["assets"] if a["name"] == file]
    except (ValueError, KeyError, TypeError, RecursionError):
        return set()
    return {d for d in digests if isinstance(d, str) and _DIGEST.fullmatch(d)}
