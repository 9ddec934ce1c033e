"""Measures a place of its own and prints one row a figure: median, goal, and whether it is met.

Run as `make bench`. Exit code 1 when a figure is beyond 1.5 times its goal; timings on a shared
machine are noisy, so nearer misses are only printed.
"""

from __future__ import annotations

import json
import os
import shutil
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

import psutil

from provision.message import say
from provision.waiting import wait_until
from tests.echo import echo_times
from tests.integration.web.data import PageCalls, Stream
from tests.integration.web.seat import chromium, is_there

LAB = str(Path(sys.executable).parent / "lab")
ROUNDS = 5
TOLERANCE = 1.5


@dataclass(frozen=True)
class Figure:
    name: str
    values: tuple[float, ...]
    unit: str
    goal: float
    use: str = "median"

    @property
    def value(self) -> float:
        if self.use == "p95":
            return sorted(self.values)[max(0, round(0.95 * len(self.values)) - 1)]
        return statistics.median(self.values)


class Bench:
    """One place in a temporary LAB_HOME, driven by the `lab` command as a person would."""

    def __init__(self, home: Path) -> None:
        self.environment = {**os.environ, "LAB_HOME": str(home), "LAB_LANG": "en", "YES": "1"}
        self.environment.pop("LAB_WORKSPACE", None)
        self.known: dict = {}

    def lab(self, *arguments: str, ok: tuple[int, ...] = (0,)) -> str:
        done = subprocess.run(
            [LAB, *arguments], env=self.environment, capture_output=True, text=True, check=False
        )
        if done.returncode not in ok:
            sys.exit(f"lab {' '.join(arguments)}: {done.returncode}\n{done.stdout}{done.stderr}")
        return done.stdout

    def seconds(self, *arguments: str, ok: tuple[int, ...] = (0,)) -> float:
        began = time.monotonic()
        self.lab(*arguments, ok=ok)
        return time.monotonic() - began

    def first_line(self, *arguments: str) -> float:
        """When a command prints its first line, by the monotonic clock; it runs to its end."""
        command, output = [LAB, *arguments], subprocess.PIPE
        with subprocess.Popen(command, env=self.environment, stdout=output) as process:
            assert process.stdout is not None
            process.stdout.readline()
            printed = time.monotonic()
            process.stdout.read()
        return printed

    def status(self) -> dict:
        return json.loads(self.lab("status", "--json", ok=(0, 3)))

    def link(self) -> str:
        said = self.lab("open", "--no-browser")
        return next(word for word in said.split() if word.startswith("http"))

    def kubectl(self, *arguments: str) -> str:
        status = self.known = self.known or self.status()
        return subprocess.run(
            [f"{status['tools']}/kubectl", "--kubeconfig", status["kubeconfig"], *arguments],
            capture_output=True, text=True, check=True,
        ).stdout  # fmt: skip


def measure(bench: Bench) -> Iterator[Figure]:
    bench.lab("provision")
    warm = []
    for _ in range(3):
        bench.lab("down")
        warm.append(bench.seconds("provision"))
    yield Figure("provision, warm, to ready", tuple(warm), "s", 5.0)
    again = tuple(bench.seconds("provision") for _ in range(3))
    yield Figure("provision when already up", again, "s", 2.0)
    yield Figure("memory of all components (RSS)", (_memory(bench),), "MB", 900)
    readmitted = []
    for _ in range(3):
        for step in "1234567":
            bench.lab("solve", step)
        readmitted.append(_readmission(bench))
        bench.lab("check", "8")
        if len(readmitted) < 3:
            bench.lab("reset")
    yield Figure("train-1 deleted to train-3 Running", tuple(readmitted), "s", 2.0)
    for step in range(1, 9):
        values = tuple(bench.seconds("check", str(step)) for _ in range(ROUNDS * 4))
        yield Figure(f"lab check {step}, settled (p95)", values, "s", 1.0, use="p95")
    yield Figure("lab check all", tuple(bench.seconds("check", "all") for _ in range(3)), "s", 6.0)
    yield Figure("reset to ready", tuple(bench.seconds("reset") for _ in range(3)), "s", 7.0)
    untouched = tuple(bench.seconds("check", "1", ok=(1,)) for _ in range(ROUNDS * 4))
    yield Figure("lab check 1, untouched (p95)", untouched, "s", 1.0, use="p95")
    yield from _page(bench)


def _page(bench: Bench) -> Iterator[Figure]:
    opened = []
    for _ in range(3):
        bench.lab("down")
        bench.lab("provision")
        opened.append(bench.seconds("open", "--no-browser"))
    yield Figure("lab open, to a page that answers", tuple(opened), "s", 3.0)
    page = PageCalls(bench.link())
    late = []
    with page.listening() as stream:
        stream.await_told("state", lambda _: True)
        for _ in range(ROUNDS * 2):
            known = len(stream.of("verdict"))
            printed = bench.first_line("check", "1")
            late.append(_await_verdict(stream, known) - printed)
    yield Figure("verdict on the page, after the terminal's", tuple(late), "s", 0.3, use="p95")
    if is_there():
        with chromium() as browser:
            echoes = echo_times(browser, bench.link(), ROUNDS * 20)
        yield Figure("a key, until the page has drawn it", echoes, "ms", 20, use="p95")


def _await_verdict(stream: Stream, known: int) -> float:
    wait_until(
        lambda: None if len(stream.of("verdict")) > known else say("no verdict"),
        within=10,
        every=0.002,
    )
    return stream.of("verdict")[known].at


def _readmission(bench: Bench) -> float:
    bench.kubectl("-n", "team-a", "get", "job", "train-1")
    bench.kubectl("-n", "team-a", "delete", "job", "train-1", "--wait=false")
    began = time.monotonic()
    bench.kubectl(
        *("-n", "team-a", "wait", "job/train-3"),
        *("--for=jsonpath={.status.ready}=1", "--timeout=30s"),
    )  # fmt: skip
    return time.monotonic() - began


def _memory(bench: Bench) -> float:
    pids = [component["pid"] for component in bench.status()["components"]]
    return sum(psutil.Process(pid).memory_info().rss for pid in pids if pid) / 1e6


@contextmanager
def _place() -> Iterator[Bench]:
    home = Path(tempfile.mkdtemp(prefix="gql-bench-"))
    bench = Bench(home)
    try:
        yield bench
    finally:
        bench.lab("destroy", ok=(0, 2, 3))
        shutil.rmtree(home, ignore_errors=True)


def main() -> int:
    worst = 0.0
    with _place() as bench:
        print(f"{'figure':36} {'value':>9} {'goal':>9}  verdict")  # noqa: T201
        for figure in measure(bench):
            ratio = figure.value / figure.goal
            worst = max(worst, ratio)
            word = "met" if ratio <= 1 else "not met"
            cells = (
                f"{figure.value:7.2f} {figure.unit:2}"
                if figure.unit == "s"
                else (f"{figure.value:7.0f} {figure.unit}")
            )
            print(f"{figure.name:36} {cells} {figure.goal:7g} {figure.unit:2} {word}", flush=True)  # noqa: T201
    return 1 if worst > TOLERANCE else 0


if __name__ == "__main__":
    sys.exit(main())
