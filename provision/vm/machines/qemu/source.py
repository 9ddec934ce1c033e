"""Which image a machine is made from: the one that is named, or the pinned one."""

from __future__ import annotations

import contextlib
import re
from dataclasses import dataclass
from pathlib import Path

from provision.errors import UsageError
from provision.message import say
from provision.vm.collecting.plan import cloud_image
from provision.vm.settings import QemuSettings

LENGTHS = {"sha256": 64, "sha512": 128}


@dataclass(frozen=True, slots=True)
class Source:
    """Where an image comes from: an address or a path; `checksum` is `<algorithm>:<hex>`.

    A path may have no checksum (""). `instead` is an address whose sums stand at `sums`, for when
    `where` is gone.
    """

    where: str
    checksum: str = ""
    instead: str = ""
    sums: str = ""

    @property
    def is_address(self) -> bool:
        """It is to be fetched."""
        return re.match(r"[a-zA-Z][a-zA-Z0-9+.-]*://", self.where) is not None

    @property
    def name(self) -> str:
        """The image's name in the cache; "" while its checksum is not known."""
        return image_name(self.checksum) if self.checksum else ""


def image_name(checksum: str) -> str:
    """The name in the cache of what has this checksum."""
    algorithm, _, digest = checksum.partition(":")
    return f"{algorithm}-{digest[:32]}.img"


def wanted_source(qemu: QemuSettings, cwd: Path) -> Source:
    """The image that the settings name, a path counted from `cwd`, or the pinned one.

    Raises UsageError for a checksum that is none, and for an address without one.
    """
    if qemu.image:
        return _named(qemu.image, qemu.image_checksum, cwd)
    if qemu.image_checksum:
        raise UsageError(
            say("VM_IMAGE_CHECKSUM is set, but VM_IMAGE is not."),
            next_move=say("Name the image in VM_IMAGE, or leave both out to use the pinned one."),
        )
    pinned = cloud_image()
    return Source(pinned.url, pinned.checksum, pinned.instead, pinned.sums)


def _named(image: str, checksum: str, cwd: Path) -> Source:
    source = Source(image, _checksum(checksum))
    if not source.is_address:
        return Source(str(cwd / _at_home(image)), source.checksum)
    if not source.checksum:
        raise UsageError(
            say("VM_IMAGE is an address, so its checksum must be known."),
            next_move=say(
                "Set VM_IMAGE_CHECKSUM=sha256:... with the value that the image's publisher gives."
            ),
        )
    return source


def _checksum(text: str) -> str:
    """`<algorithm>:<hex>` in lower case; a bare number is known by its length."""
    algorithm, colon, digest = text.lower().rpartition(":")
    if not colon:
        algorithm = next((a for a, n in LENGTHS.items() if n == len(digest)), "")
    if text and (
        LENGTHS.get(algorithm) != len(digest) or re.fullmatch(r"[0-9a-f]+", digest) is None
    ):
        raise UsageError(
            say("VM_IMAGE_CHECKSUM is {value}, which is no checksum.", value=text),
            next_move=say("Write sha256: and 64, or sha512: and 128 hexadecimal digits."),
        )
    return f"{algorithm}:{digest}" if text else ""


def _at_home(text: str) -> Path:
    """A path with `~` for a home; left as it is when there is no such home."""
    with contextlib.suppress(RuntimeError):
        return Path(text).expanduser()
    return Path(text)
