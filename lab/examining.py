"""Checks steps of a place: grades them, weighs credit against truth, and keeps the record."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import replace
from functools import partial

from checks.news import CheckNews
from checks.outcome import StepResult, StepVerdict
from lab.grading import grade
from lab.model import Step
from lab.places import Place
from lab.progress import ProgressLog, StepRecord
from lab.standing import Standing, stand
from lab.verdicts import TERMINAL, VerdictStore
from provision.state import kind_of

AT_ONCE = 2


class Examiner:
    """One examination of a place: each step is graded once, however often it is asked for."""

    def __init__(
        self,
        place: Place,
        *,
        by_answer: bool = False,
        is_recording: bool = True,
        by: str = TERMINAL,
        tell_news: Callable[[int, CheckNews], None] | None = None,
    ) -> None:
        """`by` is who asks; `tell_news` hears, by step, of each check that begins or ends."""
        self._place = place
        self._log = ProgressLog(place.progress_file)
        self._verdicts = VerdictStore(place.verdicts)
        self._by, self._tell_news = by, tell_news
        self._by_answer = by_answer
        self._is_recording = is_recording
        # Where nothing was provisioned nothing is laid: it would be taken for somebody else's.
        self._is_place = kind_of(place.home) is not None
        self._results: dict[int, Future[StepResult]] = {}

    def first_open_step(self) -> Step:
        """The first step that never passed; the last one when all have."""
        records = self._log.records()
        steps = self._place.lab.steps
        for step in steps:
            if not records.get(step.number, StepRecord()).passed_at:
                return step
        return steps[-1]

    def step_of_the_last_failure(self) -> Step:
        """The first step that failed when steps were last graded; else the first open one."""
        records = self._log.records()
        newest = max(records.values(), key=lambda record: record.graded_at, default=StepRecord())
        for step in self._place.lab.steps:
            record = records.get(step.number, StepRecord())
            if newest.run and record.run == newest.run and record.failure is not None:
                return step
        return self.first_open_step()

    def check(
        self, steps: Sequence[Step], tell: Callable[[Standing], None] = lambda _: None
    ) -> tuple[Standing, ...]:
        """Grade steps, two at a time, and record them; `tell` gets each in order."""
        records = self._log.records()
        standings = []
        with ThreadPoolExecutor(AT_ONCE) as pool:

            def ask(step: Step) -> Future[StepResult]:
                if step.number not in self._results:
                    self._results[step.number] = pool.submit(self._grade, step, records)
                return self._results[step.number]

            for step in steps:
                ask(step)
                later = step.undone_by
                if records.get(step.number, StepRecord()).passed_at and (
                    later in records and records[later].passed_at
                ):
                    ask(self._place.lab.step(later))
            for step in steps:
                result = ask(step).result()
                standing = stand(
                    self._place.lab, step, result, records, lambda later: ask(later).result()
                )
                standing = self._recorded(standing)
                if self._is_place:
                    self._verdicts.put(standing, by=self._by)
                standings.append(standing)
                tell(standing)
        return tuple(standings)

    def _grade(self, step: Step, records: Mapping[int, StepRecord]) -> StepResult:
        if self._tell_news is None:
            return grade(self._place, step, records)
        return grade(self._place, step, records, tell=partial(self._tell_news, step.number))

    def _recorded(self, standing: Standing) -> Standing:
        """The standing after its attempt is on record; what says nothing new is not recorded."""
        if not self._is_recording or standing.is_credit_only:
            return standing
        if standing.verdict is StepVerdict.CANNOT_TELL:
            return standing
        self._log.record(standing.result, by_answer=self._by_answer)
        return replace(standing, record=self._log.records()[standing.step.number])


def overall(standings: Sequence[Standing]) -> StepVerdict:
    """CANNOT TELL before NOT YET before PASS."""
    verdicts = {standing.verdict for standing in standings}
    for verdict in (StepVerdict.CANNOT_TELL, StepVerdict.NOT_YET):
        if verdict in verdicts:
            return verdict
    return StepVerdict.PASS
