"""A learner's note of why a Workload waits: its words, and the numbers that are in them."""

from __future__ import annotations

import re
from collections.abc import Sequence

from checks.judging.words import Said, claims, judge_words, shares_enough
from checks.kit.expect import mismatch
from checks.kit.files import TextFile
from checks.kit.manifests import place
from provision.message import Message, say

# Where Kueue's messages tell an amount (pkg/scheduler/flavorassigner). Texts of other Workloads and
# of the documentation differ in these only.
_AMOUNTS = (
    re.compile(r"(?<!\S)(\d\S*) more needed", re.I),
    re.compile(r"podset request \(([^()]*)\)", re.I),
    re.compile(r"maximum capacity \(([^()]*)\)", re.I),
)
_WAITS = "WaitingForQuota"  # what goes away by itself when others leave
_READ = say("read the conditions of that Workload, and write down what QuotaReserved says")


def require_words(
    file: TextFile,
    said: Sequence[Said],
    own_words: str,
    who: Message,
    others: Sequence[str] = (),
    *,
    also: Sequence[str] = (),
    move: Message | None = None,
) -> None:
    """The file tells the reason or the message of one Workload; `who` names it to the learner.

    Lines that name one of the `others` may hold the reason of that one. `also` are those whose
    Workloads stand in the file beside the right one, `move` the next move when that cannot be read.
    """
    found = (
        _other_amount(file.text, said)
        or judge_words(file.text, said, own_words)
        or _both_reasons(file.text, said, own_words, others)
    )
    if found is None:
        return
    if also:
        found = say("it has the Workloads of {others} in it as well", others=", ".join(also))
        move = say("keep only what QuotaReserved says on {who}", who=who)
    line = next((n for n, text in enumerate(file.text.split("\n"), 1) if text.strip()), 1)
    raise mismatch(
        place(file, line),
        say(
            "reason ({reason}) or message of QuotaReserved on {who}",
            reason=said[0].reason,
            who=who,
        ),
        found,
        move or _READ,
    )


def _both_reasons(
    text: str, said: Sequence[Said], own_words: str, others: Sequence[str]
) -> Message | None:
    """A text that says beside the true reason that it waits, too, which is another thing.

    One that holds the message as well may tell the two apart in any words.
    """
    if _WAITS in own_words or any(one.reason == _WAITS for one in said):
        return None
    if any(shares_enough(text, one.message) for one in said):
        return None
    lines = [line for line in text.split("\n") if not any(name in line for name in others)]
    if not claims("\n".join(lines), _WAITS):
        return None
    return say("reasons that this Workload does not have: {reasons}", reasons=_WAITS)


def _other_amount(text: str, said: Sequence[Said]) -> Message | None:
    """An amount in a text that reads like Kueue's message, and stands in none of the messages."""
    plainly = " ".join(text.split())
    for amount in _AMOUNTS:
        true = {one for item in said for one in amount.findall(item.message)}
        for told in amount.findall(plainly):
            if true and told not in true:
                return say(
                    "it tells {told}, and the message of that Workload tells {true}",
                    told=told,
                    true=", ".join(sorted(true)),
                )
    return None
