"""Before answers are played: what they would replace, and what must be done before them."""

from __future__ import annotations

import os
import subprocess
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from checks.outcome import StepVerdict
from lab.examining import Examiner
from lab.model import Step
from lab.places import Place
from lab.solving import Answer, environment
from lab.standing import Standing
from provision.errors import LabError, UsageError
from provision.message import say

LIMIT_SECONDS = 20.0


@dataclass(frozen=True, slots=True)
class LiveObject:
    """An object by its kind and name; `namespace` is empty for one that belongs to none."""

    kind: str
    name: str
    namespace: str = ""

    def __str__(self) -> str:
        """As people call it: `Job train-1`."""
        return f"{self.kind} {self.name}"


def live_objects(place: Place, answers: Iterable[Answer]) -> tuple[LiveObject, ...]:
    """Of the objects that the answers may replace, those that are in the cluster now.

    LabError when the cluster does not say.
    """
    lines = dict.fromkeys(line for answer in answers for line in answer.replaces)
    wanted = [LiveObject(*line.split()) for line in lines]
    found: list[LiveObject] = []
    for namespace in dict.fromkeys(thing.namespace for thing in wanted):
        inside = [thing for thing in wanted if thing.namespace == namespace]
        there = _names(place, namespace, inside)
        found += [thing for thing in inside if (thing.kind.lower(), thing.name) in there]
    return tuple(found)


def require_groundwork(place: Place, step: Step) -> None:
    """Refuse a step whose answer has nothing to build on, and name the first step that is missing.

    A step that holds now needs nothing more. LabError when the place cannot be judged.
    """
    needed = [place.lab.step(number) for number in step.needs]
    missing = [s for s in _judged(place, needed) if not s.is_true_now]
    if not missing or _judged(place, [step])[0].is_true_now:
        return
    need, later = missing[0].step.number, missing[0].ended_by
    what = say("Step {step} builds on step {need}, which is not done.", step=step.number, need=need)
    if later:
        what = say(
            "Step {step} builds on step {need}, which step {later} has ended.",
            step=step.number,
            need=need,
            later=later,
        )
    raise UsageError(
        what,
        next_move=say(
            "Solve that one first: make solve STEP={need}. All in their order: make solve STEP=all",
            need=need,
        ),
    )


def _judged(place: Place, steps: Sequence[Step]) -> tuple[Standing, ...]:
    standings = Examiner(place, is_recording=False).check(steps)
    for standing in standings:
        if standing.verdict is StepVerdict.CANNOT_TELL:
            troubles = [check for check in standing.result.checks if check.trouble is not None]
            what = say("Step {step} cannot be judged.", step=standing.step.number)
            next_move = say("Look with make status.")
            if troubles:
                what, next_move = troubles[0].trouble or what, troubles[0].next_move or next_move
            raise LabError(what, next_move=next_move)
    return standings


def _names(place: Place, namespace: str, things: Sequence[LiveObject]) -> set[tuple[str, str]]:
    """Kinds in small letters and names of those that are there."""
    command = ["kubectl", "get", "--ignore-not-found", "--output=name", "--request-timeout=10s"]
    if namespace:
        command.append(f"--namespace={namespace}")
    command += [f"{thing.kind.lower()}/{thing.name}" for thing in things]
    variables = environment(place, os.environ)
    try:
        done = subprocess.run(
            command,
            env=variables,
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            errors="replace",
            timeout=LIMIT_SECONDS,
            check=False,
        )
    except (OSError, subprocess.TimeoutExpired) as error:
        raise _unknown(str(error)) from error
    if done.returncode:
        raise _unknown(" / ".join(done.stderr.strip().splitlines()[-2:]))
    lines = [line.partition("/") for line in done.stdout.split()]
    return {(kind.partition(".")[0], name) for kind, _, name in lines}


def _unknown(why: str) -> LabError:
    return LabError(
        say("The cluster does not say what the answers would replace: {why}", why=why or "-"),
        next_move=say("Look with make status, then solve again."),
    )
