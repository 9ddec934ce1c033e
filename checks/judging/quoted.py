"""Conditions that a learner quoted from kubectl: as YAML, as JSON, or as `describe` prints them."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from checks.kit.paths import dig_text
from checks.kit.yamltree import BadYaml, read_yaml

_FIELDS = ("type", "status", "reason", "message")
_LINE = re.compile(r"""[\s>*-]*["']?([A-Za-z][A-Za-z ]{0,30}?)["']?\s{0,8}:(?:\s+(.*))?$""")
_EDGES = " \t'\",`"


@dataclass(frozen=True, slots=True)
class Quoted:
    """One condition as it stands in a text; what is not told is empty."""

    type: str
    status: str = ""
    reason: str = ""
    message: str = ""


def quoted_conditions(text: str) -> tuple[Quoted, ...]:
    """All conditions that a text quotes, in their order; each has a type and a reason."""
    try:
        found = tuple(one for value, _ in read_yaml(text) for one in _inside(value))
    except BadYaml:
        found = ()
    return found or tuple(_by_lines(text))


def _inside(value: object) -> Iterator[Quoted]:
    """The conditions anywhere in what YAML or JSON holds."""
    if isinstance(value, Mapping):
        if dig_text(value, "type") and dig_text(value, "reason"):
            yield _quoted({field: str(value.get(field, "")) for field in _FIELDS})
        for inner in value.values():
            yield from _inside(inner)
    elif isinstance(value, list):
        for inner in value:
            yield from _inside(inner)


def _by_lines(text: str) -> Iterator[Quoted]:
    """Fields line by line; a field that comes again begins another condition."""
    fields: dict[str, str] = {}
    last = ""
    for line in text.split("\n"):
        match = _LINE.match(line)
        if match is None:
            if last == "message" and line.strip():
                fields[last] += " " + line.strip(_EDGES)
            continue
        last = match.group(1).strip().casefold()
        if last not in _FIELDS or not match.group(2):
            continue
        if last in fields:
            yield from _whole(fields)
            fields = {}
        fields[last] = match.group(2).strip(_EDGES)
    yield from _whole(fields)


def _whole(fields: Mapping[str, str]) -> Iterator[Quoted]:
    if fields.get("type") and fields.get("reason"):
        yield _quoted(fields)


def _quoted(fields: Mapping[str, str]) -> Quoted:
    return Quoted(**{field: " ".join(fields.get(field, "").split()) for field in _FIELDS})
