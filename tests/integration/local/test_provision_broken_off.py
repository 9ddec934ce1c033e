"""`lab provision` broken off at any moment: the next one completes, and nothing is left behind."""

from __future__ import annotations

import contextlib
import json
import os
import random
import signal
import subprocess
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

import pytest

from provision.local.processes import PlaceProcess, place_processes
from tests.conftest import Surroundings
from tests.integration.cli import LAB, Lab

pytestmark = [pytest.mark.integration, pytest.mark.full]

MOMENTS = 20
CTRL_C = 6
LONGEST = 6.0  # seconds: a first start takes about four
COMPONENTS = (
    *("etcd", "kube-apiserver", "kube-controller-manager", "kube-scheduler", "kueue", "kwok"),
    "recorder",
)


@pytest.fixture
def fresh(surroundings: Surroundings, tmp_path: Path) -> Iterator[Lab]:
    """A lab that nobody has provisioned."""
    lab = Lab(surroundings(tmp_path))
    yield lab
    lab.run("destroy", "--yes")


@pytest.fixture(scope="module")
def chance() -> random.Random:
    """Moments by chance; `SEED=…` in the environment repeats those of a run before."""
    seed = int(os.environ.get("SEED") or random.SystemRandom().randrange(10**6))
    print(f"\nSEED={seed}")  # noqa: T201
    return random.Random(seed)


def home_of(lab: Lab) -> Path:
    return Path(lab.variables["LAB_HOME"]) / "kueue_quota"


def processes(lab: Lab) -> tuple[PlaceProcess, ...]:
    """All that runs of the place; its home is named in every command line."""
    file = home_of(lab) / "place.json"
    if not file.exists():
        return ()
    return place_processes(home_of(lab), json.loads(file.read_text("utf-8"))["id"])


@contextlib.contextmanager
def provisioning(lab: Lab) -> Iterator[subprocess.Popen[str]]:
    """`lab provision` in a process group of its own."""
    with subprocess.Popen(
        [str(LAB), "provision"],
        env=dict(lab.variables),
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        start_new_session=True,
    ) as command:
        yield command


def break_off(command: subprocess.Popen[str], delay: float, number: signal.Signals) -> str:
    """Send a signal to the whole process group after so many seconds; what was said from now on."""
    with contextlib.suppress(subprocess.TimeoutExpired):
        command.wait(delay)
    with contextlib.suppress(ProcessLookupError):
        os.killpg(command.pid, number)
    out, _ = command.communicate(timeout=60)
    return out


def assert_complete(lab: Lab) -> None:
    """Ready, each component once, one supervisor, and a cluster that a step can be graded in."""
    lab.done("provision")
    counts = Counter(process.component for process in processes(lab))
    assert counts == {"": 1, **dict.fromkeys(COMPONENTS, 1)}, counts
    assert lab.status()["ready"]
    said = lab.run("check", "1", "--json")
    assert (said.code, said.json()["verdict"]) == (1, "NOT YET"), str(said)
    assert lab.shell("kubectl get node -o name").split() == ["node/gpu-node-0"]


@pytest.mark.timeout(900, func_only=True)
def test_the_next_run_completes_after_a_kill_at_any_moment(
    fresh: Lab, chance: random.Random
) -> None:
    cut_short = 0
    for number in range(MOMENTS):
        delay, is_new = chance.uniform(0.05, LONGEST), number % 2 == 0
        if is_new:
            fresh.done("destroy", "--yes")
        else:
            fresh.done("down")
        with provisioning(fresh) as command:
            out = break_off(command, delay, signal.SIGKILL)
        code = command.returncode
        cut_short += code == -signal.SIGKILL
        left = processes(fresh)
        state = "new" if is_new else "known"
        told = f"{number + 1:3}  {state:5}  after {delay:4.2f} s  exit {code:3}, {len(left)} left"
        print(told)  # noqa: T201
        assert code in (0, -signal.SIGKILL), out
        if chance.random() < 0.5:  # as when the machine itself goes down
            for process in left:
                with contextlib.suppress(ProcessLookupError):
                    os.kill(process.pid, signal.SIGKILL)
        assert_complete(fresh)
        if number % 4 == 0:
            fresh.done("reset", "--yes")
            assert_complete(fresh)
    assert cut_short >= MOMENTS / 3, "the moments came too late"


@pytest.mark.timeout(300, func_only=True)
def test_ctrl_c_says_so_kindly_and_leaves_nothing(fresh: Lab, chance: random.Random) -> None:
    for _ in range(CTRL_C):
        delay = chance.uniform(0.0, 3.0)
        with provisioning(fresh) as command:
            assert command.stdout is not None
            assert "bringing the place up" in command.stdout.readline()
            out = break_off(command, delay, signal.SIGINT)
        code = command.returncode
        print(f"     Ctrl-C after {delay:4.2f} s  exit {code}")  # noqa: T201
        assert "Traceback" not in out, out
        if code == 0:
            assert fresh.status()["ready"]
        else:
            assert code == 130, out
            assert "Interrupted; the same command goes on from here." in out, out
            assert processes(fresh) == (), out
        fresh.run("destroy", "--yes")
    assert_complete(fresh)
