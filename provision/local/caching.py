"""The cache as the commands `cache` and `bundle` see it."""

from __future__ import annotations

import time
from pathlib import Path

from provision.caching import CacheEntry
from provision.files import plain_file_errors
from provision.local.bundle import write_bundle
from provision.local.extras import take_extras
from provision.local.parts import PartStore
from provision.settings import Settings
from provision.state import locked
from provision.target import Tell, silent


class LocalCache:
    """Implements `provision.caching.Cache`."""

    def __init__(self, settings: Settings) -> None:
        self._settings = settings
        self._store = PartStore(settings)

    @property
    def path(self) -> Path:
        """Its folder."""
        return self._store.cache.root

    def size(self) -> int:
        """Bytes on disk."""
        return self._store.cache.size()

    def entries(self) -> tuple[CacheEntry, ...]:
        """What is in it, the newest first."""
        current = self._current_keys()
        return tuple(
            CacheEntry(
                key=entry.key,
                name=entry.name,
                platform=entry.platform,
                kueue=entry.versions.get("kueue", ""),
                size=entry.size,
                built=entry.built,
                is_current=entry.key in current,
            )
            for entry in self._store.cache.entries()
        )

    def prune(self) -> int:
        """Remove all but what is current; the bytes that were freed."""
        with plain_file_errors(), locked(self.path / ".build.lock", silent, time.monotonic()):
            keep_go = self._settings.keep_go_cache
            return self._store.cache.prune(self._current_keys(), keep_go=keep_go)

    def take(self, folder: str) -> bool:
        """Get a folder of the application out of BUNDLE, if that is set and holds it."""
        bundle = self._settings.bundle
        with plain_file_errors():
            return bundle is not None and take_extras(bundle, self.path, folder)

    def write_bundle(self, out: Path, tell: Tell) -> int:
        """Pack the current parts into `out`."""
        started = time.monotonic()
        with plain_file_errors():
            names = self._store.more()
            self._store.ensure(names, tell, started)
            keys = {r.key for r in self._store.recipes(names, tell)}
            entries = [e for e in self._store.cache.entries() if e.key in keys]
            return write_bundle(entries, self._store.cache, out.absolute(), tell, started)

    def _current_keys(self) -> frozenset[str]:
        names = tuple(self._store.inventory.sets)
        return frozenset(r.key for r in self._store.recipes(names, silent))
