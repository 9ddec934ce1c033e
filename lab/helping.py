"""How `--help` is laid out: by the columns that text takes on a terminal, where Hangul has two."""

from __future__ import annotations

from collections.abc import Iterable

import click

from lab.text import pad, width, wrap

FIRST_MOST = 30  # columns of names and options; a longer one has a line of its own
BETWEEN = 2


class HelpFormatter(click.HelpFormatter):
    """Click's own counts each character as one column."""

    def write_text(self, text: str) -> None:
        """Paragraphs, each wrapped anew."""
        blank = " " * self.current_indent
        room = max(self.width - self.current_indent, 10)
        told = ["\n".join(blank + line for line in wrap(one, room)) for one in _paragraphs(text)]
        self.write("\n\n".join(told) + "\n")

    def write_dl(
        self, rows: Iterable[tuple[str, str]], col_max: int = FIRST_MOST, col_spacing: int = BETWEEN
    ) -> None:
        """Names and what they are for, in two columns."""
        rows = list(rows)
        first = min(max(width(name) for name, _ in rows), col_max) + col_spacing
        blank = " " * self.current_indent
        room = max(self.width - self.current_indent - first, 10)
        for name, text in rows:
            lines = [line for one in _paragraphs(text) for line in wrap(one, room)]
            if lines and width(name) <= first - col_spacing:
                lines[0] = pad(name, first) + lines[0]
            else:
                lines.insert(0, name)
            rest = [" " * first + line for line in lines[1:]]
            self.write("".join(f"{blank}{line}\n" for line in (lines[0], *rest)))


class HelpContext(click.Context):
    """A call whose help is laid out so."""

    formatter_class = HelpFormatter


def _paragraphs(text: str) -> list[str]:
    return [" ".join(one.split()) for one in text.split("\n\n") if one.strip()]
