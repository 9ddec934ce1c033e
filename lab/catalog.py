"""The labs there are: `content/*/lab.yaml`, read strictly."""

from __future__ import annotations

import re
from pathlib import Path

from lab.fields import CatalogError, Fields, read_fields
from lab.model import Lab, RecordedKind, Step
from lab.text import LANGUAGES
from provision.errors import UsageError
from provision.message import say
from provision.target import NodeSpec

CONTENT = Path(__file__).parent / "content"
SCHEMA = 1
_GROUP_VERSION = re.compile(r"[a-z0-9.-]+/v[a-z0-9]+|v[0-9][a-z0-9]*")


def lab_slugs(content: Path = CONTENT) -> tuple[str, ...]:
    """The slugs of all labs, in alphabetical order."""
    return tuple(sorted(path.parent.name for path in content.glob("*/lab.yaml")))


def load_lab(slug: str, content: Path = CONTENT) -> Lab:
    """Read one lab; UsageError when there is none of that slug, CatalogError when it is faulty."""
    known = lab_slugs(content)
    if slug not in known:
        raise UsageError(
            say("There is no lab {slug}.", slug=slug),
            next_move=say("Known labs: {known}.", known=", ".join(known)),
        )
    return read_lab(content / slug / "lab.yaml")


def read_lab(file: Path) -> Lab:
    """Read a `lab.yaml`; CatalogError names the file and the field that is wrong."""
    fields = read_fields(file, schema=SCHEMA)
    target = fields.take_fields("target")
    lab = Lab(
        slug=fields.take("slug", str),
        title=fields.take_texts("title", LANGUAGES),
        summary=fields.take_texts("summary", LANGUAGES),
        workspace=fields.take("workspace", str),
        kueue=fields.take("kueue", str),
        parts=target.take_list("parts", str),
        namespaces=target.take_list("namespaces", str),
        nodes=tuple(
            _read_node(node, file, position)
            for position, node in enumerate(target.take_list("nodes", dict))
        ),
        facts=fields.take("facts", dict),
        steps=tuple(
            _read_step(step, file, position)
            for position, step in enumerate(fields.take_list("steps", dict))
        ),
        folder=file.parent,
        kueue_settings=target.take("kueue", dict, {}),
        frameworks=target.take_list("frameworks", str),
        recorded=tuple(
            _read_recorded(kind, file, position)
            for position, kind in enumerate(target.take_list("recorded", dict))
        ),
    )
    target.end()
    fields.end()
    _check_whole(lab, file)
    return lab


def _read_node(data: object, file: Path, position: int) -> NodeSpec:
    fields = Fields(data, file=str(file), path=f"target.nodes[{position}]")
    node = NodeSpec(
        name=fields.take("name", str),
        cpu=fields.take("cpu", str),
        memory=fields.take("memory", str),
        gpus=fields.take("gpus", int),
        gpu_product=fields.take("gpu_product", str),
    )
    fields.end()
    return node


def _read_recorded(data: object, file: Path, position: int) -> RecordedKind:
    where = f"target.recorded[{position}]"
    fields = Fields(data, file=str(file), path=where)
    kind = RecordedKind(
        kind=fields.take("kind", str),
        plural=fields.take("plural", str),
        version=fields.take("version", str),
    )
    fields.end()
    if not _GROUP_VERSION.fullmatch(kind.version):
        raise _wrong(file, f"{where}.version", kind.version, "a group and version such as apps/v1")
    return kind


def _read_step(data: object, file: Path, position: int) -> Step:
    fields = Fields(data, file=str(file), path=f"steps[{position}]")
    step = Step(
        number=fields.take("number", int),
        id=fields.take("id", str),
        title=fields.take_texts("title", LANGUAGES),
        minutes=fields.take("minutes", int),
        checks=fields.take("checks", str),
        files=fields.take_list("files", str),
        needs=fields.take_list("needs", int),
        undone_by=fields.take("undone_by", int, 0),
    )
    fields.end()
    return step


def _check_whole(lab: Lab, file: Path) -> None:
    """What no single field shows: numbers in order, references to steps that exist."""
    count = len(lab.steps)
    problems = []
    if lab.slug != file.parent.name:
        problems.append(("slug", lab.slug, file.parent.name))
    if not count:
        problems.append(("steps", "[]", "at least one step"))
    for position, step in enumerate(lab.steps):
        where = f"steps[{position}]"
        if step.number != position + 1:
            problems.append((f"{where}.number", str(step.number), str(position + 1)))
        if any(not 1 <= need < step.number for need in step.needs):
            problems.append((f"{where}.needs", str(list(step.needs)), "earlier steps"))
        if step.undone_by and not step.number < step.undone_by <= count:
            problems.append((f"{where}.undone_by", str(step.undone_by), "a later step"))
    if problems:
        raise _wrong(file, *problems[0])


def _wrong(file: Path, field: str, found: str, expected: str) -> CatalogError:
    return CatalogError(
        say(
            "{file}: {field} is {found}, expected {expected}",
            file=file,
            field=field,
            found=found,
            expected=expected,
        ),
        next_move=say("Correct {field} in {file}.", field=field, file=file),
    )
