"""Manifests in a learner's file: YAML or JSON, any number of documents, Lists unwrapped.

What kubectl would refuse, or would read in another way than it looks, is a Mismatch naming the
line. Nothing in a file can make the reading run away: depth, size and aliases are limited before
any value is built.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import NoReturn

from checks.kit.expect import Path, cut, mismatch, plain
from checks.kit.files import TextFile
from checks.kit.odd import describe_oddity, first_oddity
from checks.kit.yamltree import BadYaml, read_yaml
from checks.outcome import Finding, Mismatch
from provision.message import Message, say

_DEEPEST = 60
_LONGEST_NUMBER = 40
_SPACE = re.compile(r"\s*")
_HALF = re.compile(r"[\ud800-\udfff]")  # an escape of a surrogate without its other half


class BadJson(Mismatch):
    """The file holds no JSON value."""


@dataclass(frozen=True, slots=True)
class Document:
    """One manifest of a file: the parsed object, and the line of each field that YAML told."""

    content: Mapping[str, object]
    file: TextFile
    lines: Mapping[Path, int | None] = field(default_factory=dict)

    def line_of(self, path: Path) -> int | None:
        """The line of a field, or of the nearest field above it that exists; None for JSON."""
        for length in range(len(path), -1, -1):
            if path[:length] in self.lines:
                return self.lines[path[:length]]
        return None


def read_documents(file: TextFile) -> tuple[Document, ...]:
    """All objects of a manifest file, in order; Mismatch when it is no YAML or JSON of objects."""
    spoiled: Mismatch | None = None
    if file.text.lstrip().startswith(("{", "[")):
        try:
            values = tuple(_parse_stream(file))
            return tuple(one for value in values for one in _unwrap(file, value, {}, depth=0))
        except BadJson as bad:
            spoiled = bad
    try:
        trees = read_yaml(file.text)
    except BadYaml as bad_yaml:
        raise spoiled or _unreadable(file, bad_yaml.line, bad_yaml.why) from None
    found: list[Document] = []
    for value, lines in trees:
        if value is not None:
            found += _unwrap(file, value, lines, depth=0)
    if not found:
        _refuse(file, None, say("no object: only comments or empty documents"))
    return tuple(found)


def parse_json(file: TextFile) -> object:
    """The JSON value of a file; BadJson for anything RFC 8259 does not allow, or keys twice."""
    decoder = _decoder(file)
    try:
        return decoder.decode(file.text)
    except json.JSONDecodeError as error:
        raise _not_json(file, error.lineno, plain(error.msg)) from None


def _parse_stream(file: TextFile) -> Iterator[object]:
    """The JSON values of a file, one after the other, as kubectl takes them."""
    decoder = _decoder(file)
    text = file.text.rstrip()
    position = len(text) - len(text.lstrip())
    while position < len(text):
        try:
            value, end = decoder.raw_decode(text, position)
        except json.JSONDecodeError as error:
            raise _not_json(file, error.lineno, plain(error.msg)) from None
        yield value
        space = _SPACE.match(text, end)
        position = space.end() if space else end


def _decoder(file: TextFile) -> json.JSONDecoder:
    if _depth(file.text) > _DEEPEST:
        raise _not_json(file, None, say("it is nested deeper than {depth}", depth=_DEEPEST))
    return json.JSONDecoder(
        object_pairs_hook=lambda pairs: _once(file, pairs),
        parse_constant=lambda word: _no_constant(file, word),
        parse_int=lambda text: _number(file, text),
        parse_float=lambda text: _number(file, text),
    )


def _unwrap(
    file: TextFile, value: object, lines: Mapping[Path, int | None], depth: int
) -> tuple[Document, ...]:
    if not isinstance(value, dict):
        _refuse(file, lines.get(()), say("{value}, not an object", value=cut(str(value), 60)))
    items = value.get("items")
    if str(value.get("kind", "")).endswith("List") and isinstance(items, list) and depth < 3:
        found: list[Document] = []
        for index, item in enumerate(items):
            below = {p[2:]: n for p, n in lines.items() if p[:2] == ("items", index)}
            found += _unwrap(file, item, below, depth + 1)
        return tuple(found)
    return (Document(value, file, lines),)


def _depth(text: str) -> int:
    deepest = depth = 0
    for char in text:
        if char in "[{":
            depth += 1
            deepest = max(deepest, depth)
        elif char in "]}":
            depth -= 1
    return deepest


def _once(file: TextFile, pairs: list[tuple[str, object]]) -> dict[str, object]:
    seen: set[str] = set()
    for key, _ in pairs:
        if key in seen:
            raise _not_json(file, None, say("the key {key} stands twice", key=cut(key, 60)))
        if _HALF.search(key):
            spelled = cut(json.dumps(key), 60)
            raise _not_json(file, None, say("half a character in the key {key}", key=spelled))
        seen.add(key)
    return dict(pairs)


def _no_constant(file: TextFile, word: str) -> NoReturn:
    lines = file.text.split("\n")
    number = next((n for n, line in enumerate(lines, 1) if word in line), None)
    context = cut(lines[number - 1], 80) if number else word
    raise _not_json(file, number, say("{word} is no JSON number: {line}", word=word, line=context))


def _number(file: TextFile, text: str) -> int | float:
    if len(text) > _LONGEST_NUMBER:
        raise _not_json(file, None, say("a number of {count} digits", count=len(text)))
    try:
        return int(text)
    except ValueError:
        return float(text)


def _not_json(file: TextFile, line: int | None, why: Message) -> BadJson:
    oddity = first_oddity(file.text)
    fix = say("correct {name}; any JSON checker shows the place", name=file.name)
    return BadJson(
        Finding(
            place(file, line),
            say("one JSON value"),
            say("not JSON: {why}", why=why),
            describe_oddity(oddity) if oddity else fix,
        )
    )


def _unreadable(file: TextFile, line: int | None, why: Message) -> Mismatch:
    oddity = first_oddity(file.text)
    return mismatch(
        place(file, line),
        say("YAML or JSON that kubectl can read"),
        why,
        describe_oddity(oddity) if oddity else say("correct that line of {name}", name=file.name),
    )


def _refuse(file: TextFile, line: int | None, found: Message) -> NoReturn:
    oddity = first_oddity(file.text)
    raise mismatch(
        place(file, line),
        say("a manifest: an object with apiVersion, kind and metadata"),
        found,
        describe_oddity(oddity)
        if oddity
        else say("write the manifest into {name}", name=file.name),
    )


def place(file: TextFile, line: int | None = None, field: str = "") -> Message:
    """Where in a file: its path, with line and field when they are known."""
    if line is None:
        return say("{path}, {field}", path=file.path, field=field) if field else plain(file.path)
    if field:
        return say("{path}, line {line}, {field}", path=file.path, line=line, field=field)
    return say("{path}, line {line}", path=file.path, line=line)
