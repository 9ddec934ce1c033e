"""A bundle: a folder with `bundle.yaml` and all files that a machine is provisioned from.

    schema: 1
    platform: linux/amd64
    os: debian-12
    artefacts:
      - {name: k3s, kind: binary, version: v1.36.3+k3s1, file: k3s, sha256: <64 hex digits>}

It is read and checked whole before anything is touched; whatever is wrong is told at once.
"""

from __future__ import annotations

import hashlib
import os
import stat
from collections.abc import Sequence
from pathlib import Path, PurePosixPath

from provision.files import NotPlain, reason_of
from provision.message import Message, say
from provision.vm.bundle.index import read_index, write_index
from provision.vm.bundle.model import INDEX, Artefact, Bundle, Kind, unusable

__all__ = [
    "INDEX",
    "NEEDS",
    "Artefact",
    "Bundle",
    "Kind",
    "check_bundle",
    "file_sum",
    "read_bundle",
    "write_index",
]

# What every machine is provisioned from, whichever way it gets its GPUs.
NEEDS = (("k3s", Kind.BINARY), ("kueue", Kind.MANIFEST), ("gpu-queue-lab", Kind.WHEEL))


def read_bundle(folder: Path) -> Bundle:
    """The bundle in `folder`, its files not looked at; TargetError with all faults of its index."""
    return read_index(folder.absolute())


def check_bundle(
    bundle: Bundle,
    *,
    needs: Sequence[tuple[str, Kind | str]] = NEEDS,
    platform: str | None = None,
    system: str | None = None,
) -> None:
    """One TargetError for all that is missing, altered, no plain file or for another machine.

    `needs` are names and kinds that must be in it. `platform` ("linux/amd64") and `system`
    ("debian-12") are those of the machine, where they are known already. Every file is read.
    """
    problems = list(_misfits(bundle, platform, system))
    held = {(a.name, a.kind) for a in bundle.artefacts}
    problems += [
        say("{name} ({kind}) is not in it", name=name, kind=kind)
        for name, kind in needs
        if (name, kind) not in held
    ]
    problems += [p for a in bundle.artefacts if (p := _problem(bundle, a)) is not None]
    if problems:
        raise unusable(bundle.folder, problems)


def file_sum(path: Path) -> str:
    """The sha256 of a plain file, in hex. A link, pipe or folder is an OSError, as is absence."""
    handle = os.open(path, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC)
    with os.fdopen(handle, "rb") as file:
        if not stat.S_ISREG(os.fstat(handle).st_mode):
            raise NotPlain
        return hashlib.file_digest(file, "sha256").hexdigest()


def _misfits(bundle: Bundle, platform: str | None, system: str | None) -> list[Message]:
    pairs = ((bundle.platform, platform), (bundle.os, system))
    return [
        say("it is for {made_for}, the machine is {found}", made_for=made_for, found=found)
        for made_for, found in pairs
        if found is not None and found != made_for
    ]


def _problem(bundle: Bundle, artefact: Artefact) -> Message | None:
    try:
        for above in PurePosixPath(artefact.file).parents:
            if (bundle.folder / above).is_symlink() and above != PurePosixPath():
                return say("{file} lies behind a link", file=artefact.file)
        found = file_sum(bundle.path(artefact))
    except (FileNotFoundError, NotADirectoryError):
        return say("{file} is missing", file=artefact.file)
    except OSError as error:
        reason = reason_of(error)
        return say("{file} cannot be read: {reason}", file=artefact.file, reason=reason)
    if found != artefact.sha256:
        return say("{file} is altered: its sha256 is {found}", file=artefact.file, found=found)
    return None
