"""Scenes: what a step finds laid out in the cluster, as data of the lab (ADR 13).

A scene is applied by the API server with a field manager of its own, so that playing it again
changes nothing. A reset takes it away with all the rest.
"""

from __future__ import annotations

import json
import os
import subprocess
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from lab.content import render
from lab.fields import CatalogError
from lab.model import Lab, Step
from lab.places import Place
from lab.solving import environment
from provision.drawing import drawn_word
from provision.errors import LabError
from provision.message import Message, say

MANAGER = "gpu-queue-lab-scene"
LIMIT_SECONDS = 60.0


def has_scene(lab: Lab, step: Step) -> bool:
    """Whether anything is laid out for a step."""
    return bool(_files(lab, step))


class NotLaid(LabError):
    """An object of that name is there that is somebody else's; exit code 1, it is not yet laid."""

    exit_code = 1


@dataclass(frozen=True, slots=True)
class Laid:
    """One object of a scene: `object` is its kind and name, `is_new` that it was not there."""

    object: str
    is_new: bool

    @property
    def told(self) -> Message:
        """What became of it."""
        if self.is_new:
            return say("{object}: made", object=self.object)
        return say("{object}: there already", object=self.object)


def lay_scene(place: Place, step: Step) -> tuple[Laid, ...]:
    """Lay out what a step finds, and tell of each object whether it is new.

    Empty when the step has no scene. LabError when the cluster does not take it; NotLaid when
    an object of that name is there that no scene has made: it is not taken over, nothing is laid.
    """
    text = scene_text(place, step)
    if not text:
        return ()
    get = ("get", "--ignore-not-found", "--output=json", "--show-managed-fields")
    there = {_name_of(one): one for one in _objects(_kubectl(place, step, get, text))}
    for name, found in there.items():
        if MANAGER not in (makers := _makers(found)):
            raise _taken(step, name, makers)
    apply = ("apply", "--server-side", "--force-conflicts", f"--field-manager={MANAGER}")
    laid = _objects(_kubectl(place, step, (*apply, "--output=json"), text))
    return tuple(Laid(name, name not in there) for name in map(_name_of, laid))


def _kubectl(place: Place, step: Step, words: tuple[str, ...], text: str) -> str:
    try:
        done = subprocess.run(
            ["kubectl", *words, "--request-timeout=20s", "--filename=-"],
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
    return done.stdout


def _objects(text: str) -> list[Mapping[str, Any]]:
    """The objects that kubectl printed: none, one, several after each other, or a list of them."""
    found: list[Mapping[str, Any]] = []
    decoder = json.JSONDecoder()
    while text := text.lstrip():
        one, end = decoder.raw_decode(text)
        found += one["items"] if one.get("kind") == "List" else [one]
        text = text[end:]
    return found


def _name_of(found: Mapping[str, Any]) -> str:
    return f"{found['kind']} {found['metadata']['name']}"


def _makers(found: Mapping[str, Any]) -> tuple[str, ...]:
    """Who wrote the object's fields, as the API server has it on record."""
    entries = found["metadata"].get("managedFields", [])
    return tuple(sorted({one.get("manager", "") for one in entries} - {""}))


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


def _taken(step: Step, name: str, makers: tuple[str, ...]) -> NotLaid:
    return NotLaid(
        say(
            "Not laid out: {object} is there already and is somebody else's (made by {makers}).",
            object=name,
            makers=", ".join(makers) or "-",
        ),
        next_move=say(
            "Delete it first, and what it was made for, else it comes again; then once more: "
            "make start STEP={n}",
            n=step.number,
        ),
    )
