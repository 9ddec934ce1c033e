"""Characters that look like others and break a manifest: typed by an office program or an IME."""

from __future__ import annotations

import re
from dataclasses import dataclass

from provision.message import Message, say

_ODD = {
    "\u201c": '"',
    "\u201d": '"',
    "\u201e": '"',
    "\u2018": "'",
    "\u2019": "'",
    "\uff1a": ":",
    "\uff0d": "-",
    "\u2013": "-",
    "\u2014": "-",
    "\uff1d": "=",
    "\uff0c": ",",
    "\uff5b": "{",
    "\uff5d": "}",
    "\u3000": " ",
    "\u00a0": " ",
    "\u200b": "",
    "\ufeff": "",
}
_ANY = re.compile("[" + "".join(_ODD) + "]")
_COMMENT = re.compile(r"(?:^|\s)#.*$")
_TEMPLATE = re.compile(r"\$\{\w+\}|\{\{")


@dataclass(frozen=True, slots=True)
class Oddity:
    """One such character (or an unfilled placeholder) outside comments, and its line."""

    line: int
    text: str
    meant: str


def first_oddity(text: str) -> Oddity | None:
    """The first character of a text that is likely to be meant as another one."""
    for number, line in enumerate(text.split("\n"), 1):
        code = _COMMENT.sub("", line)
        if match := _ANY.search(code):
            return Oddity(number, match.group(), _ODD[match.group()])
        if match := _TEMPLATE.search(code):
            return Oddity(number, match.group(), "{}" if match.group() == "{{" else "")
    return None


def describe_oddity(oddity: Oddity) -> Message:
    """What to do about it, naming the line and the character by its code point."""
    if len(oddity.text) > 1:
        if oddity.text == "{{":
            return say(
                "line {line} holds double braces; write {plain}", line=oddity.line, plain="{}"
            )
        return say(
            "line {line} holds {text}, which nothing has filled in",
            line=oddity.line,
            text=oddity.text,
        )
    code = f"U+{ord(oddity.text):04X}"
    if not oddity.meant.strip():
        return say(
            "line {line} holds the invisible character {code}; delete it or type a space",
            line=oddity.line,
            code=code,
        )
    return say(
        "line {line} holds {char} ({code}); type the plain {meant} instead",
        line=oddity.line,
        char=oddity.text,
        code=code,
        meant=oddity.meant,
    )
