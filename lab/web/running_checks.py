"""A check that the page was asked for: a `lab check` of its own session, listened to by its files.

It outlives the page's server: the run goes on, records what came of it, and a server that is
started meanwhile takes up listening. Files of a run: `run.json` (what runs), `run.jsonl` (what it
tells), `run.err` (what it complains about), all in the page's folder.
"""

from __future__ import annotations

import contextlib
import json
import os
import subprocess
import sys
import uuid
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from pathlib import Path

from checks.news import CheckNews, LineReader, news_from_json
from lab.events import CHECK, VERDICT
from lab.places import Place
from provision.files import read_plain, write_atomically
from provision.message import Message, say

_SHOWN = 400  # characters of a complaint


@dataclass(frozen=True, slots=True)
class Run:
    """One check of one step; `pid` and `born` (seconds since the epoch) name its process."""

    id: str
    step: int
    pid: int
    born: float


@dataclass(frozen=True, slots=True)
class Ended:
    """A run's end: the verdict in the words that people see, or why there is none."""

    verdict: str
    seconds: float
    error: Message | None


class CheckRun:
    """A run that is listened to; `heard` gives what is new."""

    def __init__(
        self, run: Run, folder: Path, process: subprocess.Popen[bytes] | None = None
    ) -> None:
        self.run = run
        self._folder, self._process = folder, process
        self._lines = LineReader(folder / "run.jsonl")
        self._verdict: Mapping[str, object] = {}

    def heard(self) -> tuple[list[CheckNews], Ended | None]:
        """The checks that began or ended since the last time, and the end when it has come."""
        is_over = not self._is_alive()
        news = []
        for line in self._lines.read():
            if line.get("step") != self.run.step:
                continue  # a later step that was graded to weigh this one
            if line.get("event") == VERDICT:
                self._verdict = line
            elif line.get("event") == CHECK:
                with contextlib.suppress(KeyError, TypeError, ValueError):
                    news.append(news_from_json(line))
        if not is_over:
            return news, None
        with contextlib.suppress(OSError):
            (self._folder / "run.json").unlink()
        return news, self._end()

    def _is_alive(self) -> bool:
        if self._process is not None:
            return self._process.poll() is None
        return _is_alive(self.run)

    def _end(self) -> Ended:
        if self._verdict:
            seconds = self._verdict.get("seconds")
            length = float(seconds) if isinstance(seconds, int | float) else 0.0
            return Ended(str(self._verdict.get("verdict")), length, None)
        with contextlib.suppress(OSError):
            said = (self._folder / "run.err").read_text("utf-8", errors="replace").strip()
            if said:
                return Ended("", 0.0, say("{text}", text=said[-_SHOWN:]))
        return Ended("", 0.0, say("The check ended without a verdict; check again."))


def begin(place: Place, folder: Path, step: int, environment: Mapping[str, str]) -> CheckRun:
    """Start a check of a step; OSError when the system refuses."""
    folder.mkdir(parents=True, exist_ok=True, mode=0o700)
    (folder / "run.jsonl").unlink(missing_ok=True)
    flags = os.O_WRONLY | os.O_CREAT | os.O_TRUNC | os.O_APPEND | os.O_CLOEXEC
    with contextlib.ExitStack() as stack:
        told, wrong = (os.open(folder / name, flags, 0o600) for name in ("run.jsonl", "run.err"))
        stack.callback(os.close, told)
        stack.callback(os.close, wrong)
        process = subprocess.Popen(
            [sys.executable, "-m", "lab", "check", str(step), "--events", "--lab", place.lab.slug],
            stdin=subprocess.DEVNULL,
            stdout=told,
            stderr=wrong,
            cwd=place.home,
            env=dict(environment),
            start_new_session=True,
        )
    run = Run(uuid.uuid4().hex[:12], step, process.pid, _born(process.pid))
    write_atomically(folder / "run.json", json.dumps(asdict(run)))
    return CheckRun(run, folder, process)


def take_up(folder: Path) -> CheckRun | None:
    """The run that an earlier server began, if it still goes on or has ended unheard."""
    try:
        data = json.loads(read_plain(folder / "run.json").decode())
        run = Run(str(data["id"]), int(data["step"]), int(data["pid"]), float(data["born"]))
    except (OSError, ValueError, KeyError, TypeError, OverflowError, RecursionError):
        return None
    return CheckRun(run, folder)


def _is_alive(run: Run) -> bool:
    return abs(_born(run.pid) - run.born) < 1


def _born(pid: int) -> float:
    """When a process was started; 0 when there is none, or one that only waits to be buried."""
    import psutil

    try:
        process = psutil.Process(pid)
        return 0.0 if process.status() == psutil.STATUS_ZOMBIE else process.create_time()
    except psutil.Error:
        return 0.0
