"""The cloud image that a machine's disk begins as, in the cache.

It is kept under its checksum, read-only, and is what the machine's own disk lies over.
"""

from __future__ import annotations

import contextlib
import hashlib
import json
import os
import shutil
import tempfile
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from provision.errors import LabError, TargetError
from provision.files import reason_of, require_plain
from provision.message import say
from provision.vm.collecting.http import Web
from provision.vm.collecting.net import NotHad
from provision.vm.machines.qemu.source import Source, image_name
from provision.vm.machines.qemu.tools import Tools, run_img

FOLDER = "machine-images"
FORMATS = ("qcow2", "raw")
COPY_BYTES = 1 << 20
ROOM_BYTES = 2 << 30  # what the cache must have free for an image


@dataclass(frozen=True, slots=True)
class Image:
    """A file in the cache whose checksum was right, its format and the size of its disk in MiB."""

    path: Path
    format: str
    size: int


def require_source(source: Source, cache: Path) -> None:
    """TargetError when a file that is named is none, and its image is not in the cache either."""
    is_kept = bool(source.name) and (cache / FOLDER / source.name).is_file()
    if not source.is_address and not is_kept:
        with _readable(Path(source.where)):
            pass


def get_image(source: Source, tools: Tools, cache: Path, environ: Mapping[str, str]) -> Image:
    """The image in the cache, fetched or copied there if need be, its checksum looked at.

    Raises TargetError when it cannot be had, is not what its checksum says, or is no disk image.
    """
    folder = cache / FOLDER
    folder.mkdir(parents=True, exist_ok=True)
    if source.name and (folder / source.name).is_file():
        return examine(folder / source.name, tools)
    _require_room(folder)
    path = _fetched(source, folder, environ) if source.is_address else _copied(source, folder)
    path.chmod(0o444)
    try:
        return examine(path, tools)
    except LabError:
        path.unlink()
        raise


def disk_size(path: Path, tools: Tools) -> int:
    """The size in MiB of the disk that an image holds, as a machine sees it."""
    return -(-int(_info(path, tools).get("virtual-size", 0)) >> 20)


def examine(path: Path, tools: Tools) -> Image:
    """What a disk image is; TargetError when it is none that a machine may be made from."""
    told = _info(path, tools)
    kind = str(told.get("format"))
    with path.open("rb") as file:
        is_bootable = kind != "raw" or file.read(512)[510:] == b"\x55\xaa"
    if kind not in FORMATS or not is_bootable:
        raise TargetError(
            say("{path} is no disk image that a machine could start from.", path=path),
            next_move=say("Name a cloud image in VM_IMAGE, in QEMU's format qcow2 or raw."),
        )
    inside = (told.get("format-specific") or {}).get("data") or {}
    if "backing-filename" in told or "data-file" in inside:
        raise TargetError(
            say(
                "{path} lies over another file (a backing file), which would be read, too.",
                path=path,
            ),
            next_move=say("Flatten it: qemu-img convert -O qcow2 IMAGE NEW, and name the new one."),
        )
    return Image(path, kind, disk_size(path, tools))


def _info(path: Path, tools: Tools) -> dict[str, Any]:
    told: dict[str, Any] = json.loads(
        run_img(tools, "info", "--force-share", "--output=json", str(path))
    )
    return told


def _require_room(folder: Path) -> None:
    free = shutil.disk_usage(folder).free
    if free < ROOM_BYTES:
        raise TargetError(
            say(
                "The machine's image needs {needed} MiB of disk in {path}; {free} MiB are free.",
                needed=ROOM_BYTES >> 20,
                path=folder,
                free=free >> 20,
            ),
            next_move=say("Free some space there, or name another folder in LAB_CACHE."),
        )


def _fetched(source: Source, folder: Path, environ: Mapping[str, str]) -> Path:
    with Web(environ) as web:
        target = folder / source.name
        try:
            web.download(source.where, target, source.checksum)
        except NotHad as error:
            if not (error.is_gone and source.instead):
                raise _not_had(source, error) from error
            try:
                file = source.instead.rpartition("/")[2]
                checksum = web.published_sum(source.sums, file)
                target = folder / image_name(checksum)
                web.download(source.instead, target, checksum)
            except NotHad as second:
                raise _not_had(source, second) from second
    return target


def _not_had(source: Source, error: NotHad) -> TargetError:
    by_hand = say(
        "get {where} by other means, and name the file: VM_IMAGE=file "
        "VM_IMAGE_CHECKSUM={checksum}.",
        where=source.where,
        checksum=source.checksum,
    )
    if error.is_wrong:
        return TargetError(
            say(
                "The machine's image is not the one that was meant: {reason}.", reason=error.reason
            ),
            next_move=say(
                "Nothing was kept. Look at VM_IMAGE_CHECKSUM, or {by_hand}", by_hand=by_hand
            ),
        )
    return TargetError(
        say("The machine's image could not be had: {reason}.", reason=error.reason),
        next_move=say(
            "Run the same command again: it goes on where it stopped. Or {by_hand}", by_hand=by_hand
        ),
    )


def _copied(source: Source, folder: Path) -> Path:
    """A copy in the cache, so that the user's file may change or go."""
    wanted = source.checksum or "sha256:"
    algorithm, _, digest = wanted.partition(":")
    total = hashlib.new(algorithm)
    with _draft(folder) as draft, _readable(Path(source.where)) as origin, draft.open("wb") as copy:
        while piece := os.read(origin, COPY_BYTES):
            total.update(piece)
            copy.write(piece)
        copy.flush()
        if digest and total.hexdigest() != digest:
            raise TargetError(
                say(
                    "{path} is not the image that was meant: its {algorithm} is {found}, "
                    "but {wanted} is wanted.",
                    path=source.where,
                    algorithm=algorithm,
                    found=total.hexdigest(),
                    wanted=digest,
                ),
                next_move=say("Get the image again, or mend VM_IMAGE_CHECKSUM. Nothing was kept."),
            )
        return draft.replace(folder / image_name(f"{algorithm}:{total.hexdigest()}"))


@contextlib.contextmanager
def _draft(folder: Path) -> Iterator[Path]:
    handle, name = tempfile.mkstemp(prefix=".copy.", dir=folder)
    os.close(handle)
    try:
        yield Path(name)
    finally:
        Path(name).unlink(missing_ok=True)


@contextlib.contextmanager
def _readable(path: Path) -> Iterator[int]:
    try:
        require_plain(path)
        handle = os.open(path, os.O_RDONLY | os.O_CLOEXEC)
    except (OSError, ValueError) as error:  # a NUL in a path is a ValueError
        reason = reason_of(error)
        raise TargetError(
            say("The image {path} cannot be read: {reason}.", path=path, reason=reason),
            next_move=say("Mend VM_IMAGE, or leave it out to use the pinned image."),
        ) from error
    try:
        yield handle
    finally:
        os.close(handle)
