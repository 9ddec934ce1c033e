"""The texts of a lab: Markdown with the lab's facts put in, and its picture on a terminal."""

from __future__ import annotations

import io
import re
from collections.abc import Mapping

from lab.fields import CatalogError
from lab.filling import fill
from lab.model import Step
from lab.places import Place
from provision.message import say


def step_text(place: Place, step: Step, language: str) -> str:
    """The text of a step in a language, as Markdown; CatalogError names the file at fault."""
    file = place.lab.folder / language / f"step_{step.number}.md"
    try:
        source = file.read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError) as error:
        raise CatalogError(
            say("{file} cannot be read: {error}", file=file, error=error),
            next_move=say("Each step has a text in each language."),
        ) from error
    return render(source, place, step, where=str(file))


def render(
    source: str, place: Place, step: Step, *, where: str, more: Mapping[str, object] | None = None
) -> str:
    """Put the lab's facts into a text or an answer; a name that is no fact is a CatalogError.

    `more` are names beside the facts.
    """
    about = {
        "lab": place.lab.slug,
        "kueue": place.lab.kueue,
        "workspace": str(place.workspace),
        "step": step.number,
    }
    return fill(source, {**place.lab.facts, **(more or {}), **about}, where=where)


def draw(markdown: str, *, columns: int, is_colourful: bool) -> str:
    """Markdown as it reads on a terminal of some columns, with or without colour."""
    from rich.console import Console  # slow to import, and only wanted here
    from rich.markdown import Markdown

    console = Console(
        file=(out := io.StringIO()),
        width=columns,
        force_terminal=is_colourful,
        color_system="standard" if is_colourful else None,
        highlight=False,
    )
    source = markdown if is_colourful else _with_marks(markdown)
    console.print(Markdown(source, hyperlinks=False))
    return "\n".join(line.rstrip() for line in out.getvalue().splitlines()) + "\n"


def _with_marks(markdown: str) -> str:
    """Inline code that keeps its backticks: without colour, nothing else sets a name apart."""
    blocks = markdown.split("```")
    blocks[::2] = [re.sub(r"`([^`\n]+)`", r"`` `\1` ``", text) for text in blocks[::2]]
    return "```".join(blocks)
