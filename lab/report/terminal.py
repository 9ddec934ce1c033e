"""Standings as text for people."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence

from checks.outcome import (
    CheckResult,
    Evidence,
    Finding,
    Outcome,
    StepVerdict,
)
from lab.hints import Offer
from lab.model import Lab, Step
from lab.progress import StepRecord
from lab.standing import Standing
from lab.text import Speech, clock, pad, width, wrap
from provision.message import Message, say
from provision.target import TargetInfo

MAX_COLUMNS = 100
MIN_COLUMNS = 40

OUTCOME_WORDS = {
    Outcome.PASSED: say("pass"),
    Outcome.FAILED: say("fail"),
    Outcome.SKIPPED: say("wait"),
    Outcome.ERROR: say("error"),
}
FINDING_PARTS = (
    ("looked_at", say("looked at")),
    ("expected", say("expected")),
    ("found", say("found")),
    ("next_move", say("next")),
)
Paint = Callable[[str, str], str]


def plain(text: str, _role: str) -> str:
    """Text as it is: the paint used where there are no colours."""
    return text


_SET_TO_ANSWER = "local"  # the target that sets its Kueue to answer as the one a lab is written for


class TextReport:
    """Draws standings for a terminal of some width; colour only ever repeats what words say."""

    def __init__(self, speech: Speech, *, columns: int, paint: Paint = plain) -> None:
        self._speech = speech
        self._columns = max(MIN_COLUMNS, min(columns, MAX_COLUMNS))
        self._paint = paint

    def step(self, lab: Lab, standing: Standing, coming: Offer | None = None) -> str:
        """One step with all of its checks, and which hint there is for the first failure."""
        lines = list(self._head(lab, standing))
        if standing.is_credit_only:
            for item in standing.evidence:
                lines += self._indented(evidence_line(item), 2)
            return "\n".join(lines)
        checks = standing.result.checks
        waiting = {str(one.title) for one in checks if one.outcome is Outcome.SKIPPED}
        for check, after in zip(checks, (*checks[1:], None), strict=True):
            is_told = _wait_alike(check, after) or _awaited(check) in waiting
            lines += self._check(check, coming, is_told=is_told)
        for remark in standing.result.remarks:
            lines += self._indented(self._speech.of(remark), 2)
        return "\n".join(lines)

    def foot(self, lab: Lab, standings: Sequence[Standing], info: TargetInfo | None) -> str:
        """Requests, seconds and which Kueue it was, in one or two lines."""
        requests = sum(s.result.requests for s in standings)
        seconds = max((s.result.seconds for s in standings), default=0.0)
        counts = say(
            "{requests} requests, {seconds} s", requests=requests, seconds=f"{seconds:.1f}"
        )
        lines = [self._speech.of(counts)]
        if info is not None and (kueue := other_kueue(lab, info)):
            lines += wrap(self._speech.of(kueue), self._columns)
        return "\n".join(self._paint(line, "quiet") for line in lines)

    def title(self, lab: Lab, step: Step) -> str:
        """Which step of how many, and its title."""
        head = say(
            "Step {number} of {count}  {title}",
            number=step.number,
            count=len(lab.steps),
            title=self._speech.pick(step.title),
        )
        return self._speech.of(head)

    def _head(self, lab: Lab, standing: Standing) -> Iterator[str]:
        verdict = str(standing.verdict)
        text = self.title(lab, standing.step)
        role = {"PASS": "good", "NOT YET": "bad", "CANNOT TELL": "odd"}[str(standing.verdict)]
        painted = self._paint(verdict, role)
        if width(text) + 2 + width(verdict) <= self._columns:
            room = min(self._columns, 80) - width(verdict)
            yield pad(text, max(room, width(text) + 2)) + painted
        else:
            yield from wrap(text, self._columns)
            yield f"  {painted}"
        yield from self._beside(standing)

    def _beside(self, standing: Standing) -> Iterator[str]:
        if standing.cause is not None:
            yield from self._indented(self._speech.of(standing.cause), 2)
        if standing.record.is_solved and standing.verdict is StepVerdict.PASS:
            yield from self._indented(self._speech.of(say("Solved by the answers.")), 2)
        if standing.is_credit_only:
            yield from self._indented(self._speech.of(_pass_on_record(standing.record)), 2)

    def _check(self, check: CheckResult, coming: Offer | None, *, is_told: bool) -> list[str]:
        """One check; `is_told`: what it waits for stands with another one that waits."""
        words = {outcome: self._speech.of(word) for outcome, word in OUTCOME_WORDS.items()}
        room = max(width(word) for word in words.values())
        word = pad(words[check.outcome], room)
        role = {"passed": "good", "failed": "bad", "skipped": "quiet", "error": "odd"}[
            check.outcome
        ]
        first, *rest = self._titled(check, self._columns - room - 4)
        indent = " " * (room + 4)
        lines = [f"  {self._paint(word, role)}  {first}", *(indent + line for line in rest)]
        if check.finding is not None:
            is_hinted = coming is not None and coming.failure.id == check.id
            lines += self._parts(check.finding, room + 4, coming if is_hinted else None)
        if check.trouble is not None and check.outcome is not Outcome.PASSED and not is_told:
            lines += self._indented(self._speech.of(check.trouble), room + 4)
        if check.next_move is not None and check.finding is None:
            lines += self._indented(self._speech.of(check.next_move), room + 4)
        return lines

    def _titled(self, check: CheckResult, columns: int) -> list[str]:
        """The title, and behind it, or below where it does not fit, what a pass rests on."""
        lines = wrap(self._speech.of(check.title), columns)
        proof = _proof(check.evidence)
        if not proof:
            return lines
        if width(lines[-1]) + 3 + width(proof) <= columns:
            return [*lines[:-1], f"{lines[-1]}   {proof}"]
        return [*lines, *wrap(proof, columns)]

    def _parts(self, finding: Finding, indent: int, coming: Offer | None) -> list[str]:
        labels = {key: self._speech.of(label) for key, label in FINDING_PARTS}
        room = max(width(label) for label in labels.values()) + 3
        lines = []
        for key, label in labels.items():
            message: Message = getattr(finding, key)
            first, *rest = wrap(self._speech.of(message), self._columns - indent - room)
            lines.append(" " * indent + pad(label, room) + first)
            lines += [" " * (indent + room) + line for line in rest]
        if coming is not None:
            pointer = self._speech.of(_pointer(coming))
            if width(lines[-1]) + 3 + width(pointer) <= self._columns:
                lines[-1] += "   " + pointer
            else:
                lines += self._indented(pointer, indent + room)
        return lines

    def _indented(self, text: str, indent: int) -> list[str]:
        return [" " * indent + line for line in wrap(text, self._columns - indent)]


def _awaited(check: CheckResult) -> str:
    """The title of the check that this one waits for, empty for none."""
    if check.outcome is not Outcome.SKIPPED or check.trouble is None:
        return ""
    return str(check.trouble.values.get("title", ""))


def _wait_alike(check: CheckResult, after: CheckResult | None) -> bool:
    """Whether the next check waits for the same."""
    if after is None or {check.outcome, after.outcome} != {Outcome.SKIPPED}:
        return False
    return str(check.trouble) == str(after.trouble)


def other_kueue(lab: Lab, info: TargetInfo) -> Message | None:
    """Which Kueue a verdict comes from, when it is not the one that the lab is written for."""
    version = info.versions.get("kueue", "-")
    if version == lab.kueue:
        return None
    if info.name != _SET_TO_ANSWER:
        return say(
            "Kueue {version} on {target}; the lab is written for {wanted}",
            version=version,
            target=info.name,
            wanted=lab.kueue,
        )
    return say(
        "Kueue {version} on {target}, set to answer as {wanted}",
        version=version,
        target=info.name,
        wanted=lab.kueue,
    )


def _pointer(coming: Offer) -> Message:
    step, level, of = coming.step.number, coming.level, coming.of
    if coming.is_again:
        return say(
            "(hint {level} of {of} again: make hint STEP={step})", level=level, of=of, step=step
        )
    return say("(hint {level} of {of}: make hint STEP={step})", level=level, of=of, step=step)


def _pass_on_record(record: StepRecord) -> Message:
    """When a step passed, and when it passed with the evidence that is kept: that of the last."""
    first, last = clock(record.passed_at), clock(record.evidence_at or record.passed_at)
    if record.evidence_at in ("", record.passed_at):
        return say("It passed at {time}, with:", time=first)
    return say("It passed first at {first} and last at {last}, then with:", first=first, last=last)


def _proof(evidence: Sequence[Evidence]) -> str:
    """The first object that a passed check rests on, shortly: its name and since when."""
    for item in evidence:
        if item.uid:
            return f"{item.name}, {clock(item.time)}"
    return ""


def evidence_line(item: Evidence) -> str:
    """What a pass on record rested on: the object, what was so, and when."""
    return f"{item.kind} {item.name.rpartition('/')[2]}  {item.fact}  {clock(item.time)}"
