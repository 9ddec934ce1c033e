"""Templates of texts, answers and manifests: names in double braces are facts of `lab.yaml`."""

from __future__ import annotations

from collections.abc import Mapping

from lab.fields import CatalogError
from provision.message import say


def fill(source: str, values: Mapping[str, object], *, where: str) -> str:
    """The template with the values put in; CatalogError naming `where` for an unknown name."""
    import jinja2  # only the commands that show or play texts pay for it

    engine = jinja2.Environment(
        undefined=jinja2.StrictUndefined, autoescape=False, keep_trailing_newline=True
    )
    try:
        return engine.from_string(source).render(**values)
    except jinja2.TemplateError as error:
        raise CatalogError(
            say("{file}: {error}", file=where, error=error),
            next_move=say("Names in double braces are facts of lab.yaml."),
        ) from error
