"""Reading `lab.toml` strictly: unknown keys and wrong values are named with their place."""

from __future__ import annotations

import difflib
import re
import tomllib
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path

from provision.errors import UsageError
from provision.message import Message, say

LARGEST = 256 * 1024
_UNITS = {"": 1, "M": 1, "MB": 1, "MIB": 1, "G": 1024, "GB": 1024, "GIB": 1024, "T": 1024 * 1024}


@dataclass(frozen=True, slots=True)
class Reader:
    """Values of known keys; `names` maps a key such as `vm.ssh.host` to its variable `HOST`."""

    environment: Mapping[str, str]
    file: Path
    values: Mapping[str, object]
    names: Mapping[str, str]

    @classmethod
    def open(
        cls, environment: Mapping[str, str], default: Path, names: Mapping[str, str]
    ) -> Reader:
        """Read the file that `LAB_TOML` names, which must be there then, or `default`, if it is."""
        chosen = environment.get("LAB_TOML", "").strip()
        file = Path(chosen).expanduser().absolute() if chosen else default
        values = dict(_flat(_load(file, is_wanted=bool(chosen))))
        for key in values:
            if key not in names:
                raise _unknown(file, key, names)
        return cls(environment, file, values, names)

    def text(self, key: str, default: str = "") -> str:
        """A text, without blanks around it."""
        value, where = self._found(key)
        if value is None:
            return default
        if not isinstance(value, str):
            raise _wrong(where, value, say("a text in quotes"))
        return value.strip()

    def choice(self, key: str, known: tuple[str, ...], default: str) -> str:
        """One of the known words."""
        value, where = self._found(key)
        if value is None:
            return default
        if value not in known:
            raise _wrong(where, value, say("one of {known}", known=", ".join(known)))
        return str(value)

    def path(self, key: str) -> Path | None:
        """An absolute path; one in the file counts from the file's folder, `~` is home."""
        text = self.text(key)
        if not text:
            return None
        is_from_file = not self.environment.get(self.names[key], "").strip()
        home = self.environment.get("HOME", "")
        if text.startswith("~/") and home:
            text = f"{home}{text[1:]}"
        return (self.file.parent / text) if is_from_file else Path(text).absolute()

    def count(self, key: str, default: int, *, least: int) -> int:
        """A whole number."""
        value, where = self._found(key)
        if value is None:
            return default
        if isinstance(value, str) and value.isdecimal():
            value = int(value)
        if not isinstance(value, int) or isinstance(value, bool) or value < least:
            raise _wrong(where, value, say("a whole number, {least} or more", least=least))
        return value

    def size(self, key: str, default: int, *, least: int) -> int:
        """MiB, from a number of them or from a text such as "4G"."""
        value, where = self._found(key)
        if value is None:
            return default
        found = re.fullmatch(r"(\d{1,9})\s*([A-Za-z]*)", str(value))
        unit = _UNITS.get(found.group(2).upper()) if found else None
        if found is None or unit is None or int(found.group(1)) * unit < least:
            raise _wrong(where, value, say('a size such as "4G", {least}M or more', least=least))
        return int(found.group(1)) * unit

    def language(self, known: tuple[str, ...]) -> str:
        """The language of the person, as the lab itself chooses it; the first one when unknown."""
        for name in ("LAB_LANG", "LC_ALL", "LC_MESSAGES", "LANG"):
            if value := self.environment.get(name, ""):
                word = value.replace("-", "_").split("_")[0].split(".")[0].lower()
                return word if word in known else known[0]
        return known[0]

    def _found(self, key: str) -> tuple[object | None, str]:
        """The value and where it stands; an empty variable counts as not set."""
        name = self.names[key]
        if value := self.environment.get(name, "").strip():
            return value, name
        return self.values.get(key), f"{key} in {self.file}"


def _load(file: Path, *, is_wanted: bool) -> Mapping[str, object]:
    try:
        with file.open("rb") as handle:
            content = handle.read(LARGEST + 1)
        if len(content) > LARGEST:
            raise ValueError(f"it is larger than {LARGEST} bytes")
        return tomllib.loads(content.decode("utf-8"))
    except FileNotFoundError as error:
        if not is_wanted:
            return {}
        raise UsageError(
            say("There is no file {path}, which LAB_TOML names.", path=file),
            next_move=say("Write it as docs/lab.toml shows, or leave LAB_TOML out."),
        ) from error
    except (OSError, ValueError) as error:
        raise UsageError(
            say("{path} cannot be read: {reason}.", path=file, reason=error),
            next_move=say("Mend it; docs/lab.toml shows what may stand in it."),
        ) from error


def _flat(table: Mapping[str, object], before: str = "") -> Iterator[tuple[str, object]]:
    for name, value in table.items():
        if isinstance(value, dict):
            yield from _flat(value, f"{before}{name}.")
        else:
            yield f"{before}{name}", value


def _unknown(file: Path, key: str, names: Mapping[str, str]) -> UsageError:
    near = difflib.get_close_matches(key, names, n=1, cutoff=0.0)
    return UsageError(
        say("{path} has the key {key}, which is not known.", path=file, key=key),
        next_move=say("Did you mean {near}? docs/lab.toml shows all keys.", near=near[0]),
    )


def _wrong(where: str, value: object, wanted: Message) -> UsageError:
    return UsageError(
        say("{where} is {value}; it must be {wanted}.", where=where, value=value, wanted=wanted),
        next_move=say("Mend it; docs/lab.toml shows what may stand there."),
    )
