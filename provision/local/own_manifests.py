"""Manifests of our own that a set of parts brings, as YAML files beside its code."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path
from string import Template
from typing import Any

import yaml

from provision.errors import TargetError
from provision.local.components import PartSet
from provision.message import say

PROVISION = Path(__file__).parents[1]
Document = dict[str, Any]


def own_manifests(sets: Iterable[PartSet], word: str) -> tuple[Document, ...]:
    """All documents of the sets' own files, `$word` filled in; TargetError naming a bad file."""
    files = [f for s in sets if s.files for f in sorted((PROVISION / s.files).glob("*.yaml"))]
    return tuple(document for file in files for document in _documents(file, word))


def _documents(file: Path, word: str) -> list[Document]:
    try:
        text = Template(file.read_text("utf-8")).substitute(word=word)
        return [d for d in yaml.load_all(text, Loader=yaml.CSafeLoader) if d is not None]
    except (KeyError, ValueError, yaml.YAMLError) as error:
        raise TargetError(
            say("{path} cannot be understood: {reason}.", path=file, reason=repr(error))
        ) from error
