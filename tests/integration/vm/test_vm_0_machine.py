"""The test machine itself: it comes up, and leaves nothing behind however it ends."""

from __future__ import annotations

import os
import signal
from collections.abc import Iterator

import pytest

from provision.errors import UsageError
from tests.machines.booting import boot, halt
from tests.machines.leftovers import find_processes, leftovers
from tests.machines.needs import missing
from tests.machines.places import RUNS

NAME, SUBNET = "labtestb", 101

pytestmark = [pytest.mark.vm, pytest.mark.timeout(1800)]


@pytest.fixture
def name() -> Iterator[str]:
    """The name of a machine that is not there, before and after."""
    if reasons := missing():
        pytest.skip("a machine for the vm target needs " + ", ".join(reasons))
    halt(NAME)
    yield NAME
    assert halt(NAME) == ()


def test_machine_that_is_taken_down_leaves_nothing(name: str):
    record = boot(name, SUBNET)
    kinds = {thing.split()[0] for thing in leftovers(name)}
    assert kinds == {"process", "mount", "interface", "cgroup", "folder"}
    with pytest.raises(UsageError, match="is up"):
        boot(name, SUBNET)
    assert halt(name) == ()
    assert record.process() is None
    assert not (RUNS / name).exists()


def test_machine_that_was_killed_is_made_anew(name: str):
    boot(name, SUBNET)
    for process in find_processes(name):
        os.kill(process.pid, signal.SIGKILL)
    assert "interface" in {thing.split()[0] for thing in leftovers(name)}
    again = boot(name, SUBNET)
    assert again.process() is not None


@pytest.mark.parametrize("wrong", ["UPPER", "much-too-long-a-name", "", "../up"])
def test_name_that_cannot_be_is_refused(wrong: str):
    with pytest.raises(UsageError, match="names no machine"):
        boot(wrong, SUBNET)
