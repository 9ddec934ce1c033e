"""YAML built from PyYAML's events: strict, limited, with the line of every field.

Reads what kubectl reads (YAML 1.1 scalars, anchors, merge keys) and refuses what kubectl refuses
or would take in another way than it looks: keys twice, odd tags, tabs, endless aliases.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, field

import yaml
from yaml import events as ev

from checks.kit.expect import Path, cut
from provision.message import Message, say

_DEEPEST = 60
_MOST_NODES = 20_000
_LONGEST_NUMBER = 40
_TAG = "tag:yaml.org,2002:"
_LOADER = getattr(yaml, "CSafeLoader", yaml.SafeLoader)

_NULL = re.compile(r"|~|null|Null|NULL")
_BOOL = re.compile(r"(yes|Yes|YES|true|True|TRUE|on|On|ON)|no|No|NO|false|False|FALSE|off|Off|OFF")
_INT = re.compile(r"[-+]?(?:0x[0-9a-fA-F_]+|0b[01_]+|0o?[0-7_]+|0|[1-9][0-9_]*)")
_FLOAT = re.compile(r"[-+]?(?:\d[\d_]*\.\d*|\.\d+|\d+(?=[eE]))(?:[eE][-+]?\d{1,3})?")
_NO_NUMBER = re.compile(r"[-+]?\.(?:inf|Inf|INF)|\.(?:nan|NaN|NAN)")


class BadYaml(Exception):
    """The text is no YAML that can be taken; `why` says it, `line` where (None: unknown)."""

    def __init__(self, why: Message, line: int | None) -> None:
        super().__init__(str(why))
        self.why = why
        self.line = line


@dataclass(slots=True)
class _Node:
    """A value, the lines of the fields in it, and its size in nodes with aliases written out."""

    value: object
    lines: dict[Path, int | None] = field(default_factory=dict)
    size: int = 1

    def take_lines(self, key: str | int, child: _Node) -> None:
        self.lines.update({(key, *path): line for path, line in child.lines.items()})


def read_yaml(text: str) -> list[tuple[object, dict[Path, int | None]]]:
    """Each document's value (None when it is empty) and the line of each field in it.

    Raises BadYaml, naming the line, for anything that is not sound.
    """
    try:
        events = yaml.parse(text.replace("\n\ufeff", "\n"), Loader=_LOADER)
        return [
            (node.value, node.lines)
            for event in events
            if isinstance(event, ev.DocumentStartEvent)
            for node in [_Builder(events).build(next(events), 0)]
        ]
    except yaml.MarkedYAMLError as error:
        line = error.problem_mark.line + 1 if error.problem_mark else None
        raise BadYaml(_explain(text, line, error), line) from None
    except yaml.YAMLError as error:
        raise BadYaml(say("not YAML: {reason}", reason=cut(str(error))), None) from None


def _explain(text: str, line: int | None, error: yaml.MarkedYAMLError) -> Message:
    lines = text.split("\n")
    if line and line <= len(lines) and re.match(r" *(?:-\s*)?\t|[^#]*\t", lines[line - 1]):
        return say("not YAML: the line holds a tab, and YAML indents with spaces only")
    return say("not YAML: {reason}", reason=cut(error.problem or str(error)))


class _Builder:
    """Builds the values of one document; every method takes the events of what it builds."""

    def __init__(self, events: Iterator[ev.Event]) -> None:
        self._events = events
        self._anchors: dict[str, _Node] = {}

    def build(self, event: ev.Event, depth: int) -> _Node:
        """The node that starts with `event`."""
        line = _line(event)
        if depth > _DEEPEST:
            raise BadYaml(say("it is nested deeper than {depth}", depth=_DEEPEST), line)
        if isinstance(event, ev.AliasEvent):
            return self._alias(event, line)
        if isinstance(event, ev.ScalarEvent):
            node = _Node(_read_scalar(event, line))
        elif isinstance(event, ev.SequenceStartEvent):
            node = self._sequence(event, depth)
        elif isinstance(event, ev.MappingStartEvent):
            node = self._mapping(event, depth)
        else:
            raise BadYaml(say("not YAML: it ends too early"), line)
        node.lines[()] = line
        if node.size > _MOST_NODES:
            raise BadYaml(say("its aliases make it far too large"), line)
        if event.anchor:
            self._anchors[event.anchor] = node
        return node

    def _alias(self, event: ev.AliasEvent, line: int | None) -> _Node:
        node = self._anchors.get(event.anchor or "")
        if node is None:
            raise BadYaml(
                say("the alias {name} names nothing before it", name=f"*{event.anchor}"), line
            )
        return _Node(node.value, {(): line}, node.size)

    def _sequence(self, event: ev.SequenceStartEvent, depth: int) -> _Node:
        _refuse_tag(event, "seq")
        items: list[object] = []
        node = _Node(items)
        while not isinstance(entry := next(self._events), ev.SequenceEndEvent):
            child = self.build(entry, depth + 1)
            node.take_lines(len(items), child)
            node.size += child.size
            items.append(child.value)
        return node

    def _mapping(self, event: ev.MappingStartEvent, depth: int) -> _Node:
        _refuse_tag(event, "map")
        own: dict[str, object] = {}
        merged: dict[str, object] = {}
        node = _Node(own)
        while not isinstance(entry := next(self._events), ev.MappingEndEvent):
            key, line = self._key(entry)
            is_merge = key == "<<" and isinstance(entry, ev.ScalarEvent) and not entry.style
            child = self.build(next(self._events), depth + 1)
            node.size += child.size
            if is_merge:
                _merge(merged, child.value, line)
                continue
            if key in own:
                raise BadYaml(say("the key {key} stands twice", key=cut(key, 60)), line)
            own[key] = child.value
            node.take_lines(key, child)
            node.lines[(key,)] = line
        for key, value in merged.items():
            own.setdefault(key, value)
        return node

    def _key(self, event: ev.Event) -> tuple[str, int | None]:
        line = _line(event)
        if isinstance(event, ev.AliasEvent):
            value = self._alias(event, line).value
        elif isinstance(event, ev.ScalarEvent):
            value = _read_scalar(event, line)
            if event.anchor:
                self._anchors[event.anchor] = _Node(value, {(): line})
        else:
            raise BadYaml(say("a key that is no text; an empty map is {empty}", empty="{}"), line)
        if isinstance(value, str):
            return value, line
        if isinstance(value, dict | list):
            raise BadYaml(say("a key that is no text; an empty map is {empty}", empty="{}"), line)
        return str(value).lower() if isinstance(value, bool) else str(value), line


def _line(event: ev.Event) -> int | None:
    return event.start_mark.line + 1 if event.start_mark else None


def _merge(into: dict[str, object], value: object, line: int | None) -> None:
    for source in value if isinstance(value, list) else [value]:
        if not isinstance(source, dict):
            raise BadYaml(say("the merge key {key} needs a map behind it", key="<<"), line)
        for key, item in source.items():
            into.setdefault(key, item)


def _refuse_tag(event: ev.CollectionStartEvent, usual: str) -> None:
    if event.tag and event.tag not in ("!", _TAG + usual):
        raise BadYaml(say("the tag {tag} has no place here", tag=cut(event.tag, 60)), _line(event))


def _read_scalar(event: ev.ScalarEvent, line: int | None) -> object:
    text: str = event.value
    tag = event.tag
    if not tag or tag == "!":
        is_plain = not tag and event.style in (None, "")
        return _resolve(text, line) if is_plain else text
    if tag == _TAG + "str":
        return text
    if tag in {_TAG + kind for kind in ("int", "float", "bool", "null")}:
        return _resolve(text, line)
    raise BadYaml(say("the tag {tag} has no place here", tag=cut(tag, 60)), line)


def _resolve(text: str, line: int | None) -> object:
    if _NULL.fullmatch(text):
        return None
    if match := _BOOL.fullmatch(text):
        return match.group(1) is not None
    if _NO_NUMBER.fullmatch(text):
        raise BadYaml(say("{value} is no number that JSON knows", value=text), line)
    is_int = _INT.fullmatch(text) is not None
    if not is_int and not _FLOAT.fullmatch(text):
        return text
    if len(text) > _LONGEST_NUMBER:
        raise BadYaml(say("a number of {count} characters", count=len(text)), line)
    try:
        return _whole(text) if is_int else float(text.replace("_", ""))
    except ValueError:
        return text


def _whole(text: str) -> int:
    digits = text.replace("_", "")
    is_octal = re.fullmatch(r"[-+]?0[0-7]+", digits)
    return int(digits, 8) if is_octal else int(digits, 0)
