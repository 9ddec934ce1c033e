"""A bundle that is opened: its index is read, and what is damaged in it is named."""

from __future__ import annotations

import contextlib
import json
import tarfile
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path

from provision.errors import TargetError
from provision.local.cache import Entry, FileFact, entry_from_json
from provision.message import say

INDEX = "bundle.json"
SCHEMA = 1


@dataclass(frozen=True, slots=True)
class Index:
    """What a bundle says that it holds: entries by their keys, extra files by their paths."""

    entries: Mapping[str, Entry]
    extras: Mapping[str, FileFact]


@contextlib.contextmanager
def opened_bundle(bundle: Path) -> Iterator[tuple[tarfile.TarFile, Index]]:
    """A bundle and its index. TargetError when there is none, or when it is damaged.

    It is damaged, too, when the body raises ValueError.
    """
    try:
        with tarfile.open(bundle) as tar:
            yield tar, _index(tar)
    except FileNotFoundError as error:
        raise TargetError(
            say("There is no bundle at {path}.", path=bundle),
            next_move=say("Look at BUNDLE, or leave it out to build the parts."),
        ) from error
    except (tarfile.TarError, ValueError) as error:
        raise TargetError(
            say("The bundle {path} is damaged: {reason}.", path=bundle, reason=error),
            next_move=say("Copy it again, or leave BUNDLE out to build the parts."),
        ) from error


def _index(tar: tarfile.TarFile) -> Index:
    first = tar.next()
    content = tar.extractfile(first) if first is not None and first.name == INDEX else None
    if content is None:
        raise ValueError(f"it does not begin with {INDEX}")
    try:
        raw = json.loads(content.read())
        if raw["schema"] != SCHEMA:
            raise ValueError(f"schema {raw['schema']}")
        entries = [entry_from_json(json.dumps(entry)) for entry in raw["entries"]]
        extras = {name: FileFact(**fact) for name, fact in raw.get("extras", {}).items()}
    except (KeyError, TypeError, AttributeError) as error:
        raise ValueError(str(error)) from error
    return Index({entry.key: entry for entry in entries}, extras)
