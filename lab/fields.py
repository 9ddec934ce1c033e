"""Strict reading of a mapping from a data file: each key is taken once, and none may be left."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import TypeVar

import yaml

from provision.errors import LabError
from provision.message import say

T = TypeVar("T")


class CatalogError(LabError):
    """A lab's data file says something that cannot be; names the file and the field."""


class Fields:
    """A mapping read key by key; errors name the file and the path of the field."""

    def __init__(self, data: object, *, file: str, path: str = "") -> None:
        self._file, self._path = file, path
        if not isinstance(data, Mapping) or not all(isinstance(key, str) for key in data):
            raise self._error(path or "(the file)", "a mapping", data)
        self._left = dict(data)

    def take(self, key: str, kind: type[T], default: T | None = None) -> T:
        """The value of a key; absent gives the default, or an error where there is none."""
        if key not in self._left:
            if default is not None:
                return default
            raise CatalogError(
                say("{file}: {field} is missing", file=self._file, field=self.where(key)),
                next_move=say("Add {field} to {file}.", field=self.where(key), file=self._file),
            )
        value = self._left.pop(key)
        if not isinstance(value, kind) or (kind is int and isinstance(value, bool)):
            raise self._error(self.where(key), kind.__name__, value)
        return value

    def take_list(self, key: str, kind: type[T]) -> tuple[T, ...]:
        """A list whose items are all of a kind; absent is empty."""
        values = self.take(key, list, [])
        for position, value in enumerate(values):
            if not isinstance(value, kind) or isinstance(value, bool):
                raise self._error(f"{self.where(key)}[{position}]", kind.__name__, value)
        return tuple(values)

    def take_fields(self, key: str) -> Fields:
        """A mapping inside this one, to be read the same way."""
        return Fields(self.take(key, dict), file=self._file, path=self.where(key))

    def take_texts(self, key: str, languages: tuple[str, ...]) -> Mapping[str, str]:
        """A text in each of the languages, and in no other."""
        inner = self.take_fields(key)
        texts = {language: inner.take(language, str) for language in languages}
        inner.end()
        return texts

    def where(self, key: str) -> str:
        """The path of a key from the top of the file."""
        return f"{self._path}.{key}" if self._path else key

    def end(self) -> None:
        """Nothing may be left over: an unknown key is most often a typo."""
        for key in self._left:
            raise CatalogError(
                say("{file}: unknown key {field}", file=self._file, field=self.where(key)),
                next_move=say("Look for a typo in {field}.", field=self.where(key)),
            )

    def _error(self, field: str, kind: str, value: object) -> CatalogError:
        return CatalogError(
            say(
                "{file}: {field} must be of type {kind}, found {value}",
                file=self._file,
                field=field,
                kind=kind,
                value=repr(value)[:60],
            ),
            next_move=say("Correct {field} in {file}.", field=field, file=self._file),
        )


def read_fields(file: Path, *, schema: int) -> Fields:
    """A data file of one schema; CatalogError when it cannot be read or has another one."""
    # The C loader is several times faster, and such a file is read at every command.
    loader: type[yaml.SafeLoader] = getattr(yaml, "CSafeLoader", yaml.SafeLoader)
    try:
        data = yaml.load(file.read_text(encoding="utf-8"), Loader=loader)
    except (OSError, UnicodeDecodeError, yaml.YAMLError) as error:
        raise CatalogError(
            say("{file} cannot be read: {error}", file=file, error=" ".join(str(error).split())),
            next_move=say("Correct {file}.", file=file),
        ) from error
    fields = Fields(data, file=str(file))
    if (found := fields.take("schema", int)) != schema:
        raise CatalogError(
            say("{file}: schema {schema} is not known", file=file, schema=found),
            next_move=say("Write schema: {known}.", known=schema),
        )
    return fields
