"""Where a queue label stands that is not on the Job itself, or what stands there instead."""

from __future__ import annotations

from checks.kit.cluster import Object
from checks.kit.expect import show, spell_path
from checks.kit.paths import dig_map, places_of
from provision.message import Message, say


def find_label(content: Object, label: str) -> Message:
    """What a Job without this label has instead: it elsewhere, or another key that is near."""
    for path in places_of(content, label):
        return say("no such label there, but one in {field}", field=spell_path(path[:-1]))
    labels = dig_map(content, "metadata", "labels")
    near = next((key for key in labels if "queue" in key.lower()), None)
    if near is not None:
        return say("no such label, but {label}", label=f"{near}: {show(labels[near])}")
    return say("no such label")
