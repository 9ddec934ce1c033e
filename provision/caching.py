"""What the commands about the cache of built parts need of it."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Protocol

from provision.target import Tell


@dataclass(frozen=True, slots=True)
class CacheEntry:
    """One set of built parts: `key` names its folder, `size` is in bytes, `built` an RFC 3339 time.

    `is_current` says that the lab as it is now uses it.
    """

    key: str
    name: str
    platform: str
    kueue: str
    size: int
    built: str
    is_current: bool


class Cache(Protocol):
    """The per-user cache that all places share."""

    @property
    def path(self) -> Path:
        """Its folder."""

    def size(self) -> int:
        """Bytes on disk, Go's own caches included."""

    def entries(self) -> tuple[CacheEntry, ...]:
        """What is in it, the newest first."""

    def prune(self) -> int:
        """Remove all that the lab as it is now does not use; the bytes that were freed."""

    def take(self, folder: str) -> bool:
        """Get a folder that the application keeps in the cache out of BUNDLE; False without one."""

    def write_bundle(self, out: Path, tell: Tell) -> int:
        """Pack the parts that the lab uses now into one file, building them first when they are
        missing; its size in bytes."""
