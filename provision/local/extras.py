"""What a bundle holds beside the built parts: files that the application keeps in the cache.

The index of a bundle lists them under `extras`: the path below the cache, size and sha256. One
folder of them is taken whole or not at all, each file checked as it is unpacked.
"""

from __future__ import annotations

import hashlib
import shutil
import tarfile
import tempfile
from collections.abc import Mapping
from dataclasses import asdict
from pathlib import Path, PurePosixPath

from provision.local.cache import FileFact
from provision.local.opening import opened_bundle

FOLDER = "page"  # what the learner's page takes from npm
LARGEST = 16 << 20  # bytes of one file


def extras_of(root: Path) -> Mapping[str, FileFact]:
    """The extra files of a cache, by their paths below it."""
    found = sorted(f for f in (root / FOLDER).rglob("*") if f.is_file() and not f.is_symlink())
    return {
        file.relative_to(root).as_posix(): _fact(file.read_bytes())
        for file in found
        if not any(part.startswith(".") for part in file.relative_to(root).parts)
    }


def extras_to_json(extras: Mapping[str, FileFact]) -> Mapping[str, object]:
    """As they stand in the index."""
    return {name: asdict(fact) for name, fact in extras.items()}


def take_extras(bundle: Path, root: Path, folder: str) -> bool:
    """Unpack a folder such as "page/0123" into the cache `root`; False when it is not in there.

    TargetError when the bundle is damaged or absent.
    """
    with opened_bundle(bundle) as (tar, index):
        wanted = {n: f for n, f in index.extras.items() if n.startswith(f"{folder}/")}
        if wanted:
            _unpack(tar, wanted, root, folder)
        return bool(wanted)


def _unpack(tar: tarfile.TarFile, wanted: Mapping[str, FileFact], root: Path, folder: str) -> None:
    target = root / folder
    target.parent.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(prefix=".new-", dir=target.parent) as name:
        draft = Path(name) / "files"
        draft.mkdir(mode=0o755)
        for path, fact in wanted.items():
            if str(PurePosixPath(path).parent) != folder or PurePosixPath(path).name == "..":
                raise ValueError(f"{path} is not a file")
            try:
                source = tar.extractfile(path)
            except KeyError as error:
                raise ValueError(f"{path} is missing") from error
            data = b"" if source is None else source.read(LARGEST)
            if _fact(data) != fact:
                raise ValueError(f"the checksum of {path} is wrong")
            (draft / PurePosixPath(path).name).write_bytes(data)
        shutil.rmtree(target, ignore_errors=True)
        draft.rename(target)


def _fact(data: bytes) -> FileFact:
    return FileFact(len(data), hashlib.sha256(data).hexdigest())
