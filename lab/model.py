"""Labs and steps as frozen data; no input or output happens here."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path

from provision.target import NodeSpec


@dataclass(frozen=True, slots=True)
class Step:
    """One step of a lab.

    `checks` is the file name of its checks; `needs` the steps whose work it builds on; `undone_by`
    the later step that is meant to end what this one asks for (0 for none); `minutes` how long a
    learner is expected to take.
    """

    number: int
    id: str
    title: Mapping[str, str]
    minutes: int
    checks: str
    files: tuple[str, ...]
    needs: tuple[int, ...]
    undone_by: int


@dataclass(frozen=True, slots=True)
class RecordedKind:
    """A kind of objects that the recorder keeps for a lab; `version` is group and version."""

    kind: str
    plural: str
    version: str


@dataclass(frozen=True, slots=True)
class Lab:
    """One lab as its `lab.yaml` describes it.

    `facts` are the names, quotas and keys that texts, checks and answers share; `folder` is where
    its texts are; `kueue` the version of Kueue that it is written for. `kueue_settings` are merged
    into Kueue's Configuration, `frameworks` kinds of jobs beside those of its parts.
    """

    slug: str
    title: Mapping[str, str]
    summary: Mapping[str, str]
    workspace: str
    kueue: str
    parts: tuple[str, ...]
    namespaces: tuple[str, ...]
    nodes: tuple[NodeSpec, ...]
    facts: Mapping[str, object]
    steps: tuple[Step, ...]
    folder: Path
    kueue_settings: Mapping[str, object] = field(default_factory=dict)
    frameworks: tuple[str, ...] = ()
    recorded: tuple[RecordedKind, ...] = ()

    def step(self, number: int) -> Step:
        """The step of that number, counted from 1; IndexError when there is none."""
        if not 1 <= number <= len(self.steps):
            raise IndexError(number)
        return self.steps[number - 1]
