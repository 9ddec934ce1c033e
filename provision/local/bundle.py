"""Ready-made parts in one file, for a class or a machine without a network.

A plain tar file: `bundle.json` first (schema, entries, extras), then `<key>/<file>` for every file
of every entry, then the extras. Each file is checked against its size and sha256 while it is
unpacked, and only files that bundle.json lists are unpacked at all.
"""

from __future__ import annotations

import hashlib
import io
import json
import tarfile
import tempfile
import time
from collections.abc import Iterable, Mapping
from pathlib import Path

from provision.errors import TargetError
from provision.local.cache import (
    Entry,
    FileFact,
    PartCache,
    entry_to_json,
    remove_tree,
)
from provision.local.extras import extras_of, extras_to_json
from provision.local.opening import INDEX, SCHEMA, opened_bundle
from provision.message import say
from provision.target import Progress, Tell

CHUNK = 1 << 20


def write_bundle(
    entries: Iterable[Entry], cache: PartCache, out: Path, tell: Tell, started: float
) -> int:
    """Pack entries of the cache, and its extras, into `out` in one step; its size in bytes."""
    chosen = tuple(entries)
    extras = extras_of(cache.root)
    index = json.dumps(
        {
            "schema": SCHEMA,
            "entries": [json.loads(entry_to_json(e)) for e in chosen],
            "extras": extras_to_json(extras),
        }
    ).encode()
    draft = out.with_name(f".{out.name}.unfinished")
    try:
        with tarfile.open(draft, "w") as tar:
            info = tarfile.TarInfo(INDEX)
            info.size = len(index)
            tar.addfile(info, io.BytesIO(index))
            for entry in chosen:
                for name in entry.files:
                    stage = say("packing {name}", name=Path(name).name)
                    tell(Progress(stage, time.monotonic() - started))
                    tar.add(cache.folder(entry.key) / name, arcname=f"{entry.key}/{name}")
            for name in extras:
                tar.add(cache.root / name, arcname=name)
        draft.replace(out)
    finally:
        draft.unlink(missing_ok=True)
    return out.stat().st_size


def use_bundle(bundle: Path, cache: PartCache, wanted: frozenset[str]) -> None:
    """Unpack the wanted entries of a bundle into the cache; TargetError when one is not in it."""
    with opened_bundle(bundle) as (tar, index):
        _check_fits(index.entries, wanted, bundle)
        drafts = {k: Path(tempfile.mkdtemp(prefix=".draft-", dir=cache.parts)) for k in wanted}
        try:
            for key, draft in drafts.items():
                _unpack(tar, index.entries[key], draft)
                draft.chmod(0o755)
                cache.add(draft, index.entries[key])
        finally:
            for draft in drafts.values():
                remove_tree(draft)


def _check_fits(entries: Mapping[str, Entry], wanted: frozenset[str], bundle: Path) -> None:
    missing = sorted(wanted - entries.keys())
    if missing:
        raise TargetError(
            say(
                "The bundle {path} does not fit: this lab needs {wanted}, it holds {found}.",
                path=bundle,
                wanted=", ".join(missing),
                found=", ".join(sorted(entries)) or "-",
            ),
            next_move=say(
                "Make one with `make bundle PARTS={names}` from the same version of the lab, on "
                "the same kind of machine.",
                names=",".join(key.partition("-")[0] for key in sorted(wanted)),
            ),
        )


def _unpack(tar: tarfile.TarFile, entry: Entry, draft: Path) -> None:
    for name, fact in entry.files.items():
        try:
            member = tar.getmember(f"{entry.key}/{name}")
        except KeyError as error:
            raise ValueError(f"{name} is missing") from error
        source = tar.extractfile(member) if member.isfile() else None
        target = (draft / name).resolve()
        if source is None or not target.is_relative_to(draft.resolve()):
            raise ValueError(f"{name} is not a file")
        target.parent.mkdir(parents=True, exist_ok=True)
        digest, size = hashlib.sha256(), 0
        with target.open("wb") as file:
            while chunk := source.read(CHUNK):
                digest.update(chunk)
                size += len(chunk)
                file.write(chunk)
        if FileFact(size, digest.hexdigest()) != fact:
            raise ValueError(f"the checksum of {name} is wrong")
        target.chmod(0o755 if name.startswith("bin/") else 0o644)
