"""The lab's texts, where the learner stands, checks and hints."""

from __future__ import annotations

from collections.abc import Mapping

from jupyter_server.auth.decorator import authorized
from tornado import web

from lab.content import step_text
from lab.model import Step
from lab.places import Place
from lab.report.standing_json import target_as_json
from lab.report.terminal import other_kueue
from lab.scenes import has_scene
from lab.text import LANGUAGES, Speech
from lab.web.handlers.data import DataHandler, newsroom_of, telling_errors
from lab.web.hinting import next_hint, shown_hints
from lab.web.markdown import to_html
from lab.web.state import state_as_json
from lab.web.words import words
from provision.errors import LabError
from provision.message import say


class LabDataHandler(DataHandler):
    """GET `/learn/api/lab`: everything that stays as it is while the page is open."""

    @web.authenticated
    @authorized
    @telling_errors
    async def get(self) -> None:
        """Titles, texts, words and versions in the language of the call."""
        self.answer(await self.work(lambda: lab_as_json(self.page.place, self.speech)))


class StateHandler(DataHandler):
    """GET `/learn/api/state`: how all steps stand."""

    @web.authenticated
    @authorized
    @telling_errors
    async def get(self) -> None:
        """The same as the stream tells."""
        known = await self.work(newsroom_of(self).known)
        self.answer(state_as_json(known, self.speech, has_tmux=self.page.has_tmux))


class CheckHandler(DataHandler):
    """POST `/learn/api/check`: start a check of a step; what comes of it is told by the stream."""

    @web.authenticated
    @authorized
    @telling_errors
    async def post(self) -> None:
        """202 and the run; 409 and the one that goes on already."""
        step, newsroom = self.step_of(self.asked().get("step")), newsroom_of(self)
        if newsroom.running is not None:
            what = say("Step {step} is being checked.", step=newsroom.running.run.step)
            self.set_status(409)
            run = newsroom.running.run.id
            self.answer({"run": run, "error": self.speech.of(what), "next": ""})
            return
        self.page.require_place()
        try:
            run = newsroom.start_check(step.number, self.speech.language)
        except OSError as error:
            raise LabError(say("The check could not be started: {error}", error=error)) from error
        self.set_status(202)
        self.answer({"run": run})


class HintHandler(DataHandler):
    """`/learn/api/hint`: GET those shown so far, POST for the next one."""

    @web.authenticated
    @authorized
    @telling_errors
    async def get(self) -> None:
        """Nothing is put on record."""
        step = self.step_of(self.get_query_argument("step", ""))
        self.answer(await self.work(lambda: shown_hints(self.page.place, step, self.speech)))

    @web.authenticated
    @authorized
    @telling_errors
    async def post(self) -> None:
        """The next level is shown, and that is on record."""
        step = self.step_of(self.asked().get("step"))
        self.answer(await self.work(lambda: next_hint(self.page.place, step, self.speech)))


def lab_as_json(place: Place, speech: Speech) -> Mapping[str, object]:
    """The lab in a language; LabError when a text of it cannot be read."""
    lab = place.lab
    return {
        "lab": lab.slug,
        "title": speech.pick(lab.title),
        "language": speech.language,
        "languages": list(LANGUAGES),
        "target": _target(place, speech),
        "words": words(speech),
        "steps": [_step(place, step, speech) for step in lab.steps],
    }


def _step(place: Place, step: Step, speech: Speech) -> Mapping[str, object]:
    return {
        "number": step.number,
        "id": step.id,
        "title": speech.pick(step.title),
        "minutes": step.minutes,
        "html": to_html(step_text(place, step, speech.language)),
        "needs": list(step.needs),
        "has_scene": has_scene(place.lab, step),
        "files": list(step.files),
    }


def _target(place: Place, speech: Speech) -> Mapping[str, object] | None:
    try:
        info = place.target.info()
    except LabError:
        return None
    kueue = other_kueue(place.lab, info)
    return {**target_as_json(info, speech), "kueue": None if kueue is None else speech.of(kueue)}
