"""A sentence for people, kept apart from its values so that it can be translated later."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field


@dataclass(frozen=True, slots=True)
class Message:
    """A template in English (the key of the gettext catalog) and the values that fill it.

    `template` uses `str.format` fields by name; `values` are already text, or Messages that are
    translated on their own before they are put in.
    """

    template: str
    values: Mapping[str, str | Message] = field(default_factory=dict)

    def __str__(self) -> str:
        """The sentence in English."""
        return self.template.format(**{key: str(value) for key, value in self.values.items()})


def say(template: str, /, **values: object) -> Message:
    """A Message from a literal template; calls of this function are what the catalog collects.

    Values that are Messages stay so; all others become text here.
    """
    return Message(
        template,
        {key: v if isinstance(v, Message) else str(v) for key, v in values.items()},
    )
