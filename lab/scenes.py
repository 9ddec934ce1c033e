"""Scenes: what a step finds laid out in the cluster, as data of the lab (ADR 13).

A scene is applied by the API server with a field manager of its own, so that playing it again
changes nothing. A reset takes it away with all the rest.
"""

from __future__ import annotations

import os
import subprocess
from pathlib import Path

from lab.content import render
from lab.fields import CatalogError
from lab.model import Lab, Step
from lab.places import Place
from lab.solving import environment
from provision.drawing import drawn_word
from provision.errors import LabError
from provision.message import say

MANAGER = "gpu-queue-lab-scene"
LIMIT_SECONDS = 60.0


def has_scene(lab: Lab, step: Step) -> bool:
    """Whether anything is laid out for a step."""
    return bool(_files(lab, step))


def lay_scene(place: Place, step: Step) -> tuple[str, ...]:
    """Lay out what a step finds, and tell of each object what became of it, as kubectl says it.

    Empty when the step has no scene. LabError when the cluster does not take it.
    """
    text = scene_text(place, step)
    if not text:
        return ()
    command = [
        *("kubectl", "apply", "--server-side", "--force-conflicts"),
        *(f"--field-manager={MANAGER}", "--request-timeout=20s", "--filename=-"),
    ]
    try:
        done = subprocess.run(
            command,
            env=environment(place, os.environ),
            input=text,
            capture_output=True,
            text=True,
            errors="replace",
            timeout=LIMIT_SECONDS,
            check=False,
        )
    except (OSError, subprocess.TimeoutExpired) as error:
        raise _refused(step, str(error)) from error
    if done.returncode:
        raise _refused(step, " / ".join(done.stderr.strip().splitlines()[-3:]))
    return tuple(done.stdout.split("\n")[:-1])


def scene_text(place: Place, step: Step) -> str:
    """The scene of a step as YAML with the lab's facts and what is drawn for this place put in."""
    drawn = {"word": drawn_word(place.home)}
    texts = []
    for file in _files(place.lab, step):
        try:
            source = file.read_text(encoding="utf-8")
        except (OSError, UnicodeDecodeError) as error:
            raise CatalogError(
                say("{file} cannot be read: {error}", file=file, error=error)
            ) from error
        texts.append(render(source, place, step, where=str(file), more={"drawn": drawn}))
    return "\n---\n".join(texts)


def _files(lab: Lab, step: Step) -> list[Path]:
    return sorted((lab.folder / "scenes" / f"step_{step.number}").glob("*.yaml"))


def _refused(step: Step, why: str) -> LabError:
    return LabError(
        say(
            "What step {step} finds could not be laid out: {why}", step=step.number, why=why or "-"
        ),
        next_move=say("Look with make status, then try again: make start STEP={n}", n=step.number),
    )
