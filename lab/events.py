"""What `lab check --events` prints for the page: one JSON line for each thing that happens.

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
from lab.standing import Standing

CHECK, VERDICT = "check", "verdict"


def tell_news(step: int, news: CheckNews) -> None:
    """A check of a step began or ended; may be called from several threads."""
    _print({"event": CHECK, "step": step, **news_to_json(news)})


def tell_verdict(standing: Standing) -> None:
    """A step was judged, and its verdict is on record."""
    verdict = {"verdict": str(standing.verdict), "seconds": standing.result.seconds}
    _print({"event": VERDICT, "step": standing.step.number, **verdict})


def _print(line: Mapping[str, object]) -> None:
    with contextlib.suppress(OSError):
        os.write(sys.stdout.fileno(), (json.dumps(line) + "\n").encode())
