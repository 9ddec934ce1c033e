"""A configuration with a lab's own settings laid over it."""

from __future__ import annotations

from collections.abc import Mapping


def merge(base: Mapping[str, object], over: Mapping[str, object]) -> dict[str, object]:
    """A copy of `base` with what `over` says: maps are merged, all else takes its place."""
    merged = dict(base)
    for key, value in over.items():
        below = merged.get(key)
        if isinstance(below, Mapping) and isinstance(value, Mapping):
            merged[key] = merge(below, value)
        else:
            merged[key] = value
    return merged
