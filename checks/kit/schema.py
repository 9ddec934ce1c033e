"""What the API server would refuse about a manifest, read from the schemas that it publishes.

Asked only when a file looks right and yet is not what the cluster holds. Rules in other forms
(webhooks, CEL, what is checked in code) are not seen here, so nothing found means nothing.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from difflib import get_close_matches

from checks.kit.expect import Fault, Path, plain, show
from checks.kit.paths import dig_list, dig_map, dig_text
from checks.kit.quantities import BadQuantity, parse_quantity
from provision.message import Message, say

Schemas = Mapping[str, object]

_TYPES: Mapping[str, tuple[type, ...]] = {
    "object": (Mapping,),
    "array": (list,),
    "string": (str,),
    "integer": (int,),
    "number": (int, float),
    "boolean": (bool,),
}
_NAMES = {
    "object": say("fields below it"),
    "array": say("a list"),
    "string": say("a text"),
    "integer": say("a whole number"),
    "number": say("a number"),
    "boolean": say("true or false"),
}


def find_refusal(content: Mapping[str, object], kind: str, schemas: Schemas) -> Fault | None:
    """The first field of an object of that kind that no schema allows; None when none is seen."""
    group, _, version = dig_text(content, "apiVersion").rpartition("/")
    for schema in schemas.values():
        for own in dig_list(schema, "x-kubernetes-group-version-kind"):
            if own == {"group": group, "version": version, "kind": kind}:
                return _Reader(schemas).fault(content, schema, ())
    return None


@dataclass(frozen=True, slots=True)
class _Reader:
    schemas: Schemas

    def fault(self, value: object, schema: object, path: Path) -> Fault | None:
        """What is off with a value or below it, in the order in which it is written."""
        schema = self._resolved(schema)
        if value is None or schema.get("x-kubernetes-preserve-unknown-fields"):
            return None
        wanted = dig_text(schema, "type")
        if not wanted:
            return _other_amount(value, schema, path)
        if not _is_of(value, wanted):
            return _other_type(value, wanted, path)
        if isinstance(value, Mapping):
            return self._below(value, schema, path)
        if isinstance(value, list):
            items = schema.get("items")
            found = (self.fault(item, items, (*path, n)) for n, item in enumerate(value))
            return next((one for one in found if one is not None), None)
        return _other_value(value, schema, path)

    def _below(
        self, value: Mapping[str, object], schema: Mapping[str, object], path: Path
    ) -> Fault | None:
        fields, others = dig_map(schema, "properties"), schema.get("additionalProperties")
        for key, inner in value.items():
            if key not in fields and not others:
                return _unknown(key, list(fields), path) if fields else None
            fault = self.fault(inner, fields.get(key, others), (*path, key))
            if fault is not None:
                return fault
        missing = [name for name in dig_list(schema, "required") if value.get(str(name)) is None]
        return _missing(str(missing[0]), path) if missing else None

    def _resolved(self, schema: object) -> Mapping[str, object]:
        """A schema with what it refers to in its place."""
        for part in (schema, *dig_list(schema, "allOf")):
            name = dig_text(part, "$ref").rpartition("/")[2]
            if name:
                return dig_map(self.schemas, name)
        return schema if isinstance(schema, Mapping) else {}


def _is_of(value: object, wanted: str) -> bool:
    if isinstance(value, bool):
        return wanted == "boolean"
    if isinstance(value, float) and value.is_integer():
        return wanted in ("integer", "number")
    return isinstance(value, _TYPES.get(wanted, (object,)))


def _other_amount(value: object, schema: Mapping[str, object], path: Path) -> Fault | None:
    """A schema of number or text is one of a quantity, a port, or the like."""
    if not dig_list(schema, "oneOf") and not dig_list(schema, "anyOf"):
        return None
    if isinstance(value, Mapping | list | bool):
        return Fault(path, say("a number or a text"), plain(show(value)), _explain(path))
    if "fixed-point" not in dig_text(schema, "description"):
        return _other_value(value, schema, path)
    try:
        parse_quantity(value)
    except BadQuantity as bad:
        found = say("{value}: {why}", value=show(value), why=bad.why)
        return Fault(path, say("a quantity"), found, _explain(path))
    return None


def _other_type(value: object, wanted: str, path: Path) -> Fault:
    found = say("{value}, which is none", value=show(value))
    return Fault(path, _NAMES[wanted], found, _explain(path))


def _other_value(value: object, schema: Mapping[str, object], path: Path) -> Fault | None:
    values = [show(one).strip('"') for one in dig_list(schema, "enum")]
    if values and show(value).strip('"') not in values:
        wanted = say("one of {values}", values=", ".join(values))
        return Fault(path, wanted, plain(show(value)), _explain(path))
    pattern = dig_text(schema, "pattern")
    if pattern and isinstance(value, str) and not _matches(pattern, value):
        wanted = say("a text of the form {pattern}", pattern=pattern)
        return Fault(path, wanted, plain(show(value)), _explain(path))
    return None


def _matches(pattern: str, value: str) -> bool:
    """As far as Python reads the pattern; one that it does not read is no reason to refuse."""
    try:
        return re.search(pattern, value) is not None
    except re.error:
        return True


def _unknown(key: str, fields: list[str], path: Path) -> Fault:
    near = get_close_matches(key, fields, n=1)
    return Fault(
        (*path, key),
        say("only fields that exist"),
        say("{field}, which does not exist; {near} does", field=key, near=near[0])
        if near
        else say("{field}, which does not exist", field=key),
        say("kubectl refuses a file with it: correct its name, or take it out"),
    )


def _missing(name: str, path: Path) -> Fault:
    return Fault(
        (*path, name), say("the field {field}", field=name), say("no such field"), _REFUSED
    )


def _explain(path: Path) -> Message:
    fields = ".".join(part for part in path if isinstance(part, str))
    return say("the API refuses {field} like this: see kubectl explain", field=fields)


_REFUSED = say("the API refuses a file without it")
