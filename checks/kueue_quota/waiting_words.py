"""Whether a learner's text tells the reason that a waiting Workload left, in Kueue's own words.

The reason may stand alone, in a sentence or in any output of kubectl; a good part of the message
will do as well. What it says is taken from the live Workload, since the wording changes.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass

from checks.kit.expect import cut, plain
from provision.message import Message, say

# Reasons of QuotaReserved=False that mean something else (Kueue: apis/kueue/v1beta2,
# workload_types.go). Words that are common in other output (Suspended, Pending) are left out.
_OTHER_REASONS = (
    "ExceedsMaxQuota",
    "NoMatchingFlavor",
    "Misconfigured",
    "Inadmissible",
    "PendingEvaluation",
    "WaitingForPreemptedWorkloads",
    "WaitingForPodsReady",
    "TopologyPlacementFailed",
    "AdmissionGated",
)
_DENIAL = re.compile(r"\b(?:not|no|never|neither|isn'?t|wasn'?t|without)\b|아니|아닌|않|없", re.I)
_QUOTES = re.compile(r"['\"`\\\u2018\u2019\u201c\u201d]")
_ENOUGH_WORDS = 8


@dataclass(frozen=True, slots=True)
class Said:
    """One thing that Kueue said about a Workload: a reason and a message."""

    reason: str
    message: str


def judge_words(text: str, said: Sequence[Said], own_words: str) -> Message | None:
    """What is off with the learner's text, None when it tells one of the things that were said.

    `own_words` is all that the Workload says about itself, so that naming it is no guess.
    """
    foreign = [
        word for word in _OTHER_REASONS if _holds(text, word) and not _holds(own_words, word)
    ]
    if foreign:
        return say(
            "reasons that this Workload does not have: {reasons}", reasons=", ".join(foreign)
        )
    words = _words(text)
    if any(_shares_enough(words, _words(item.message)) for item in said):
        return None
    lines = [line for line in text.split("\n") if any(_holds(line, s.reason) for s in said)]
    if any(not _DENIAL.search(line) for line in lines):
        return None
    if lines:
        return say("{line}, which denies it", line=cut(lines[0], 80))
    first = next((line for line in text.split("\n") if line.strip()), "")
    return plain(cut(first, 80))


def _holds(text: str, word: str) -> bool:
    """As a word of its own; a Korean ending may follow it directly (WaitingForQuota이다)."""
    return re.search(rf"\b{re.escape(word)}\b", text, re.I | re.A) is not None


def _words(text: str) -> list[str]:
    return _QUOTES.sub("", text).casefold().split()


def _shares_enough(text: list[str], message: list[str]) -> bool:
    """A run of the message's words stands in the text: half of it, or eight words."""
    needed = min(_ENOUGH_WORDS, (len(message) + 1) // 2)
    if not needed:
        return False
    runs = {tuple(message[i : i + needed]) for i in range(len(message) - needed + 1)}
    return any(tuple(text[i : i + needed]) in runs for i in range(len(text) - needed + 1))
