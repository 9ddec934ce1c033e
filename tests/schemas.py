"""The published JSON schemas, to hold what commands print against them."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from jsonschema import Draft202012Validator
from referencing import Registry, Resource

FOLDER = Path(__file__).parent.parent / "docs" / "schema"


def load(name: str) -> Any:
    return json.loads((FOLDER / f"{name}.json").read_text(encoding="utf-8"))


def validate(name: str, data: Any) -> None:
    """Fail with all that is wrong, unless `data` is as the schema `name` says."""
    common = Resource.from_contents(load("common"))
    registry: Registry[Any] = Registry().with_resource("common.json", common)
    validator = Draft202012Validator(load(name), registry=registry)
    problems = [f"{error.json_path}: {error.message}" for error in validator.iter_errors(data)]
    assert not problems, "\n".join(problems)
