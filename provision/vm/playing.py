"""Playing a playbook on a machine: its tasks as lines, its failure in plain words."""

from __future__ import annotations

import json
import os
import shutil
import time
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from provision.errors import TargetError
from provision.files import write_atomically
from provision.message import Message, say
from provision.target import Progress, Tell
from provision.vm.events import Course, Failure
from provision.vm.filling import advice
from provision.vm.machine import Machine
from provision.vm.playbook_run import SETTINGS, Ended, Limits, PlaybookRun
from provision.vm.variables import Variables, inventory

ANSIBLE = Path(__file__).parent / "ansible"
FOLDER = "ansible"
LISTEN_SECONDS = 0.2
SHOW_SECONDS = 1.0  # a task that lasts longer is told while it runs


@dataclass(frozen=True, slots=True)
class Played:
    """A play that came to its end: how many tasks changed something, and seconds by role.

    `kept` is the folder of the machine where a reset keeps the learner's files, None without one.
    """

    changes: int
    roles: Mapping[str, float]
    warnings: tuple[str, ...]
    kept: str | None = None


class Player:
    """Plays playbooks for one place; what a run leaves behind lies in `folder`, mode 0700."""

    def __init__(self, home: Path, machine: Machine, limits: Limits) -> None:
        self._home, self._machine, self._limits = home, machine, limits
        self.folder = home / FOLDER
        self.log = home / "logs" / "provision.log"

    def play(self, book: str, variables: Variables, tell: Tell, started: float) -> Played:
        """Play `book`, such as `site.yml`; TargetError with host, task, cause and log if it fails.

        A Ctrl-C, or whatever else `tell` raises, ends the run with all that it started.
        """
        self._lay_out(variables)
        hearing = _Hearing(tell, started)
        run = PlaybookRun(self.folder, ANSIBLE, book, self._limits)
        self._point_log_at(run.output)
        try:
            run.start()
            while not run.has_ended(LISTEN_SECONDS):
                hearing.take(run.drain())
        finally:
            ended = run.end()
        hearing.take(run.drain())
        course = hearing.course
        if ended.why is None and course.is_complete and not course.is_failed:
            return Played(course.changes, course.roles, tuple(course.warnings), course.kept)
        raise self._error(course, ended)

    def _lay_out(self, variables: Variables) -> None:
        """Write what ansible-runner reads, anew for each run: it would keep what it finds."""
        shutil.rmtree(self.folder / "tmp", ignore_errors=True)  # of a run that was killed
        for name in ("", "env", "inventory", "artifacts", "tmp"):
            (self.folder / name).mkdir(parents=True, exist_ok=True, mode=0o700)
        files: Mapping[str, Any] = {
            "env/extravars": variables,
            "env/settings": SETTINGS,
            "inventory/hosts.json": inventory(self._machine),
        }
        for name, content in files.items():
            write_atomically(self.folder / name, json.dumps(content, indent=2) + "\n")
        write_atomically(self.folder / "ansible.cfg", "[defaults]\n")

    def _point_log_at(self, output: Path) -> None:
        self.log.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
        draft = self.log.with_name(f".{self.log.name}.{os.getpid()}")
        draft.unlink(missing_ok=True)
        draft.symlink_to(output)
        draft.replace(self.log)

    def _error(self, course: Course, ended: Ended) -> TargetError:
        failure = course.failure
        if ended.why is not None:
            task = course.current or say("the start")
            return TargetError(
                say("{why} It was at: {task}.", why=ended.why, task=task), next_move=self._look()
            )
        if failure is None:
            told = (*course.errors, ended.trouble, say("it ended without a word"))
            why = next(text for text in told if str(text))
            why = why.rstrip(".") if isinstance(why, str) else why
            return TargetError(
                say("The playbook could not be played: {why}.", why=why),
                next_move=self._look(),
            )
        if failure.is_unreachable:
            return TargetError(
                say(
                    "{machine} could not be reached any more, at the task {task}: {cause}.",
                    machine=self._machine.name,
                    task=failure.task,
                    cause=failure.cause,
                ),
                next_move=say(
                    "See that it is on and that its network works, then run the same command "
                    "again: it goes on from here. The log is {path}.",
                    path=self.log,
                ),
            )
        move = advice(self._machine, self._home, failure.cause) or failure.next_move
        return TargetError(self._failed(failure), next_move=self._look(move))

    def _failed(self, failure: Failure) -> Message:
        return say(
            "On {machine}, the task {task} failed: {cause}.",
            machine=self._machine.name,
            task=failure.task,
            cause=failure.cause,
        )

    def _look(self, move: Message | str = "") -> Message:
        if move:
            return say("{move} The log is {path}.", move=move, path=self.log)
        return say("Look at {path}, then run the same command again: it goes on.", path=self.log)


class _Hearing:
    """Takes in what a run says, and tells of its tasks."""

    def __init__(self, tell: Tell, started: float) -> None:
        self.course = Course()
        self._tell, self._started = tell, started
        self._since, self._told = time.monotonic(), ""

    def take(self, events: Iterable[Mapping[str, Any]]) -> None:
        """Tell of each task that ended, and of one that lasts."""
        for event in events:
            before = self.course.current
            line = self.course.take(event)
            if line is not None:
                self._say(line.task, is_done=True)
            if self.course.current != before:
                self._since, self._told = time.monotonic(), ""
        current = self.course.current
        if current != self._told and time.monotonic() - self._since > SHOW_SECONDS:
            self._told = current
            self._say(current, is_done=False)

    def _say(self, task: str, *, is_done: bool) -> None:
        stage = say("{task}", task=task)
        self._tell(Progress(stage, time.monotonic() - self._started, is_done))
