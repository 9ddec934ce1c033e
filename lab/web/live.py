"""The newsroom of a page: what happens in the place reaches everybody who listens.

Three sources: watches of the cluster, the files of progress and verdicts (looked at several times
a second while somebody listens), and the check that the page runs.
"""

from __future__ import annotations

import asyncio
import contextlib
import logging
from collections.abc import Callable, Mapping, Sequence
from functools import partial

from checks.live import LiveCluster, Painter
from checks.news import CheckNews
from checks.picture import Picture
from lab.places import KUEUE_API
from lab.text import Speech
from lab.web.page import Page
from lab.web.running_checks import CheckRun, Ended, begin, take_up
from lab.web.state import Known, mark_of_known, read_known
from lab.web.stream import Event, Listener
from lab.web.telling import tell_checking, tell_state, tell_unread, tell_verdict
from lab.web.viewing import PATIENCE_SECONDS, View
from provision.errors import LabError
from provision.message import Message

LOOK_SECONDS = 0.15  # between two looks at files while somebody listens or a check runs
SETTLE_SECONDS = 0.04  # kinds are told one by one; what belongs together comes within this
GAP_SECONDS = 0.1  # between two pictures
UNTOLD_PICTURES = 16  # as many wait for a slow listener; older ones are let go
GPU = "nvidia.com/gpu"
_LOG = logging.getLogger(__name__)


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
        self._pictures = 0
        self._live: LiveCluster | None = None
        self._view: View | None = None
        self._news: list[CheckNews] = []  # what the running check has told
        self._fault = ""
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
        self._news = []
        self._tell(self._run_event(self._run))
        self._attend()
        self._wake.set()
        return self._run.run.id

    def known(self) -> Known:
        """Progress and verdicts, read afresh; LabError when they cannot be read."""
        return read_known(self._page.place)

    def join(self) -> Listener:
        """A new listener, who hears first how everything stands."""
        listener = Listener()
        self._watch()
        self._show(listener.put)
        try:
            mark, known = mark_of_known(self._page.place), self.known()
        except LabError as error:
            lab, has_tmux = self._page.place.lab, self._page.has_tmux
            tell = partial(tell_unread, lab, error, has_tmux=has_tmux)
            listener.put(Event("state", "-", tell))
        else:
            for event in self._standings(known):
                listener.put(event)
            if not self._listeners:  # else the others have yet to hear of it
                self._mark, self._known = mark, known
        self._listeners.add(listener)
        if self._run is not None:
            for what in (None, *self._news):
                listener.put(self._run_event(self._run, what))
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
            try:
                await self._hear_run()
                await self._hear_files()
                self._hear_arrival()
                self._fault = ""
            except Exception as error:  # whatever it is, the next look must come
                self._note(error)
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
            self._news.append(one)
            self._tell(self._run_event(run, one))
        if ended is not None:
            self._run = None
            await self._hear_files()  # the verdict before the end
            self._tell(self._run_event(run, ended))

    def _note(self, error: Exception) -> None:
        """Write a fault into the log, once for as long as it lasts."""
        if (fault := f"{type(error).__name__}: {error}") != self._fault:
            self._fault = fault
            _LOG.exception("a look at the place failed")

    def _standings(self, known: Known, before: Known | None = None) -> list[Event]:
        """The state, and the verdicts that are new since `before` (None: all there are)."""
        has_tmux = self._page.has_tmux
        events = [Event("state", "-", partial(tell_state, known, has_tmux=has_tmux))]
        for step in known.lab.steps:
            now = known.verdicts.get(step.number)
            was = before.verdicts.get(step.number) if before else None
            if now is not None and now != was:
                events.append(
                    Event("verdict", str(step.number), partial(tell_verdict, known, step.number))
                )
        return events

    def _run_event(self, run: CheckRun, what: CheckNews | Ended | None = None) -> Event:
        step = self._page.place.lab.step(run.run.step)
        return Event("checking", "", partial(tell_checking, run.run.id, step, what))

    # --- the place and the picture ---

    def _hear_arrival(self) -> None:
        if self._page.arrival is not None and self._page.arrival.look():
            self._watch()
            self._show(self._tell)

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
        self._view = View(self._live, Painter(gpu))
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
        if pictures := view.look():
            self._show(self._tell, pictures)
        if view.is_waiting:
            self._stir(PATIENCE_SECONDS)

    def _show(self, tell: Callable[[Event], None], pictures: Sequence[Picture] = ()) -> None:
        """How the place does, and the pictures that are new (none: the newest)."""
        view, arrival = self._view, self._page.arrival
        is_seen = view is not None and view.is_known and not view.trouble
        word = None if arrival is None else arrival.word(is_seen=is_seen)
        if word is not None:
            tell(Event("place", "-", partial(_on_its_way, word)))
        elif view is not None and (view.is_known or view.trouble):
            tell(Event("place", "-", view.place))
        if view is None or not view.is_known:
            return
        for picture in pictures or (view.newest,):
            self._pictures += 1
            key = str(self._pictures % UNTOLD_PICTURES)
            tell(Event("picture", key, partial(view.picture, picture)))

    def _tell(self, event: Event) -> None:
        for listener in self._listeners:
            listener.put(event)


def _on_its_way(word: Message, speech: Speech) -> Mapping[str, object]:
    return {"is_ready": False, "text": speech.of(word)}
