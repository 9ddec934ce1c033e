"""Files of `key=value` lines; space, comments, marks of a list and other lines are no content."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from checks.kit.expect import cut, mismatch, plain
from checks.kit.files import TextFile
from checks.kit.manifests import place
from checks.kit.odd import describe_oddity, first_oddity
from provision.message import say

_COMMENT = re.compile(r"\s#")
_BEFORE = " \t-*>\u2022`"  # as in a list, a quotation or code of Markdown
_AFTER = " \t,;.`"


@dataclass(frozen=True, slots=True)
class Value:
    """The text behind a key, without space, quotes and stops around it, and its line."""

    text: str
    line: int


def read_key_values(file: TextFile, keys: Sequence[str]) -> Mapping[str, Value]:
    """The values of all these keys; Mismatch when one is missing or stands twice."""
    found: dict[str, Value] = {}
    for number, line in enumerate(file.text.split("\n"), 1):
        key, equals, text = line.partition("=")
        key = key.lstrip(_BEFORE).strip().casefold()
        if not equals or line.lstrip().startswith("#") or key not in keys:
            continue
        value = Value(_COMMENT.split(text)[0].strip().rstrip(_AFTER).strip("'\""), number)
        if key in found and found[key].text.casefold() != value.text.casefold():
            raise mismatch(
                place(file, number),
                say("one line {key}=", key=key),
                say("a second one, with another value"),
                say("keep the one that is true"),
            )
        found[key] = value
    missing = [key for key in keys if key not in found]
    if missing:
        oddity = first_oddity(file.text)
        lines = " | ".join(line for line in file.text.split("\n") if line.strip())
        raise mismatch(
            place(file),
            say("the lines {lines}", lines=", ".join(f"{key}=..." for key in keys)),
            plain(cut(lines, 100)),
            describe_oddity(oddity)
            if oddity
            else say("write {line} and its value on a line of its own", line=f"{missing[0]}="),
        )
    return found
