"""Plays one case on the kit's place, from where a learner stands to the step's result."""

from __future__ import annotations

import time
from contextlib import ExitStack
from dataclasses import dataclass, replace

from urllib3.exceptions import HTTPError

from checks.history import History
from checks.outcome import StepResult, StepVerdict
from lab.casework.api import Api, Refused
from lab.casework.breaking import Rig, rig_named
from lab.casework.cases import Case
from lab.casework.desk import Desk
from lab.casework.lots import handed_in, is_by_lot
from lab.casework.memory import Kept, Memory
from lab.casework.past import with_own_past
from lab.casework.playbook import Chain, Playbook, read_playbook
from lab.casework.settling import WATCHED, mark, read, settle
from lab.casework.world import Prints, World
from lab.grading import grade
from lab.places import Place
from lab.progress import StepRecord
from provision.errors import LabError
from provision.message import say

TRIES = 8  # how often a case is played at most while chance decides who is let in
RESTING = 0.6  # seconds of stillness after a rig script, whose effects are not owed by anyone
PASSED_AT = "2026-01-01T00:00:00+00:00"


@dataclass(frozen=True, slots=True)
class Played:
    """The result of one case, and what its scripts said, for the report of a failure."""

    case: Case
    result: StepResult
    said: str

    def finding(self) -> str:
        """All that the first failed check tells the learner, as one text."""
        first = self.result.first_failure
        if first is None or first.finding is None:
            return ""
        found = first.finding
        return "\n".join(map(str, (found.looked_at, found.expected, found.found, found.next_move)))

    def troubles(self) -> str:
        """All that the checks which are errors tell, as one text."""
        told = [part for check in self.result.checks for part in (check.trouble, check.next_move)]
        return "\n".join(str(part) for part in told if part is not None)

    def __str__(self) -> str:
        lines = [f"{self.case.id}: {self.result.verdict} ({self.case.title}: {self.case.why})"]
        for check in self.result.checks:
            lines.append(f"  {check.outcome:8} {check.id}")
            if check.finding is not None:
                found = check.finding
                parts = ("looked_at", "expected", "found", "next_move")
                lines += [f"      {part:10} {getattr(found, part)}" for part in parts]
            if check.trouble is not None:
                lines.append(f"      {'trouble':10} {check.trouble}")
        return "\n".join([*lines, "  what the scripts said:", self.said])


class Player:
    """The kit's place with its world and desk; plays any case of its lab."""

    def __init__(self, place: Place, desk: Desk, memory: Memory) -> None:
        self.place = place
        self.desk = desk
        self.book = read_playbook(place.lab.slug)
        self._memory = memory
        kept = memory.read()
        self._credit = kept.credit
        self._began = 0.0
        self._renew(kept.levels)

    def _renew(self, levels: dict[Chain, Prints]) -> None:
        """Go on from what is known of the cluster; without that, as it is now is as prepared."""
        self.api = Api(self.place.target.info().kubeconfig, self.book.kinds)
        self.world = World(self.api, self.desk.run, self.book, levels)

    def _reset(self) -> None:
        """Make the place anew, for whatever has happened to it."""
        self._memory.forget()
        self.place.target.reset(lambda _: None)
        self._credit = None
        self._renew({})

    def _begin(self, chain: Chain) -> None:
        """Bring the place to a level, rebuilding it when a case has left what cannot be undone."""
        try:
            self.world.reach(chain)
        except (LabError, Refused, HTTPError):
            self._reset()
            self.world.reach(chain)

    def play(self, case: Case, *, has_credit: bool = True) -> Played:
        """Bring the place to where the case begins, act as the learner did, and grade.

        Without credit the grader gets no evidence of earlier steps: all it has is the API.
        """
        self._prepare(case)
        records = self._records(case) if has_credit else {}
        self._memory.write(Kept(self.world.levels, self._credit))
        self.desk.lay(self.book, case)
        rig = rig_named(case.rig)
        if rig.is_ruin:
            self._memory.forget()
        with ExitStack() as broken:
            place = self.place
            if rig.is_before:
                place = broken.enter_context(rig.broken(self.place, self.api, self.desk))
            said = self._act_by_turns(case) if not rig.is_before else self._act(case)
            if not rig.is_before:
                place = broken.enter_context(rig.broken(self.place, self.api, self.desk))
            past = with_own_past(place, self._began)
            result = grade(past, place.lab.step(case.step), records)
        self._mend(rig)
        return Played(case, result, said)

    def _prepare(self, case: Case) -> None:
        """Bring cluster and workspace to what was there before the case."""
        self._begin(self.book.chain(case.step, is_answered=case.world == "answered"))
        self._began = time.time()
        self.desk.clear()
        self.desk.lay_base(self.book, case.step)

    def _act_by_turns(self, case: Case) -> str:
        """Act as the learner did; anew while chance, not the order of deeds, lets a Job in."""
        for _ in range(TRIES):
            there = {job["metadata"]["uid"] for job in self.api.items("Job")}
            said = self._act(case)
            came = handed_in(History(self.place.history_file), but=there)
            if not is_by_lot(read(self.api, ("Job", "Workload")), came):
                break
            self._prepare(case)
            self.desk.lay(self.book, case)
        return said

    def _records(self, case: Case) -> dict[int, StepRecord]:
        """What the learner earned before: the evidence of the step that others compare with."""
        witness = self.book.witness
        if witness not in self.place.lab.step(case.step).needs:
            return {}
        key = self.world.levels[self.book.chain(witness, is_answered=True)]
        if self._credit is None or self._credit[0] != key:
            result = grade(self.place, self.place.lab.step(witness), {})
            if result.verdict is not StepVerdict.PASS:
                raise LabError(
                    say("The kit's own answer to step {step} does not pass.", step=witness),
                    next_move=say("Stop the kit's place with lab grade-case --down and try again."),
                )
            evidence = tuple(item for check in result.checks for item in check.evidence)
            self._credit = (key, evidence)
        record = replace(StepRecord(), attempts=1, passed_at=PASSED_AT, evidence=self._credit[1])
        return {witness: record}

    def _act(self, case: Case) -> str:
        """What the learner did, what the node would have reported, what was written down."""
        said = [self._run(deed(self.book, case), 0.0)]
        said.append(self._run(case.scripts.get("rig.sh", ""), RESTING))
        said.append(self._run(case.scripts.get("write.sh", ""), 0.0))
        return "\n".join(filter(None, said))

    def _run(self, script: str, rest: float) -> str:
        """Run a script and wait until the cluster is quiet, if it was moved at all."""
        if not script:
            return ""
        before = mark(read(self.api, WATCHED))
        said = self.desk.run(script)
        if mark(read(self.api, WATCHED)) != before:
            settle(self.api, rest=rest)
        return said

    def _mend(self, rig: Rig) -> None:
        """Put right what broke the place."""
        if rig.is_restarted:
            self.place.target.up(lambda _: None)
        if rig.is_ruin:
            self._reset()


def deed(book: Playbook, case: Case) -> str:
    """What the learner did. On a broken place apply.sh may be empty: it stands for nobody's act."""
    usual = "" if case.world == "answered" else book.act(case.step).usual
    if case.kind == "broken" and case.learner:
        return case.learner
    script = case.scripts.get("apply.sh", usual)
    if case.kind == "broken" and not _does_something(script):
        return usual
    return script


def _does_something(script: str) -> bool:
    lines = (line.strip() for line in script.splitlines())
    return any(line and not line.startswith("#") and line != ":" for line in lines)
