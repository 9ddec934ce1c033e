"""What lies in a lab's cluster from the start: `cluster/*.yaml`, templates of the lab's facts."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import yaml

from lab.fields import CatalogError
from lab.filling import fill
from lab.model import Lab
from provision.message import say


def cluster_objects(lab: Lab) -> tuple[Mapping[str, Any], ...]:
    """The manifests with the lab's facts put in; CatalogError naming a file that is none."""
    files = sorted((lab.folder / "cluster").glob("*.yaml"))
    return tuple(document for file in files for document in _documents(lab, str(file)))


def _documents(lab: Lab, file: str) -> list[Mapping[str, Any]]:
    try:
        with open(file, encoding="utf-8") as source:  # noqa: PTH123
            text = fill(source.read(), lab.facts, where=file)
        found = [d for d in yaml.load_all(text, Loader=yaml.CSafeLoader) if d is not None]
    except (OSError, UnicodeDecodeError, yaml.YAMLError) as error:
        raise _bad(file, " ".join(str(error).split())) from error
    for document in found:
        name = document.get("metadata", {}) if isinstance(document, dict) else None
        if not isinstance(name, dict) or not {"kind", "apiVersion"} <= document.keys():
            raise _bad(file, "a document is no object of Kubernetes")
    return found


def _bad(file: str, why: str) -> CatalogError:
    return CatalogError(
        say("{file} cannot be read: {error}", file=file, error=why),
        next_move=say("Correct {file}.", file=file),
    )
