"""Sentences in the reader's language: gettext catalogs, and the width of text on a terminal."""

from __future__ import annotations

import gettext
import re
import textwrap
from collections.abc import Mapping
from datetime import datetime
from pathlib import Path

from wcwidth import wcswidth

from lab.language import LANGUAGES as LANGUAGES
from lab.language import choose_language as choose_language
from provision.message import Message

DOMAIN = "lab"
LOCALE_DIR = Path(__file__).parent / "locale"
DATED = "%Y-%m-%d %H:%M:%S"


class Speech:
    """Turns Messages into text of one language. The English templates are the catalog's keys."""

    def __init__(self, language: str, *, in_shell: bool = False) -> None:
        """`in_shell`: the reader stands in the lab's shell, where `lab` is at hand, not `make`."""
        self.language = language
        self._in_shell = in_shell
        self._catalog: gettext.NullTranslations = gettext.translation(
            DOMAIN, LOCALE_DIR, languages=[language], fallback=True
        )

    def of(self, message: Message) -> str:
        """The sentence in this language, its values put in; Messages among them are spoken too."""
        values = {
            key: self.of(value) if isinstance(value, Message) else value
            for key, value in message.values.items()
        }
        return self.of_command(self.of_template(message.template).format(**values))

    def of_command(self, text: str) -> str:
        """Text with the commands in it as they are called where the reader stands."""
        return _MAKE.sub(_as_lab, text) if self._in_shell else text

    def of_template(self, template: str) -> str:
        """A template or a plain word in this language, with nothing put in."""
        return self._catalog.gettext(template) if template else ""

    def pick(self, texts: Mapping[str, str]) -> str:
        """The text of this language out of a `{en: …, ko: …}` mapping of a lab's data."""
        return texts[self.language]


_MAKE = re.compile(
    r"\bmake (step|start|check|hint|solve|why|history|report|doctor|status|logs|provision|down"
    r"|reset|destroy|cache|open|labs)\b( [A-Z]+=(\S+))?"
)


def _as_lab(found: re.Match[str]) -> str:
    """`make check STEP=5` as `lab check 5`."""
    if found[2] and found[2].startswith(" LAB="):
        return f"lab {found[1]} --lab {found[3]}"
    return f"lab {found[1]}" + (f" {found[3]}" if found[3] else "")


def clock(time: str, form: str = "%H:%M:%S") -> str:
    """An RFC 3339 time by the clock of whoever reads it: hours, minutes and seconds, or `form`."""
    try:
        return datetime.fromisoformat(time).astimezone().strftime(form)
    except (ValueError, OverflowError):
        return time


def width(text: str) -> int:
    """Columns that the text takes on a terminal; Hangul takes two each."""
    return max(wcswidth(text), 0)


def pad(text: str, columns: int) -> str:
    """The text, filled with spaces up to a number of terminal columns."""
    return text + " " * max(columns - width(text), 0)


def wrap(text: str, columns: int) -> list[str]:
    """Lines of at most `columns` columns, broken at spaces; a longer word is broken where it must.

    Words that fit are never broken, since they may be paths, names or commands.
    """
    lines: list[str] = []
    for paragraph in text.splitlines() or [""]:
        line = ""
        for word in paragraph.split(" "):
            candidate = f"{line} {word}" if line else word
            if width(candidate) <= columns:
                line = candidate
                continue
            if line:
                lines.append(line)
            *full, line = _break_word(word, columns)
            lines.extend(full)
        lines.append(line)
    return lines


def _break_word(word: str, columns: int) -> list[str]:
    if width(word) <= columns:
        return [word]
    if word.isascii():
        return textwrap.wrap(word, columns, break_on_hyphens=False)
    parts, part = [], ""
    for character in word:
        if width(part + character) > columns:
            parts.append(part)
            part = ""
        part += character
    return [*parts, part]
