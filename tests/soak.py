"""Plays the whole lab again and again while its components are killed; counts flakes.

Run as `make soak N=50`; SEED=… repeats the choices of a run before, MINUTES=… begins no run later
than that. While each step is played and graded, `kill -9` meets one component, chosen by chance, at
a moment chosen by chance. A flake is a NOT YET for the right answer, or a CANNOT TELL that stays
when the place has recovered by itself.
Commands of an answer that failed while the API server was away are no flake: they are played again
once, as a learner would. Exit code 1 when there was any flake.
"""

from __future__ import annotations

import contextlib
import os
import random
import signal
import subprocess
import sys
import time
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, field

from provision.errors import TimedOut
from tests.faults.own_place import own_place
from tests.faults.site import Site
from tests.integration.cli import LAB, STEPS

LONGEST_DELAY = 2.5  # seconds after a step was begun: some kills meet it, some come after it
WITHIN = 240.0
PASS, NOT_YET, UNTOLD = 0, 1, 3


@dataclass(slots=True)
class Run:
    """What came of one run."""

    number: int
    kills: Counter[str] = field(default_factory=Counter)
    again: int = 0
    untold: int = 0
    flakes: list[str] = field(default_factory=list)
    seconds: float = 0.0

    def __str__(self) -> str:
        text = (
            f"{self.number:4} {self.seconds:6.1f} s {self.kills.total():6} {self.again:6} "
            f"{self.untold:7} {len(self.flakes):7}"
        )
        return "\n".join([text, *(f"     FLAKE: {flake}" for flake in self.flakes)])


class Soak:
    """Runs on one place, with one source of chance."""

    def __init__(self, site: Site, chance: random.Random) -> None:
        self._site, self._chance = site, chance

    def run(self, number: int) -> Run:
        """The lab from its start to its end."""
        run, began = Run(number), time.monotonic()
        self._site.lab.done("reset", "--yes")
        for step in STEPS:
            try:
                self._play(run, step)
            except TimedOut as late:
                run.flakes.append(f"step {step}: the place does not recover: {late}")
                self._site.lab.run("provision")
        self._check_all(run)
        run.seconds = time.monotonic() - began
        return run

    def _play(self, run: Run, step: int) -> None:
        code, text = self._solve_under_fire(run, step)
        if code == PASS:
            return
        if code != UNTOLD:
            run.flakes.append(f"step {step}, exit {code}: {text}")
        elif "CANNOT TELL" in text:
            run.untold += 1
        else:
            run.again += 1
        self._site.await_ready()
        said = self._site.lab.run("check", str(step), "--json")
        if said.code == NOT_YET and "CANNOT TELL" not in text:
            said = self._site.lab.run("solve", str(step), "--yes")
        if said.code != PASS:
            run.flakes.append(f"step {step} after the place had recovered: {said}")

    def _solve_under_fire(self, run: Run, step: int) -> tuple[int, str]:
        """Play and grade a step while one component is killed; exit code, and all that was said."""
        delay = self._chance.uniform(0, LONGEST_DELAY)
        names = sorted(self._site.supervisor.processes())
        victim = self._chance.choice(names)
        with subprocess.Popen(
            [str(LAB), "solve", str(step), "--yes"],
            env=dict(self._site.lab.variables),
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
        ) as process:
            with contextlib.suppress(subprocess.TimeoutExpired):
                process.wait(delay)
            self._kill(run, victim)
            out, _ = process.communicate(timeout=WITHIN)
        return process.returncode, out

    def _kill(self, run: Run, name: str) -> None:
        pid = self._site.supervisor.processes()[name].pid
        if pid is not None:  # None: it has not come back from an earlier kill
            with contextlib.suppress(ProcessLookupError):
                os.kill(pid, signal.SIGKILL)
                run.kills[name] += 1

    def _check_all(self, run: Run) -> None:
        with contextlib.suppress(TimedOut):
            self._site.await_ready()
        said = self._site.lab.run("check", "all", "--json")
        if said.code != PASS:
            run.flakes.append(f"all steps at the end: {said}")


def runs(count: int, seed: int, minutes: float) -> Iterator[Run]:
    """So many runs on a place of their own, none begun after so many minutes."""
    over = time.monotonic() + 60 * minutes
    with own_place("gql-soak-") as site:
        soak = Soak(site, random.Random(seed))
        for number in range(1, count + 1):
            if time.monotonic() < over:
                yield soak.run(number)


def main() -> int:
    count = int(os.environ.get("N") or 50)
    seed = int(os.environ.get("SEED") or random.SystemRandom().randrange(10**6))
    print(f"{count} runs, SEED={seed}\n run     time  kills  again  untold  flakes", flush=True)  # noqa: T201
    done, kills = [], Counter[str]()
    for run in runs(count, seed, float(os.environ.get("MINUTES") or 600)):
        print(run, flush=True)  # noqa: T201
        done.append(run)
        kills += run.kills
    flakes = sum(len(run.flakes) for run in done)
    victims = ", ".join(f"{name} {number}" for name, number in kills.most_common())
    print(f"\nkilled {kills.total()} times: {victims}")  # noqa: T201
    print(  # noqa: T201
        f"{sum(run.again for run in done)} answers played again, "
        f"{sum(run.untold for run in done)} verdicts asked again\n"
        f"{flakes} flakes in {len(done)} runs, {8 * len(done)} steps"
    )
    return 1 if flakes else 0


if __name__ == "__main__":
    sys.exit(main())
