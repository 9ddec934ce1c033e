"""What commands with `--events` print for the page: one JSON line for each thing that happens.

A line is in no language, and one that cannot be written (nobody reads any more) is let go: the
check goes on and its verdict is kept.
"""

from __future__ import annotations

import contextlib
import json
import os
import sys
from collections.abc import Mapping

from checks.news import CheckNews, news_to_json
from checks.outcome import message_to_json
from lab.standing import Standing
from provision.errors import LabError
from provision.target import Progress

CHECK, VERDICT, PROGRESS, FAILED = "check", "verdict", "progress", "failed"


def tell_news(step: int, news: CheckNews) -> None:
    """A check of a step began or ended; may be called from several threads."""
    _print({"event": CHECK, "step": step, **news_to_json(news)})


def tell_verdict(standing: Standing) -> None:
    """A step was judged, and its verdict is on record."""
    verdict = {"verdict": str(standing.verdict), "seconds": standing.result.seconds}
    _print({"event": VERDICT, "step": standing.step.number, **verdict})


def tell_progress(progress: Progress) -> None:
    """A line of work under way; `seconds` since it began."""
    stage, seconds = message_to_json(progress.stage), round(progress.seconds, 1)
    _print({"event": PROGRESS, "stage": stage, "seconds": seconds, "is_done": progress.is_done})


def tell_failure(error: LabError) -> None:
    """Why the work could not be done, and the next move (null when there is none)."""
    what, following = message_to_json(error.what), message_to_json(error.next_move)
    _print({"event": FAILED, "what": what, "next": following})


def _print(line: Mapping[str, object]) -> None:
    with contextlib.suppress(OSError):
        os.write(sys.stdout.fileno(), (json.dumps(line) + "\n").encode())
