"""What a bundle is to hold, read from versions.yaml: addresses, versions, pinned checksums."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import PurePosixPath
from typing import Any
from urllib.parse import quote, urlsplit

from provision.errors import TargetError
from provision.message import say
from provision.versions import read_versions, training_for
from provision.vm.bundle.model import Artefact, Kind

UNKNOWN = "unknown"
# Parts that a lab may ask for and that are fetched: each has a manifest and an image of its own.
PARTS = ("jobset", "trainer")
MACHINES = {"linux/amd64": "x86_64", "linux/arm64": "aarch64"}
FOLDERS = {
    Kind.BINARY: "",
    Kind.IMAGES: "images/",
    Kind.CHART: "charts/",
    Kind.MANIFEST: "manifests/",
    Kind.DISK: "disks/",
}


@dataclass(frozen=True, slots=True)
class Wanted:
    """One artefact to collect: from `url`, or from the registry of `image`.

    `checksum` is `sha256:<hex>` or `sha512:<hex>` of the file, `h1:<base64>` of a Go module, for
    an image the digest of its index; "" when it is not known here: `sums` is then the address where
    it is published. `instead` is used when `url` is gone. `only` names the way of getting a machine
    or GPUs, or the part of a lab, that needs it, "" when all do.
    """

    name: str
    kind: Kind
    version: str
    url: str = ""
    image: str = ""
    checksum: str = ""
    sums: str = ""
    instead: str = ""
    only: str = ""

    @property
    def file(self) -> str:
        """Its path in a bundle."""
        if self.kind is Kind.BINARY:
            return self.name
        if self.kind is Kind.CHART:
            return f"charts/{self.name}-{self.version}.tgz"
        suffix = ".tar" if self.image else _suffix(self.url)
        return f"{FOLDERS[self.kind]}{self.name}{suffix}"

    @property
    def source(self) -> str:
        """Where it comes from, for people."""
        return self.url or self.image


@dataclass(frozen=True, slots=True)
class Plan:
    """All that a bundle for one kind of machine is collected from; `python` is "3.11.2"."""

    platform: str
    os: str
    python: str
    artefacts: tuple[Wanted, ...]
    debs: tuple[str, ...]

    @property
    def machine(self) -> str:
        """The platform's machine as `uname -m` has it."""
        return MACHINES[self.platform]

    def without(self, *unneeded: str) -> Plan:
        """The plan without what only these ways of getting a machine or GPUs, or parts, need."""
        kept = tuple(w for w in self.artefacts if w.only == "" or w.only not in unneeded)
        return Plan(self.platform, self.os, self.python, kept, self.debs)

    def for_parts(self, parts: Iterable[str]) -> Plan:
        """The plan without what only other parts of labs than these need."""
        return self.without(*(name for name in PARTS if name not in parts))

    def one(self, name: str, kind: Kind) -> Wanted:
        """The entry of that name and kind; KeyError when versions.yaml has none."""
        for wanted in self.artefacts:
            if (wanted.name, wanted.kind) == (name, kind):
                return wanted
        raise KeyError(name)


def read_plan(system: str = "") -> Plan:
    """The plan of versions.yaml for a machine of `system`, such as "debian-12"; "" is QEMU's.

    TargetError for a system that no wheels are known to fit.
    """
    raw = read_versions()
    vm: Mapping[str, Any] = raw["vm"]
    kueue = str(raw["kueue"]["written_for"])
    training = training_for(kueue)
    known = {"kueue": kueue, "jobset": training.jobset, "trainer": training.trainer}
    system = system or str(vm["os"])
    if system not in vm["systems"]:
        raise TargetError(
            say("No Python packages can be chosen for {system}.", system=system),
            next_move=say("Use a machine with one of {known}.", known=", ".join(vm["systems"])),
        )
    return Plan(
        platform=str(vm["platform"]),
        os=system,
        python=str(vm["systems"][system]),
        artefacts=tuple(_wanted(row, known) for row in vm["artefacts"]),
        debs=tuple(vm["debs"]),
    )


def cloud_image() -> Wanted:
    """The pinned cloud image that QEMU's machine starts from."""
    return next(w for w in read_plan().artefacts if w.kind is Kind.DISK)


def collected(wanted: Wanted, sha256: str, *, source: str = "", is_pinned: bool) -> Artefact:
    """The entry of bundle.yaml for something that was had."""
    return Artefact(
        name=wanted.name,
        kind=wanted.kind,
        version=wanted.version,
        file=wanted.file,
        sha256=sha256,
        source=source or wanted.source,
        proof="pinned" if is_pinned else "published",
    )


def _wanted(row: Mapping[str, str], known: Mapping[str, str]) -> Wanted:
    version = row["version"].format_map(known)
    in_address = quote(version, safe="")
    return Wanted(
        name=row["name"],
        kind=Kind(row["kind"]),
        version=version,
        url=row.get("url", "").format(version=in_address),
        image=row.get("image", "").format(version=version),
        checksum=_checksum(row),
        sums=row.get("sums", "").format(version=in_address),
        instead=row.get("instead", ""),
        only=row.get("only", ""),
    )


def _checksum(row: Mapping[str, str]) -> str:
    """The one checksum of an entry, with its algorithm before it; "" for `unknown`."""
    if "h1" in row:
        return f"h1:{row['h1']}"
    if "digest" in row:
        return "" if row["digest"] == UNKNOWN else row["digest"]
    algorithm = "sha512" if "sha512" in row else "sha256"
    return "" if row[algorithm] == UNKNOWN else f"{algorithm}:{row[algorithm]}"


def _suffix(url: str) -> str:
    """`.tar.zst`, `.yaml` or `.qcow2`: the suffixes that say what the file is."""
    name = PurePosixPath(urlsplit(url).path)
    return ".tar" + name.suffix if name.stem.endswith(".tar") else name.suffix
