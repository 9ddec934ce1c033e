"""The built parts that a lab needs: from the cache, from a bundle, or built now."""

from __future__ import annotations

import json
import time
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from provision.errors import TargetError, UsageError
from provision.local.builder import Builder, check_resources
from provision.local.bundle import use_bundle
from provision.local.cache import Entry, PartCache, remove_tree
from provision.local.components import DATA, GO, Inventory, load_inventory
from provision.local.override import override_folder
from provision.local.recipe import Recipe, make_recipe, this_platform
from provision.local.toolchain import Toolchain, find_toolchain, install_toolchain
from provision.message import say
from provision.settings import Settings
from provision.state import locked
from provision.target import Progress, Tell
from provision.versions import go_version


@dataclass(frozen=True, slots=True)
class Parts:
    """What was found or built: `binaries` maps a part to its program, `versions` to its version."""

    key: str
    binaries: Mapping[str, Path]
    versions: Mapping[str, str]
    manifests: Mapping[str, tuple[dict[str, Any], ...]]


class PartStore:
    """Gets parts for lab places; one for a command."""

    def __init__(self, settings: Settings, inventory: Inventory | None = None) -> None:
        self._settings = settings
        self.inventory = inventory or load_inventory()
        self.cache = PartCache(settings.cache)

    def recipes(self, names: tuple[str, ...], tell: Tell) -> tuple[Recipe, ...]:
        """What the named sets are built from, with KUEUE_VERSION taken into account."""
        platform = this_platform()
        folders: dict[str, Path] = {}
        if version := self._settings.kueue_version:
            folders[GO] = override_folder(
                self.cache, version, self._toolchain, self._settings.environ, tell
            )
        sets = [s for s in self.inventory.chosen(names) if s.build]
        return tuple(make_recipe(self.inventory, s, platform, folders.get(s.go)) for s in sets)

    def more(self) -> tuple[str, ...]:
        """The sets that PARTS names; UsageError for one that is not known."""
        known, wanted = tuple(self.inventory.sets), self._settings.parts
        if "all" in wanted:
            return known
        if unknown := [name for name in wanted if name not in known]:
            raise UsageError(
                say("PARTS names {name}, which is no set of parts.", name=unknown[0]),
                next_move=say("It takes all, or some of: {known}.", known=", ".join(known)),
            )
        return wanted

    def ensure(self, names: tuple[str, ...], tell: Tell, started: float) -> Parts:
        """The parts of the named sets; what is not in the cache is built, or taken from BUNDLE."""
        recipes = self.recipes(names, tell)
        more = self.more()
        wanted = self.recipes((*names, *more), tell) if more else recipes
        if None in [self.cache.find(r.key) for r in wanted]:
            self._make(wanted, tell, started)
        found = [self.cache.find(r.key) for r in recipes]
        entries = [e for e in found if e is not None]
        if len(entries) < len(recipes):
            raise TargetError(
                say("Parts that were just built are not in {path}.", path=self.cache.parts)
            )
        return self._parts(entries)

    def _make(self, recipes: tuple[Recipe, ...], tell: Tell, started: float) -> None:
        self.cache.check_writable()
        with locked(self.cache.root / ".build.lock", tell, started):
            if bundle := self._settings.bundle:
                tell(Progress(say("unpacking {path}", path=bundle), time.monotonic() - started))
                use_bundle(bundle, self.cache, frozenset(r.key for r in recipes))
            missing = [r for r in recipes if self.cache.find(r.key) is None]
            if not missing:
                return
            check_resources(self.cache)
            toolchain = self._toolchain(tuple(r.go_folder for r in missing))
            builder = Builder(self.cache, toolchain, self._settings.environ, tell, started)
            for recipe in missing:
                builder.build(recipe)
            if not self._settings.keep_go_cache:
                remove_tree(self.cache.go)
                remove_tree(self.cache.toolchain)

    def _toolchain(self, folders: tuple[Path, ...] = (DATA / GO,)) -> Toolchain:
        """A Go that is new enough for the go.mod of each folder."""
        oldest = max(go_version((folder / "go.mod").read_text("utf-8")) for folder in folders)
        found = find_toolchain(self._settings.search_path, oldest)
        return found or install_toolchain(self.cache, self._settings.environ)

    def _parts(self, entries: list[Entry]) -> Parts:
        binaries: dict[str, Path] = {}
        versions: dict[str, str] = {}
        manifests: dict[str, tuple[dict[str, Any], ...]] = {}
        for entry in entries:
            folder = self.cache.folder(entry.key)
            versions |= entry.versions
            binaries |= {name: folder / "bin" / name for name in entry.versions}
            for path in sorted((folder / "manifests").glob("*.json")):
                manifests[path.stem] = tuple(json.loads(path.read_text("utf-8")))
        return Parts("+".join(e.key for e in entries), binaries, versions, manifests)
