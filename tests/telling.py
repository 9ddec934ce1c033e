"""What a run of the tests tells at its end, whether one process played them or several."""

from __future__ import annotations

import time
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any

import pytest


@dataclass(frozen=True, slots=True)
class Stages:
    """How long each stage took, in seconds, in their order; printed when all is done."""

    taken: list[tuple[str, float]] = field(default_factory=list)

    @contextmanager
    def measure(self, name: str) -> Iterator[None]:
        """Note how long the block takes, also when it fails."""
        started = time.monotonic()
        try:
            yield
        finally:
            self.taken.append((name, time.monotonic() - started))


STAGES = Stages()  # of the vm target


def pytest_sessionfinish(session: pytest.Session) -> None:
    """A worker hands its stages to the one who has the terminal."""
    if hasattr(session.config, "workeroutput"):
        session.config.workeroutput["stages"] = STAGES.taken


@pytest.hookimpl(optionalhook=True)
def pytest_testnodedown(node: Any) -> None:
    """Take what a worker has handed over; one that died has nothing."""
    STAGES.taken.extend(getattr(node, "workeroutput", {}).get("stages", ()))


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter) -> None:
    """One line for each reason why tests were skipped, with how many; seconds of each stage."""
    skipped = terminalreporter.stats.get("skipped", [])
    reasons = Counter(report.longrepr[-1] for report in skipped if report.longrepr)
    for reason, count in reasons.items():
        terminalreporter.write_line(f"{count} skipped: {reason.removeprefix('Skipped: ')}")
    if STAGES.taken:
        terminalreporter.section("the vm target: seconds by stage")
        for name, seconds in STAGES.taken:
            terminalreporter.write_line(f"{seconds:7.1f}  {name}")
