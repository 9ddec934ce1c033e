"""Markdown of steps and hints as HTML that the page may put in place as it is.

Raw HTML in a text stays text: hints repeat what the learner wrote.
"""

from __future__ import annotations

from functools import cache
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from markdown_it import MarkdownIt

TOP = 3  # the page has one h1, and h2 for its parts


def to_html(markdown: str) -> str:
    """Headings, lists, tables, links and code; no raw HTML and no pictures."""
    parser = _parser()
    tokens = parser.parse(markdown)
    levels = [int(token.tag[1]) for token in tokens if token.type == "heading_open"]
    shift = TOP - min(levels, default=TOP)
    for token in tokens:
        if token.type in ("heading_open", "heading_close"):
            token.tag = f"h{min(6, int(token.tag[1]) + shift)}"
    return str(parser.renderer.render(tokens, parser.options, {}))


@cache
def _parser() -> MarkdownIt:
    from markdown_it import MarkdownIt

    return MarkdownIt("commonmark", {"html": False}).enable("table").disable("image")
