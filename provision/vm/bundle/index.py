"""`bundle.yaml`: read strictly, with all its faults found at once, and written.

The file comes from outside, like the rest of a bundle: its size is limited, anchors and depth are
refused before anything is built from it, and every path must stay in the folder.
"""

from __future__ import annotations

import os
import re
import stat
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import fields
from pathlib import Path, PurePosixPath

import yaml

from provision.files import NotPlain, reason_of, write_atomically
from provision.message import Message, say
from provision.vm.bundle.model import INDEX, SCHEMA, Artefact, Bundle, Kind, unusable

LARGEST = 1 << 20
DEEPEST = 6
LOADER: type[yaml.SafeLoader] = getattr(yaml, "CSafeLoader", yaml.SafeLoader)
PLATFORM = re.compile(r"linux/(amd64|arm64)")
SYSTEM = re.compile(r"(debian|ubuntu)-[0-9]+(\.[0-9]+)?")
SHA256 = re.compile(r"[0-9a-f]{64}")
KNOWN = tuple(f.name for f in fields(Artefact))
NEEDED = ("name", "kind", "version", "file", "sha256")


class _Refused(ValueError):
    """The file is not read further, for this reason."""

    def __init__(self, reason: Message) -> None:
        super().__init__(str(reason))
        self.reason = reason


def read_index(folder: Path) -> Bundle:
    """What the folder's `bundle.yaml` says; TargetError with all its faults."""
    if not folder.is_dir():
        there = say("it is a file; a bundle of the vm target is a folder")
        raise unusable(folder, [there if folder.exists() else say("there is no such folder")])
    try:
        raw = _tree(_content(folder / INDEX))
    except FileNotFoundError:
        raise unusable(folder, [say("there is no {name} in it", name=INDEX)]) from None
    except OSError as error:
        raise unusable(folder, [_at_all(reason_of(error))]) from error
    except _Refused as error:
        raise unusable(folder, [_at_all(error.reason)]) from error
    except (yaml.YAMLError, ValueError, RecursionError) as error:
        reason = say("{reason}", reason=" ".join(str(error).split())[:200])
        raise unusable(folder, [_at_all(reason)]) from error
    problems: list[Message] = []
    bundle = _bundle(folder, raw, problems)
    if problems:
        raise unusable(folder, problems)
    return bundle


def _at_all(reason: Message) -> Message:
    """What is wrong with the file as a whole."""
    return say("{name}: {reason}", name=INDEX, reason=reason)


def write_index(bundle: Bundle) -> None:
    """Write the folder's `bundle.yaml` in one step; raises OSError."""
    rows = [
        {k: str(getattr(artefact, k)) for k in KNOWN if k in NEEDED or getattr(artefact, k)}
        for artefact in bundle.artefacts
    ]
    head = {"schema": SCHEMA, "platform": bundle.platform, "os": bundle.os, "artefacts": rows}
    text = yaml.safe_dump(head, sort_keys=False, width=200)
    write_atomically(bundle.folder / INDEX, text, mode=0o644)


def _content(path: Path) -> str:
    handle = os.open(path, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC)
    with os.fdopen(handle, "rb") as file:
        if not stat.S_ISREG(os.fstat(handle).st_mode):
            raise NotPlain
        data = file.read(LARGEST + 1)
    if len(data) > LARGEST:
        raise _Refused(say("it is larger than {size} bytes", size=LARGEST))
    return data.decode("utf-8")


def _tree(text: str) -> object:
    """The document as a tree. Events are looked at first: they need no memory and no recursion."""
    depth = 0
    for event in yaml.parse(text, Loader=LOADER):
        if isinstance(event, yaml.AliasEvent):
            raise _Refused(say("anchors and aliases are not read"))
        depth += isinstance(event, yaml.CollectionStartEvent)
        depth -= isinstance(event, yaml.CollectionEndEvent)
        if depth > DEEPEST:
            raise _Refused(say("it is nested too deeply"))
    return yaml.load(text, Loader=LOADER)


def _bundle(folder: Path, raw: object, problems: list[Message]) -> Bundle:
    if not isinstance(raw, Mapping):
        problems.append(say("{name} is no mapping", name=INDEX))
        return Bundle(folder, "", "", ())
    if raw.get("schema") != SCHEMA or isinstance(raw.get("schema"), bool):
        # Another schema may mean anything: no more is read out of it.
        found = _shown(raw.get("schema"))
        problems.append(say("schema {found} is not known; {known} is", found=found, known=SCHEMA))
        return Bundle(folder, "", "", ())
    platform, system = (_shown(raw.get(key)) for key in ("platform", "os"))
    if not PLATFORM.fullmatch(platform):
        problems.append(
            say("platform {value} is neither linux/amd64 nor linux/arm64", value=platform)
        )
    if not SYSTEM.fullmatch(system):
        problems.append(say("os {value} is not of the form debian-12", value=system))
    rows = raw.get("artefacts")
    if not isinstance(rows, list) or not rows:
        problems.append(say("it lists no artefacts"))
        rows = []
    read = [_artefact(number, row, problems) for number, row in enumerate(rows, 1)]
    artefacts = tuple(a for a in read if a is not None)
    problems.extend(_doubles(artefacts))
    return Bundle(folder, platform, system, artefacts)


def _artefact(number: int, row: object, problems: list[Message]) -> Artefact | None:
    if not isinstance(row, Mapping):
        problems.append(say("artefact {number} is no mapping", number=number))
        return None
    name = _shown(row.get("name") or number)
    wrong = [_shown(key) for key in row if key not in KNOWN]
    missing = [key for key in NEEDED if not isinstance(row.get(key), str) or not row[key]]
    missing += [k for k in KNOWN if k not in NEEDED and not isinstance(row.get(k, ""), str)]
    if wrong:
        problems.append(say("{name}: unknown {keys}", name=name, keys=", ".join(wrong)))
    if missing:
        problems.append(say("{name}: {keys} must be text", name=name, keys=", ".join(missing)))
    if wrong or missing:
        return None
    before = len(problems)
    if row["kind"] not in tuple(Kind):
        kind = _shown(row["kind"])
        problems.append(say("{name}: unknown kind {kind}", name=name, kind=kind))
    if not SHA256.fullmatch(row["sha256"]):
        problems.append(say("{name}: sha256 is not 64 hex digits", name=name))
    if not stays_inside(row["file"]):
        file = _shown(row["file"])
        problems.append(say("{name}: the path {file} leaves the folder", name=name, file=file))
    return None if len(problems) > before else Artefact(**{**row, "kind": Kind(row["kind"])})


def stays_inside(file: str) -> bool:
    """Whether a path, as `bundle.yaml` has it, is relative, plain and never goes up."""
    parts = PurePosixPath(file).parts
    return (
        file.isprintable()
        and "\\" not in file
        and not file.startswith("/")
        and parts != ()
        and ".." not in parts
        and str(PurePosixPath(*parts)) == file != INDEX
    )


def _doubles(artefacts: Sequence[Artefact]) -> list[Message]:
    files = Counter(a.file for a in artefacts)
    names = Counter(f"{a.name} ({a.kind})" for a in artefacts)
    return [
        say("{name} is listed twice", name=name)
        for name, count in (*files.items(), *names.items())
        if count > 1
    ]


def _shown(value: object) -> str:
    """A value of the file, fit for a message."""
    text = "-" if value is None else str(value)
    return "".join(c if c.isprintable() else "?" for c in text)[:80]
