"""The newsroom of a page: what happens in the place reaches everybody who listens.

Three sources: watches of the cluster, the files of progress and verdicts (looked at several times
a second while somebody listens), and the check that the page runs.
"""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import Callable, Mapping
from functools import partial

from checks.live import LiveCluster, Painter
from checks.news import CheckNews
from lab.model import Step
from lab.places import KUEUE_API
from lab.text import Speech
from lab.web.page import Page
from lab.web.running_checks import CheckRun, Ended, begin, take_up
from lab.web.state import Known, mark_of_known, read_known, state_as_json, verdict_as_json
from lab.web.stream import Event, Listener
from lab.web.viewing import PATIENCE_SECONDS, View
from provision.errors import LabError

LOOK_SECONDS = 0.15  # between two looks at files while somebody listens or a check runs
SETTLE_SECONDS = 0.04  # kinds are told one by one; what belongs together comes within this
GAP_SECONDS = 0.1  # between two pictures
GPU = "nvidia.com/gpu"


class Newsroom:
    """All of one page's server; every method is called in its event loop."""

    def __init__(self, page: Page) -> None:
        self._page = page
        self._loop = asyncio.get_running_loop()
        self._listeners: set[Listener] = set()
        self._known: Known | None = None
        self._mark: object = None
        self._wake = asyncio.Event()
        self._looking: asyncio.Task[None] | None = None
        self._drawing: asyncio.TimerHandle | None = None
        self._drawn_at = 0.0
        self._live: LiveCluster | None = None
        self._view: View | None = None
        self._run = take_up(page.folder)
        if self._run is not None:
            self._attend()

    @property
    def running(self) -> CheckRun | None:
        """The check that runs now."""
        return self._run

    def start_check(self, step: int, language: str) -> str:
        """Begin a check of a step; the id of its run. Ask `running` first."""
        environment = {**self._page.environment, "LAB_LANG": language, "LAB_SHELL": "1"}
        self._run = begin(self._page.place, self._page.folder, step, environment)
        self._tell(self._run_event(self._run))
        self._attend()
        return self._run.run.id

    def known(self) -> Known:
        """Progress and verdicts, read afresh; LabError when they cannot be read."""
        return read_known(self._page.place)

    def join(self) -> Listener:
        """A new listener, who hears first how everything stands."""
        listener = Listener()
        self._watch()
        if self._view is not None and (self._view.is_known or self._view.trouble):
            self._show(self._view, listener.put)
        with contextlib.suppress(LabError):
            mark, known = mark_of_known(self._page.place), self.known()
            for event in self._standings(known):
                listener.put(event)
            if not self._listeners:  # else the others have yet to hear of it
                self._mark, self._known = mark, known
        self._listeners.add(listener)
        if self._run is not None:
            listener.put(self._run_event(self._run))
        self._attend()
        return listener

    def leave(self, listener: Listener) -> None:
        """A listener has gone."""
        self._listeners.discard(listener)

    def close(self) -> None:
        """End all: watches, looks and streams. A check that runs goes on."""
        if self._looking is not None:
            self._looking.cancel()
        if self._drawing is not None:
            self._drawing.cancel()
        for listener in self._listeners:
            listener.leave()
        if self._live is not None:
            self._live.stop()

    # --- progress, verdicts and the running check ---

    def _attend(self) -> None:
        if self._looking is None or self._looking.done():
            self._looking = self._loop.create_task(self._look_on())

    async def _look_on(self) -> None:
        while self._listeners or self._run is not None:
            await self._hear_run()
            await self._hear_files()
            with contextlib.suppress(TimeoutError):
                await asyncio.wait_for(self._wake.wait(), LOOK_SECONDS)
            self._wake.clear()

    async def _hear_files(self) -> None:
        if (mark := mark_of_known(self._page.place)) == self._mark:
            return
        try:
            known = await self._loop.run_in_executor(None, self.known)
        except LabError:
            return  # asked for by itself, the state says why
        before, self._known, self._mark = self._known, known, mark
        for event in self._standings(known, before):
            self._tell(event)

    async def _hear_run(self) -> None:
        run = self._run
        if run is None:
            return
        news, ended = await self._loop.run_in_executor(None, run.heard)
        for one in news:
            self._tell(self._run_event(run, one))
        if ended is not None:
            self._run = None
            await self._hear_files()  # the verdict before the end
            self._tell(self._run_event(run, ended))

    def _standings(self, known: Known, before: Known | None = None) -> list[Event]:
        """The state, and the verdicts that are new since `before` (None: all there are)."""
        has_tmux = self._page.has_tmux
        events = [Event("state", "-", partial(_state, known, has_tmux=has_tmux))]
        for step in known.lab.steps:
            now = known.verdicts.get(step.number)
            was = before.verdicts.get(step.number) if before else None
            if now is not None and now != was:
                events.append(
                    Event("verdict", str(step.number), partial(_verdict, known, step.number))
                )
        return events

    def _run_event(self, run: CheckRun, what: CheckNews | Ended | None = None) -> Event:
        step = self._page.place.lab.step(run.run.step)
        return Event("checking", "", partial(_checking, run.run.id, step, what))

    # --- the picture ---

    def _watch(self) -> None:
        """Begin to follow the cluster, once; a place that was never up has nothing to follow."""
        if self._live is not None:
            return
        place = self._page.place
        try:
            kubeconfig = place.target.info().grader_kubeconfig
        except LabError:
            return
        facts = place.lab.facts
        api, gpu = str(facts.get("api_version", KUEUE_API)), str(facts.get("gpu", GPU))
        self._live = LiveCluster(kubeconfig, api, self._stir_from_afar)
        self._view = View(self._live, Painter(gpu, place.lab.namespaces))
        self._live.start()

    def _stir_from_afar(self) -> None:
        with contextlib.suppress(RuntimeError):  # the loop has ended
            self._loop.call_soon_threadsafe(self._stir)

    def _stir(self, after: float = SETTLE_SECONDS) -> None:
        if self._drawing is None:
            due = max(self._loop.time() + after, self._drawn_at + GAP_SECONDS)
            self._drawing = self._loop.call_at(due, self._draw)

    def _draw(self) -> None:
        self._drawing = None
        self._drawn_at = self._loop.time()
        view = self._view
        if view is None:
            return
        if view.look():
            self._show(view, self._tell)
        if view.is_waiting:
            self._stir(PATIENCE_SECONDS)

    def _show(self, view: View, tell: Callable[[Event], None]) -> None:
        tell(Event("place", "-", view.place))
        if view.is_known:
            tell(Event("picture", "-", view.picture))

    def _tell(self, event: Event) -> None:
        for listener in self._listeners:
            listener.put(event)


def _state(known: Known, speech: Speech, *, has_tmux: bool) -> Mapping[str, object]:
    return state_as_json(known, speech, has_tmux=has_tmux)


def _verdict(known: Known, number: int, speech: Speech) -> Mapping[str, object]:
    return verdict_as_json(known, known.lab.step(number), speech) or {}


def _checking(
    run: str, step: Step, what: CheckNews | Ended | None, speech: Speech
) -> Mapping[str, object]:
    """A `checking` of the page: a run started, a check of it began or ended, the run ended."""
    about: dict[str, object] = {"run": run, "step": step.number, "error": None}
    if what is None:
        title = speech.pick(step.title)
        return about | {"phase": "started", "title": title, "outcome": None, "seconds": None}
    about["seconds"] = round(what.seconds, 3)
    if isinstance(what, Ended):
        error = None if what.error is None else speech.of(what.error)
        outcome = what.verdict or None
        title = speech.pick(step.title)
        return about | {"phase": "ended", "title": title, "outcome": outcome, "error": error}
    return about | {
        "phase": "check",
        "title": speech.of(what.title),
        "outcome": None if what.outcome is None else str(what.outcome),
        "id": what.id,
        "index": what.index,
        "of": what.of,
    }
