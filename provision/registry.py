"""Kinds of targets by name; each is imported only when it is asked for."""

from __future__ import annotations

import importlib
from collections.abc import Mapping

from provision.caching import Cache
from provision.errors import UsageError
from provision.message import say
from provision.settings import Settings
from provision.target import PlaceSpec, Target

TARGETS: Mapping[str, str] = {
    "local": "provision.local.target:LocalTarget",
    "vm": "provision.vm.target:VmTarget",
    "inside": "provision.vm.inside.target:InsideTarget",
}
# What people choose from: `inside` is the machine of vm as it sees itself.
FOR_PEOPLE = ("local", "vm")
CACHE = "provision.local.caching:LocalCache"


def open_target(name: str, spec: PlaceSpec, settings: Settings) -> Target:
    """The target `name` for a place; nothing is started. UsageError for an unknown name."""
    if name not in TARGETS:
        raise UsageError(
            say(
                "There is no target {name}; there are: {known}.",
                name=name,
                known=", ".join(FOR_PEOPLE),
            ),
            next_move=say("Leave TARGET out to use the local one."),
        )
    target: Target = _load(TARGETS[name])(spec, settings)
    return target


def open_cache(settings: Settings) -> Cache:
    """The cache of built parts that all places share."""
    cache: Cache = _load(CACHE)(settings)
    return cache


def _load(path: str) -> type:
    module, _, name = path.partition(":")
    found: type = getattr(importlib.import_module(module), name)
    return found
