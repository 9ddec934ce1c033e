"""Conditions that a learner quoted from kubectl: as YAML, as JSON, or as `describe` prints them.

Other lines may stand around them: a heading, or the command that printed them.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from checks.kit.paths import dig_text
from checks.kit.yamltree import BadYaml, read_yaml

_FIELDS = ("type", "status", "reason", "message")
_LINE = re.compile(r"""[\s>*-]*["']?([A-Za-z][A-Za-z ]{0,30}?)["']?\s{0,8}:(?:\s+(.*))?$""")
_EDGES = " \t'\",`"
_JSON = re.compile(r"^[ \t]*(?=[\[{])", re.M)
_LONGEST_SEARCH = 100_000_000  # characters read in vain: about a second


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
    return found or tuple(_in_json(text)) or tuple(_by_lines(text))


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


def _in_json(text: str) -> Iterator[Quoted]:
    """Those of all JSON values that begin a line, whatever stands between them.

    Each line may begin one, and reading it may take all that follows: what is read in vain is
    counted, so that no text takes long.
    """
    decoder = json.JSONDecoder()
    position = wasted = 0
    while wasted < _LONGEST_SEARCH and (begin := _JSON.search(text, position)) is not None:
        try:
            value, position = decoder.raw_decode(text, begin.end())
            found = tuple(_inside(value))
        except json.JSONDecodeError as bad:
            position = begin.end() + 1
            wasted += bad.pos  # an error counts the lines from the beginning
            continue
        except (ValueError, RecursionError):  # a number or a depth that no object of Kueue has
            return
        yield from found


def _by_lines(text: str) -> Iterator[Quoted]:
    """Fields line by line; a field that comes again begins another condition.

    A message may go on below: YAML folds it onto lines that stand further in, and such a line may
    itself look like a field ("JobUID: ...").
    """
    fields: dict[str, str] = {}
    last, column = "", 0
    for line in text.split("\n"):
        match = _LINE.match(line)
        key = match.group(1).strip().casefold() if match else ""
        if last == "message" and line.strip():
            is_inside = match is None or match.start(1) > column
            if is_inside and key not in _FIELDS:
                fields[last] = f"{fields.get(last, '')} {line.strip()}"
                continue
        if match is None:
            continue
        last, column = key, match.start(1)
        if last not in _FIELDS or not match.group(2):
            continue
        if last in fields:
            yield from _whole(fields)
            fields = {}
        fields[last] = match.group(2)
    yield from _whole(fields)


def _whole(fields: Mapping[str, str]) -> Iterator[Quoted]:
    told = {name: value.strip(_EDGES) for name, value in fields.items()}
    if told.get("type") and told.get("reason"):
        yield _quoted(told)


def _quoted(fields: Mapping[str, str]) -> Quoted:
    return Quoted(**{field: " ".join(fields.get(field, "").split()) for field in _FIELDS})
