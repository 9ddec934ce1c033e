"""A place that is brought up while its page is open already, and what the page says meanwhile."""

from __future__ import annotations

import contextlib
import os
import signal
import subprocess
import sys
import threading
from collections.abc import Mapping
from pathlib import Path

from checks.news import LineReader
from checks.outcome import message_from_json
from lab.events import FAILED, PROGRESS
from lab.places import Place
from provision.errors import LabError
from provision.message import Message, say

_BEGUN = say("Your place is being brought up.")
_SHOWN = 400  # characters of a complaint


class Arrival:
    """Brings a place up by `lab provision`, in a process of its own.

    `message` is what a person is told of it; None when there is nothing to say. `ensure` and `stop`
    may be called from any thread, all else from one. Files in `folder`: `arrival.jsonl` (what the
    process tells), `arrival.err` (its complaints).
    """

    def __init__(self, place: Place, folder: Path, environment: Mapping[str, str]) -> None:
        self._place, self._folder, self._environment = place, folder, dict(environment)
        self._process: subprocess.Popen[bytes] | None = None
        self._lines = LineReader(folder / "arrival.jsonl")
        self._lock = threading.Lock()
        self._is_over = False
        self._seen: Message | None = None
        self.message: Message | None = None

    @property
    def is_going(self) -> bool:
        """It is on its way."""
        return self._process is not None

    def word(self, *, is_seen: bool) -> Message | None:
        """What to tell instead of how the cluster does, which `is_seen` well; None for nothing."""
        return None if is_seen and not self.is_going else self.message

    def ensure(self) -> None:
        """Bring the place up unless it is up or on its way; to ask it takes a moment."""
        with self._lock:
            if self._is_over or self.is_going:
                return
            try:
                if self._place.target.status().is_ready:
                    self.message = None
                else:
                    self._begin()
            except LabError as error:
                self.message = _failed(error.what, error.next_move)
            except OSError as error:
                self.message = _failed(str(error))

    def look(self) -> bool:
        """Take in what the process told; True when `message` is another than at the last look."""
        process = self._process
        if process is not None:
            code = process.poll()
            for line in self._lines.read():
                self._hear(line)
            if code is not None:
                self._end(code)
                self._process = None
        before, self._seen = self._seen, self.message
        return self._seen != before

    def stop(self) -> None:
        """Break off what is on its way; nothing begins after that."""
        with self._lock:
            self._is_over = True
            if self._process is not None and self._process.poll() is None:
                with contextlib.suppress(ProcessLookupError):
                    os.killpg(self._process.pid, signal.SIGINT)

    def _begin(self) -> None:
        self._folder.mkdir(parents=True, exist_ok=True, mode=0o700)
        command = [sys.executable, "-m", "lab", "provision", "--events"]
        told, wrong = (self._folder / f"arrival.{end}" for end in ("jsonl", "err"))
        with told.open("wb") as out, wrong.open("wb") as err:
            self._lines = LineReader(told)
            self._process = subprocess.Popen(
                [*command, "--lab", self._place.lab.slug],
                stdin=subprocess.DEVNULL,
                stdout=out,
                stderr=err,
                cwd=self._folder,
                env=self._environment,
                start_new_session=True,
            )
        self.message = _BEGUN

    def _hear(self, line: Mapping[str, object]) -> None:
        with contextlib.suppress(KeyError, ValueError):
            if line["event"] == FAILED:
                following = message_from_json(line["next"]) if line["next"] else None
                self.message = _failed(message_from_json(line["what"]), following)
            elif line["event"] == PROGRESS:
                self.message = say(
                    "Your place is being brought up: {stage} ({seconds} s).",
                    stage=message_from_json(line["stage"]),
                    seconds=line["seconds"],
                )

    def _end(self, code: int) -> None:
        if code == 0:
            self.message = None
        elif self.message is None or self.message.template != _FAILED.template:
            with contextlib.suppress(OSError):
                said = (self._folder / "arrival.err").read_text("utf-8", errors="replace").strip()
                self.message = _failed(said[-_SHOWN:] or str(code))


def _failed(what: Message | str, following: Message | None = None) -> Message:
    return say(
        "The place could not be brought up: {what} {next}",
        what=what,
        next=following or _AGAIN,
    )


_AGAIN = say("Load the page again to try once more.")
_FAILED = _failed("")
