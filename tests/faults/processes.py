"""Faults of processes: stopped, killed and kept down, their records lost."""

from __future__ import annotations

import contextlib
import os
import signal
from collections.abc import Iterator

from provision.message import Message, say
from provision.waiting import wait_until
from tests.faults.site import Injection, Site, Way


def paused(name: str) -> Injection:
    """A component that is there and answers nothing."""

    @contextlib.contextmanager
    def inject(site: Site) -> Iterator[Way]:
        pid = site.pid(name)
        os.kill(pid, signal.SIGSTOP)
        try:
            yield Way()
        finally:
            with contextlib.suppress(ProcessLookupError):
                os.kill(pid, signal.SIGCONT)

    return inject


def kept_down(name: str) -> Injection:
    """A component that was killed and that nobody starts again."""

    @contextlib.contextmanager
    def inject(site: Site) -> Iterator[Way]:
        site.signal(name, signal.SIGKILL)

        def missing() -> Message | None:
            # Between its end and its next start it cannot be stopped: then again.
            site.supervisor.stop(name)
            info = site.supervisor.processes()[name]
            return None if info.state == "STOPPED" else say("it is {state}", state=info.state)

        wait_until(missing, within=30)
        try:
            yield Way()
        finally:
            site.supervisor.start(name)

    return inject


@contextlib.contextmanager
def without_supervisor(site: Site) -> Iterator[Way]:
    """The components run on, and nobody keeps them up."""
    site.signal("", signal.SIGKILL)
    try:
        yield Way()
    finally:
        site.lab.done("provision")


@contextlib.contextmanager
def without_history(site: Site) -> Iterator[Way]:
    """The recorder is down, and what it wrote is gone."""
    history = site.home / "history.jsonl"
    with kept_down("recorder")(site) as way, site.replaced(history, None):
        yield way


@contextlib.contextmanager
def place_down(site: Site) -> Iterator[Way]:
    """No component runs at all."""
    site.lab.done("down")
    try:
        yield Way()
    finally:
        site.lab.done("provision")
