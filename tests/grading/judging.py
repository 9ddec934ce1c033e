"""Whether a played case came to what it must come to."""

from __future__ import annotations

import re

from checks.outcome import Outcome, StepVerdict
from lab.casework.playing import Played

VERDICTS = {
    "right": StepVerdict.PASS,
    "wrong": StepVerdict.NOT_YET,
    "broken": StepVerdict.CANNOT_TELL,
}


def names(text: str, name: str) -> bool:
    """Whether a text names something: not merely as a part of another word or number."""
    before = r"(?<![0-9A-Za-z])" if name[0].isalnum() else ""
    after = r"(?![0-9A-Za-z])" if name[-1].isalnum() else ""
    return re.search(before + re.escape(name) + after, text) is not None


def killer(played: Played) -> str:
    """The id of the check that failed first; empty when none did."""
    first = played.result.first_failure
    return "" if first is None else first.id


def problem(played: Played) -> str:
    """What is not as the case says; empty when all is."""
    case, verdict = played.case, played.result.verdict
    if verdict is not VERDICTS[case.kind]:
        return f"is {verdict}, not {VERDICTS[case.kind]}"
    if case.kind == "wrong":
        if killer(played) != case.check:
            return f"caught by {killer(played)}, not by {case.check}"
        told = played.finding()
    elif case.kind == "broken":
        if {check.outcome for check in played.result.checks} - {Outcome.ERROR, Outcome.SKIPPED}:
            return "something was judged on a broken place"
        told = played.troubles()
    else:
        return ""
    missing = [name for name in case.names if not names(told, name)]
    return f"does not name {', '.join(missing)}" if missing else ""
