"""What a bundle is made of, as plain data, and how its faults are told: all of them at once."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from enum import StrEnum
from pathlib import Path, PurePosixPath

from provision.errors import TargetError
from provision.message import Message, say

INDEX = "bundle.yaml"
SCHEMA = 1
REMEDY = say("Copy the bundle again, or collect one anew: make bundle TARGET=vm OUT=folder.")


class Kind(StrEnum):
    """What an artefact is; `images` is a tar of container images, `disk` a cloud image."""

    BINARY = "binary"
    IMAGES = "images"
    CHART = "chart"
    MANIFEST = "manifest"
    WHEEL = "wheel"
    DEB = "deb"
    DISK = "disk"


@dataclass(frozen=True, slots=True)
class Artefact:
    """One file of a bundle. `file` is its path inside, with `/`; `sha256` is in lower-case hex.

    `source` is the address that it came from, or "". `proof` says how its checksum was known:
    "pinned" in versions.yaml, "published" by those who release it and read over TLS, or "".
    """

    name: str
    kind: Kind
    version: str
    file: str
    sha256: str
    source: str = ""
    proof: str = ""


@dataclass(frozen=True, slots=True)
class Bundle:
    """What `bundle.yaml` in `folder` says; whether the files are so is asked by `check_bundle`.

    `platform` is such as "linux/amd64", `os` is `<ID>-<VERSION_ID>` of os-release ("debian-12"):
    debs and wheels fit that one only.
    """

    folder: Path
    platform: str
    os: str
    artefacts: tuple[Artefact, ...]

    def all(self, kind: Kind | str) -> tuple[Artefact, ...]:
        """The artefacts of a kind, in the order of `bundle.yaml`."""
        return tuple(a for a in self.artefacts if a.kind == kind)

    def one(self, name: str, kind: Kind | str) -> Artefact:
        """The artefact of that name and kind; TargetError when it is not there."""
        for artefact in self.all(kind):
            if artefact.name == name:
                return artefact
        missing = say("{name} ({kind}) is not in it", name=name, kind=kind)
        raise unusable(self.folder, [missing])

    def path(self, artefact: Artefact) -> Path:
        """Where an artefact's file is."""
        return self.folder.joinpath(*PurePosixPath(artefact.file).parts)


def unusable(folder: Path, problems: Sequence[Message]) -> TargetError:
    """The error that lists every problem of a bundle, one a line."""
    return TargetError(
        say("The bundle {path} cannot be used:\n{problems}", path=folder, problems=lines(problems)),
        next_move=REMEDY,
    )


def lines(messages: Sequence[Message]) -> Message:
    """Messages below each other, each with a dash; halved, so that there may be any number."""
    if len(messages) == 1:
        return say("- {line}", line=messages[0])
    half = len(messages) // 2
    return say("{first}\n{rest}", first=lines(messages[:half]), rest=lines(messages[half:]))
