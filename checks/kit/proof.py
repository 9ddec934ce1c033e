"""Evidence for a pass, taken from the object or the file that it rests on."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import UTC, datetime

from checks.kit.cluster import Kind, Object
from checks.kit.files import TextFile
from checks.kit.paths import dig_text
from checks.outcome import Evidence


def rfc3339(seconds: float) -> str:
    """A time in seconds since the epoch as RFC 3339 in UTC, to the second."""
    return datetime.fromtimestamp(seconds, UTC).strftime("%Y-%m-%dT%H:%M:%SZ")


def seconds_of(time: str) -> float:
    """The seconds since the epoch of an RFC 3339 time as the API writes it; 0.0 when it is none."""
    try:
        return datetime.fromisoformat(time).timestamp()
    except ValueError:
        return 0.0


def from_object(
    kind: Kind,
    live: Object,
    fact: str,
    *,
    time: str = "",
    data: Mapping[str, str] | None = None,
) -> Evidence:
    """A fact about an object. `time` is since when it is so; else the object's creation time."""
    return Evidence(
        kind=kind.name,
        name=dig_text(live, "metadata", "name"),
        fact=fact,
        time=time or dig_text(live, "metadata", "creationTimestamp"),
        namespace=dig_text(live, "metadata", "namespace"),
        uid=dig_text(live, "metadata", "uid"),
        resource_version=dig_text(live, "metadata", "resourceVersion"),
        data=data or {},
    )


def from_file(file: TextFile, fact: str, data: Mapping[str, str] | None = None) -> Evidence:
    """A fact about a file, at the time of its last change."""
    return Evidence(
        kind="File", name=str(file.path), fact=fact, time=rfc3339(file.mtime), data=data or {}
    )
