"""A provision that is killed, in each role at some moment: the next one goes on and completes."""

from __future__ import annotations

import os
import random
import re
import signal
import subprocess
import time
from contextlib import suppress
from pathlib import Path

import psutil
import pytest

from provision.message import Message, say
from provision.waiting import wait_until
from tests.integration.cli import LAB
from tests.integration.vm.site import FIRST, ROLES, Site, processes_of

pytestmark = [pytest.mark.full, pytest.mark.timeout(2400)]

LONGEST = 4.0  # seconds between a role's first word and its end


def test_run_that_is_killed_in_any_role_is_completed_by_the_next(site: Site, tmp_path: Path):
    if site.home.exists():
        site.lab.done("destroy", "--yes", within=300)
    seed = int(os.environ.get("SEED", time.time_ns() % 100_000))
    chance = random.Random(seed)
    for role in ROLES:
        moment = chance.uniform(0, LONGEST)
        with site.stages.measure(f"killed in {role} after {moment:.1f} s (SEED={seed})"):
            kill_in(site, role, moment, tmp_path / f"{role}.log")
    completed = site.provision("provision after the kills")
    assert any(name.startswith("grader : ") for name in completed.changed), completed.changed
    assert site.lab.status()["ready"]
    assert site.provision("provision, nothing left to do").changed == ()
    site.solve_all()


def stopped_family(pid: int) -> set[psutil.Process]:
    """A process and all that it started, stopped, so that none starts another one unseen."""
    first = psutil.Process(pid)
    family: set[psutil.Process] = set()
    found = {first}
    while found - family:
        for one in found - family:
            with suppress(psutil.NoSuchProcess):
                one.suspend()
        family |= found
        found = {first, *first.children(recursive=True)}
    return family


def kill_in(site: Site, role: str, moment: float, log: Path) -> None:
    """Start a provision and end it, with all that it started, so long after it came to the role."""
    with log.open("wb") as output:
        process = subprocess.Popen(
            [LAB, "provision"],
            env=dict(site.lab.variables),
            stdin=subprocess.DEVNULL,
            stdout=output,
            stderr=output,
            start_new_session=True,
        )

    def missing() -> Message | None:
        text = log.read_text("utf-8", errors="replace")
        assert process.poll() is None, text[-2000:]
        return None if re.search(rf" {role}: ", text) else say("{role} has not begun", role=role)

    try:
        wait_until(missing, within=FIRST)
        with suppress(subprocess.TimeoutExpired):
            process.wait(moment)
    finally:
        family = stopped_family(process.pid)
        for one in family:
            with suppress(psutil.NoSuchProcess):
                one.kill()
        process.wait(10)
        psutil.wait_procs(family, timeout=10)
    assert process.returncode == -signal.SIGKILL, log.read_text("utf-8")[-2000:]
    # Nothing goes on by itself; what keeps the way to the machine open may.
    left = [line for line in processes_of(site.home) if "ansible" in line]
    assert left == []
