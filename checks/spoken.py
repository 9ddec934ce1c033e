"""Messages as JSON: written by one process, said by another."""

from __future__ import annotations

from string import Formatter

from provision.message import Message

DEEPEST = 8  # Messages within Messages; ours go to three


def message_to_json(message: Message | None) -> dict[str, object] | None:
    """`{"template", "values"}`, nested where a value is a Message; None stays None."""
    if message is None:
        return None
    values = message.values.items()
    return {
        "template": message.template,
        "values": {k: message_to_json(v) if isinstance(v, Message) else v for k, v in values},
    }


def message_from_json(data: object) -> Message:
    """The Message written by `message_to_json`; ValueError when it is none, or cannot be said."""
    return _read(data, DEEPEST)


def _read(data: object, deep: int) -> Message:
    if deep == 0 or not isinstance(data, dict):
        raise ValueError("a message must be an object, and few of them stand within one another")
    template, values = data.get("template"), data.get("values")
    if not isinstance(template, str) or not isinstance(values, dict):
        raise ValueError("a message must have a template and values")
    for _, name, form, _ in Formatter().parse(template):
        if name is not None and (form or name not in values):
            raise ValueError(f"nothing can be put in for {name!r}")
    return Message(
        template,
        {key: v if isinstance(v, str) else _read(v, deep - 1) for key, v in values.items()},
    )
