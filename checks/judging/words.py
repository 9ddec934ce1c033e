"""Whether a learner's text tells the reason that a Workload left, in Kueue's own words.

The reason may stand alone, in a sentence or in any output of kubectl; a good part of the message
will do as well. What it says is taken from the live Workload, since the wording changes.
"""

from __future__ import annotations

import re
import unicodedata
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
# A denial counts when it governs the reason. "It is not WaitingForQuota", but not: "there is no
# quota left: WaitingForQuota", nor: "it is not running because of WaitingForQuota".
_NOT = r"(?:not|no|never|neither|nor|without|isnt|wasnt|arent|doesnt|didnt)"
_BETWEEN = (
    r"(?:a|an|the|any|in|due|to|because|of|by|with|for|at|all|about|really|actually|just|only"
    r"|simply|reason|state|status|condition|cause|case|true|that|it|is|called|said|says|[a-z]+-\d+)"
)
_BEFORE = rf"(?<![a-z]){_NOT}\s++(?:{_BETWEEN}[\s=]++)*%s"
_AFTER = (
    r"%s\s+(?:(?:reason|state|status|condition|itself|here)\s+)?"
    rf"(?:(?:is|was|does|did|has|been)\s+(?:[a-z]+ly\s+)?{_NOT}|isnt|wasnt|doesnt|didnt)(?![a-z])"
)
_PARTICLES = (  # the longer before the shorter
    "이라는|이라고|이라서|이란|이지|이유|이|라는|라고|라서|란|가|은|는|도|의|으로|로|인|지"
    "|하는|기다리는|때문|상태|사유|원인|조건|것|게|건|리"
)
_AFTER_IN_KOREAN = rf"%s\s*+(?:(?:{_PARTICLES})\s*+)*+(?:아[니닌닙님닐]|않|없)"
_DENIALS = (_BEFORE, _AFTER, _AFTER_IN_KOREAN)
_QUOTES = re.compile(r"['\"`\\\u2018\u2019\u201c\u201d]")
_ENOUGH_WORDS = 8
_SHORT_OF = re.compile(r"insufficient unused quota for ([a-z0-9./-]*[a-z0-9])", re.I)


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
    short_of = _short_of(text)
    if short_of and not short_of & {one for item in said for one in _short_of(item.message)}:
        return say(
            "it speaks of unused quota for {resources}, and the message of that Workload does not",
            resources=", ".join(sorted(short_of)),
        )
    if any(shares_enough(text, item.message) for item in said):
        return None
    reasons = [item.reason for item in said]
    lines = [line for line in text.split("\n") if any(_holds(line, one) for one in reasons)]
    if any(not _is_denied(line, reasons) for line in lines):
        return None
    if lines:
        return say("{line}, which denies it", line=cut(lines[0], 80))
    first = next((line for line in text.split("\n") if line.strip()), "")
    return plain(cut(first, 80))


def claims(text: str, reason: str) -> bool:
    """A line of the text gives that reason, and does not deny it."""
    lines = [line for line in text.split("\n") if _holds(line, reason)]
    return any(not _is_denied(line, [reason]) for line in lines)


def _short_of(text: str) -> set[str]:
    """The resources that a message of this kind says are short."""
    return {found.casefold() for found in _SHORT_OF.findall(" ".join(text.split()))}


def _holds(text: str, word: str) -> bool:
    """As a word of its own; a Korean ending may follow it directly (WaitingForQuota이다)."""
    return re.search(_alone(word), text, re.I) is not None


def _alone(word: str) -> str:
    return rf"(?<![A-Za-z]){re.escape(word)}(?![A-Za-z])"


def _is_denied(line: str, reasons: Sequence[str]) -> bool:
    """The line says that one of the reasons is not so."""
    plainly = _QUOTES.sub("", unicodedata.normalize("NFC", line))
    return any(
        re.search(denial % _alone(reason), plainly, re.I)
        for reason in reasons
        if reason
        for denial in _DENIALS
    )


def _words(text: str) -> list[str]:
    return _QUOTES.sub("", text).casefold().split()


def shares_enough(told: str, said: str) -> bool:
    """A run of a message's words stands in a text: half of it, or eight words."""
    text, message = _words(told), _words(said)
    needed = min(_ENOUGH_WORDS, (len(message) + 1) // 2)
    if not needed:
        return False
    runs = {tuple(message[i : i + needed]) for i in range(len(message) - needed + 1)}
    return any(tuple(text[i : i + needed]) in runs for i in range(len(text) - needed + 1))
