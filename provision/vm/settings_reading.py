"""Reading `lab.toml` strictly: unknown keys and wrong values are named with their place."""

from __future__ import annotations

import difflib
import re
import tomllib
from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path

from provision.errors import UsageError
from provision.files import read_plain, reason_of
from provision.message import Message, say

LARGEST = 256 * 1024
SHOWN = 80
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
        file = _at_home(chosen, environment).absolute() if chosen else default
        values = dict(_flat(file, _load(file, is_wanted=bool(chosen)), names))
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
        if not value.isprintable():
            raise _wrong(where, repr(value), say("a text without control characters"))
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
        path = _at_home(text, self.environment)
        return (self.file.parent / path) if is_from_file else path.absolute()

    def count(self, key: str, default: int, *, least: int) -> int:
        """A whole number."""
        value, where = self._found(key)
        if value is None:
            return default
        if isinstance(value, str) and re.fullmatch(r"[0-9]{1,9}", value):
            value = int(value)
        if not isinstance(value, int) or isinstance(value, bool) or value < least:
            raise _wrong(where, value, say("a whole number, {least} or more", least=least))
        return value

    def size(self, key: str, default: int, *, least: int) -> int:
        """MiB, from a number of them or from a text such as "4G"."""
        value, where = self._found(key)
        if value is None:
            return default
        found = re.fullmatch(r"([0-9]{1,9})\s*([A-Za-z]*)", str(value)[:40])
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

    def _found(self, key: str) -> tuple[object | None, Message]:
        """The value and where it stands; an empty variable counts as not set."""
        name = self.names[key]
        if value := self.environment.get(name, "").strip():
            return value, say("{name}", name=name)
        return self.values.get(key), _in(self.file, key)


def _in(file: Path, key: str) -> Message:
    return say("{key} in {path}", key=key, path=file)


def _at_home(text: str, environment: Mapping[str, str]) -> Path:
    """A path in which a leading `~/` is the person's home."""
    home = environment.get("HOME", "")
    return Path(f"{home}{text[1:]}" if text.startswith("~/") and home else text)


def _load(file: Path, *, is_wanted: bool) -> Mapping[str, object]:
    try:
        content = read_plain(file)
        if len(content) > LARGEST:
            raise _unreadable(file, say("it is larger than {size} bytes", size=LARGEST))
        return tomllib.loads(content.decode("utf-8-sig"))  # some editors begin with a mark
    except FileNotFoundError as error:
        if not is_wanted:
            return {}
        raise UsageError(
            say("There is no file {path}, which LAB_TOML names.", path=file),
            next_move=say("Write it as docs/lab.toml shows, or leave LAB_TOML out."),
        ) from error
    except RecursionError as error:
        raise _unreadable(file, say("it is nested too deeply")) from error
    except (OSError, ValueError) as error:
        raise _unreadable(file, reason_of(error)) from error


def _unreadable(file: Path, reason: Message) -> UsageError:
    return UsageError(
        say("{path} cannot be read: {reason}.", path=file, reason=reason),
        next_move=say("Mend it; docs/lab.toml shows what may stand in it."),
    )


def _flat(
    file: Path, table: Mapping[str, object], known: Collection[str], before: str = ""
) -> Iterator[tuple[str, object]]:
    """Keys with the names of their tables before them; tables must be known ones, and tables."""
    for name, value in table.items():
        key = f"{before}{name}"
        if isinstance(value, dict):
            if not any(name.startswith(f"{key}.") for name in known):
                raise _unknown(file, next(_keys(value, key)), known)
            yield from _flat(file, value, known, f"{key}.")
        elif any(name.startswith(f"{key}.") for name in known):
            raise _wrong(_in(file, key), value, say("a table, [{name}]", name=key))
        else:
            yield key, value


def _keys(value: Mapping[str, object], before: str) -> Iterator[str]:
    """The first key in a table that is not known, or the table itself when it is empty."""
    yield from (f"{before}.{name}" for name in value)
    yield before


def _unknown(file: Path, key: str, names: Collection[str]) -> UsageError:
    near = difflib.get_close_matches(key, names, n=1, cutoff=0.5)
    return UsageError(
        say("{path} has the key {key}, which is not known.", path=file, key=key),
        next_move=say("Did you mean {near}? docs/lab.toml shows all keys.", near=near[0])
        if near
        else say("Leave it out; docs/lab.toml shows all keys."),
    )


def _wrong(where: Message, value: object, wanted: Message) -> UsageError:
    shown = str(value)
    shown = shown if len(shown) <= SHOWN else f"{shown[:SHOWN]}..."
    return UsageError(
        say("{where} is {value}; it must be {wanted}.", where=where, value=shown, wanted=wanted),
        next_move=say("Mend it; docs/lab.toml shows what may stand there."),
    )
