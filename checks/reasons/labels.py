"""Where a queue label stands that is not on the Job itself, or what stands there instead."""

from __future__ import annotations

from checks.kit.cluster import Object
from checks.kit.expect import show, spell_path
from checks.kit.paths import dig_map, places_of
from provision.message import Message, say


def find_label(content: Object, label: str) -> Message:
    """What a Job without this label has instead: it elsewhere, or another key that is near.

    The label of the queue is not near that of the priority: it may well be right.
    """
    for path in places_of(content, label):
        return say("no such label there, but one in {field}", field=spell_path(path[:-1]))
    labels = dig_map(content, "metadata", "labels")
    word = "priority" if "priority" in label else "queue"
    near = next((key for key in labels if word in key.lower()), None)
    if near is not None:
        return say("no such label, but {label}", label=f"{near}: {show(labels[near])}")
    return say("no such label")
