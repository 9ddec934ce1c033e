"""Facts of a lab as frozen dataclasses: built from `lab.yaml`'s values, strictly."""

from __future__ import annotations

import types
import typing
from collections.abc import Mapping
from dataclasses import fields, is_dataclass
from typing import Any, TypeVar

from checks.outcome import CannotTell
from provision.message import Message, say

T = TypeVar("T")
_NUMBERS = say("it must be a map of whole numbers")


def build(shape: type[T], values: object, where: str = "facts") -> T:
    """An instance of the dataclass `shape`; CannotTell naming the field path when one is off.

    Fields may be texts, whole numbers, maps of texts to either, and dataclasses of these.
    """
    if not isinstance(values, Mapping):
        raise _off(where, say("it must be a map"))
    hints = typing.get_type_hints(shape)
    wanted: Any = shape
    names = [field.name for field in fields(wanted)]
    for key in values:
        if key not in names:
            raise _off(f"{where}.{key}", say("no such fact is known"))
    built: dict[str, object] = {}
    for name in names:
        if name not in values:
            raise _off(f"{where}.{name}", say("it is missing"))
        built[name] = _value(hints[name], values[name], f"{where}.{name}")
    return shape(**built)


def _value(hint: Any, value: object, where: str) -> object:  # noqa: ANN401
    if is_dataclass(hint):
        return build(typing.cast("type[object]", hint), value, where)
    if typing.get_origin(hint) is not None:
        kind = typing.get_args(hint)[1]
        if not isinstance(value, Mapping) or not all(_is_a(v, kind) for v in value.values()):
            what = say("it must be a map of texts") if kind is str else _NUMBERS
            raise _off(where, what)
        return types.MappingProxyType(dict(value))
    if not _is_a(value, hint):
        raise _off(where, say("it must be of type {type}", type=hint.__name__))
    return value


def _is_a(value: object, kind: type) -> bool:
    return isinstance(value, kind) and not isinstance(value, bool)


def _off(where: str, why: Message) -> CannotTell:
    return CannotTell(
        say("lab.yaml, {field}: {why}", field=where, why=why),
        next_move=say("correct lab.yaml of this lab"),
    )
