"""The process in which the checks of a step run: started, listened to, and ended as a whole."""

from __future__ import annotations

import contextlib
import os
import signal
import subprocess
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path

from checks.news import CheckNews, LineReader, news_from_json
from provision.errors import TimedOut
from provision.message import Message, say
from provision.waiting import wait_until

TellNews = Callable[[CheckNews], None]


def run_checks(
    command: Sequence[str],
    *,
    folder: Path,
    logs: Path,
    limit: float,
    news: Path,
    tell: TellNews | None,
) -> None:
    """Run a command in a folder to its end; TimedOut when it takes more than `limit` seconds.

    What it prints goes into `checks.log` below `logs`; `tell` hears what it writes into `news`.
    """
    log = _open_log(logs)
    process = subprocess.Popen(
        command,
        stdin=subprocess.DEVNULL,
        stdout=log,
        stderr=subprocess.STDOUT,
        cwd=folder,
        env=_environment(os.environ),
        start_new_session=True,
    )
    try:
        _attend(process, news, limit, tell)
    finally:
        _end_group(process)
        os.close(log)


def _attend(
    process: subprocess.Popen[bytes], news: Path, limit: float, tell: TellNews | None
) -> None:
    """Wait for the end of the checks and pass on what they tell meanwhile; TimedOut at `limit`."""
    if tell is None:
        try:
            process.wait(timeout=limit)
        except subprocess.TimeoutExpired as late:
            raise TimedOut(say("the checks still run")) from late
        return
    lines = LineReader(news)

    def missing() -> Message | None:
        has_ended = process.poll() is not None
        for line in lines.read():
            tell(news_from_json(line))
        return None if has_ended else say("the checks still run")

    wait_until(missing, within=limit, every=0.05)


def _open_log(logs: Path) -> int:
    """The newest run's output only, so that the log cannot grow; nowhere if it can't be written."""
    try:
        logs.mkdir(parents=True, exist_ok=True)
        flags = os.O_WRONLY | os.O_CREAT | os.O_TRUNC | os.O_CLOEXEC
        return os.open(logs / "checks.log", flags, 0o600)
    except OSError:
        return os.open(os.devnull, os.O_WRONLY | os.O_CLOEXEC)


def _environment(environment: Mapping[str, str]) -> dict[str, str]:
    """Nothing of the caller's that could change a verdict reaches the checks."""
    kept = ("PATH", "HOME", "TMPDIR", "SSH_AUTH_SOCK")
    return {"LC_ALL": "C.UTF-8", **{key: environment[key] for key in kept if key in environment}}


def _end_group(process: subprocess.Popen[bytes]) -> None:
    """End all that the checks started, also when they ended themselves or were interrupted."""
    with contextlib.suppress(ProcessLookupError):
        os.killpg(process.pid, signal.SIGKILL)
    process.wait()
