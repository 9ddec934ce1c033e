"""Mutants of the right answers: small changes that a learner could make. Always the same ones.

A mutant of a manifest is either "edited" (applied rightly, the file changed afterwards) or
"applied" (what was changed was applied). One that means the same as the answer is set aside, with
the reason.
"""

from __future__ import annotations

import copy
import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import yaml

from lab.casework.playbook import read_playbook
from tests.grading.texts import ACTS, ANSWER, TEXTS, Text

Path_ = tuple[str | int, ...]

# The manifests with the step that asks for each. Those of HELPERS are not looked at as files.
MANIFESTS = {
    "flavor.yaml": 1,
    "cq.yaml": 2,
    "lq.yaml": 3,
    "job-1.yaml": 4,
    "job-2.yaml": 5,
    "job-3.yaml": 5,
    "sneaky.yaml": 6,
}
HELPERS = ("job-2.yaml", "job-3.yaml", "sneaky.yaml")
# The usual commands, which wait less long for a Job that may not come.
APPLY = {
    int(step): act.usual.replace("--timeout=30s", "--timeout=3s")
    for step, act in read_playbook("kueue_quota").acts.items()
}
# Fields of a Job that no step asks for: a learner may choose them, or leave them out.
FREE = {
    "backoffLimit": "how often a Job is tried again is not asked for",
    "terminationGracePeriodSeconds": "how long a pod may take to end is not asked for",
    "image": "",  # which one is not asked for, but without one the API refuses the Job
    "command": "what runs in the container is not asked for",
    "requests": "cpu and memory are not asked for, as long as they fit",
}
# The label may also come from the flag `-n`: only where the object stands counts.
BY_FLAG = "the file without a namespace, applied with -n team-a, is as good"


@dataclass(frozen=True, slots=True)
class Mutant:
    """One changed answer; `reason` says why it means the same, empty when it does not."""

    name: str
    step: int
    files: Mapping[str, str] = field(default_factory=dict)
    apply: str | None = None
    is_answered: bool = True
    reason: str = ""

    @property
    def id(self) -> str:
        """Short name with the step, as in `2/cq.yaml/edited/drop/spec`."""
        return f"{self.step}/{self.name}"


def mutants(base: Path) -> list[Mutant]:
    """All of them, in an order that does not change."""
    made = [*_of_manifests(base), *_of_texts(base), *_of_acts(base)]
    if len({mutant.id for mutant in made}) != len(made):
        raise ValueError("two mutants have the same name")
    return made


def _of_manifests(base: Path) -> Iterator[Mutant]:
    for file, step in MANIFESTS.items():
        whole = yaml.safe_load((base / file).read_text(encoding="utf-8"))
        for name, changed in _changed(whole):
            text = yaml.safe_dump(changed, sort_keys=False)
            for how in ("edited", "applied"):
                if how == "edited" and file in HELPERS:
                    continue
                if how == "applied" and not _is_applied_too(file, name):
                    continue
                yield Mutant(
                    name=f"{file}/{how}/{name}",
                    step=step,
                    files=_with(base, step, {file: text}),
                    apply=APPLY[step] if how == "applied" else None,
                    is_answered=how == "edited",
                    reason=_reason(name, how),
                )


def _with(base: Path, step: int, files: Mapping[str, str]) -> Mapping[str, str]:
    """The files of a step's answer, some of them changed."""
    return {name: (base / name).read_text(encoding="utf-8") for name in ANSWER[step]} | files


def _is_applied_too(file: str, name: str) -> bool:
    """Whether a change is tried on the cluster: one of each kind is enough for the most."""
    how, *path = name.split("/")
    if file in HELPERS and path and path[0] != "metadata":
        return how in ("number", "move", "add") or "limits" in path
    if how == "other":
        return path[-1] == "0"
    return how in ("number", "move", "add") or (how == "drop" and file != "flavor.yaml")


def _reason(name: str, how: str) -> str:
    parts = name.split("/")
    for key, reason in FREE.items():
        if key in parts:
            return reason
    if how == "edited" and name == "drop/metadata/namespace":
        return BY_FLAG
    if parts[0] == "other" and "containers" in parts and "name" in parts:
        return "how a container is called is not asked for"
    if parts[0] == "retype" and (parts[-1] == "nominalQuota" or "limits" in parts[:-1]):
        return "a quantity may be spelled as a number or as a text"
    return ""


def _changed(whole: Any) -> Iterator[tuple[str, Any]]:
    """Each field dropped, renamed, retyped and given another value, and what else can be added."""
    for path, value in _fields(whole):
        spelled = "/".join(map(str, path))
        if set(FREE) & set(path):
            if path[-1] in FREE:
                yield f"drop/{spelled}", _put(whole, path, None, is_drop=True)
            continue
        yield f"drop/{spelled}", _put(whole, path, None, is_drop=True)
        if isinstance(path[-1], str):
            yield f"rename/{spelled}", _renamed(whole, path)
        if not isinstance(value, dict | list):
            yield f"retype/{spelled}", _put(whole, path, _retyped(value))
        for number, other in enumerate(_others(value)):
            how = "number" if isinstance(value, int) else "other"
            yield f"{how}/{spelled}/{number}", _put(whole, path, other)
    for name, changes in _additions(whole):
        changed = whole
        for path, value in changes:
            changed = _put(changed, path, value)
        yield name, changed


def _fields(value: Any, path: Path_ = ()) -> Iterator[tuple[Path_, Any]]:
    if path:
        yield path, value
    if isinstance(value, dict):
        for key, inner in value.items():
            yield from _fields(inner, (*path, key))
    elif isinstance(value, list):
        for number, inner in enumerate(value):
            yield from _fields(inner, (*path, number))


def _put(whole: Any, path: Path_, value: Any, *, is_drop: bool = False) -> Any:
    changed = copy.deepcopy(whole)
    spot = changed
    for key in path[:-1]:
        spot = spot.setdefault(key, {}) if isinstance(spot, dict) else spot[key]
    if is_drop:
        del spot[path[-1]]
    else:
        spot[path[-1]] = value
    return changed


def _renamed(whole: Any, path: Path_) -> Any:
    changed = copy.deepcopy(whole)
    spot = changed
    for key in path[:-1]:
        spot = spot[key]
    value = spot.pop(path[-1])
    spot[f"{path[-1]}s"] = value
    return changed


def _retyped(value: Any) -> Any:
    if isinstance(value, int):
        return str(value)
    return True if value == "true" else [value]


def _others(value: Any) -> tuple[Any, ...]:
    """Other values of the same type, among them what old examples have."""
    if isinstance(value, int):
        return (value + 1, value * 2, 0)
    if not isinstance(value, str):
        return ()
    known = {
        "kueue.x-k8s.io/v1beta2": ("kueue.x-k8s.io/v1beta1", "kueue.x-k8s.io/v1alpha1", "v1"),
        "batch/v1": ("batch/v1beta1", "v1"),
        "ResourceFlavor": ("ResourceFlavour", "ClusterQueue"),
        "ClusterQueue": ("LocalQueue", "Queue"),
        "LocalQueue": ("ClusterQueue", "Queue"),
        "Job": ("CronJob", "Pod"),
        "2Gi": ("2G", "2Mi", "4Gi"),
        "true": ("false", "yes"),
        "nvidia.com/gpu": ("gpu", "nvidia.com/gpus"),
        "Never": ("Always",),
    }
    return known.get(value, (f"{value}-2", value.swapcase()))


def _additions(whole: Any) -> Iterator[tuple[str, tuple[tuple[Path_, Any], ...]]]:
    """What is not in the answer at all, or at another place: names and the changes that make it."""
    kind, queue = whole["kind"], {"kueue.x-k8s.io/queue-name": "lq"}
    if kind in ("ClusterQueue", "LocalQueue"):
        for policy in ("Hold", "HoldAndDrain"):
            yield f"add/stopPolicy/{policy}", ((("spec", "stopPolicy"), policy),)
    if kind == "ClusterQueue":
        for name in ("nobody", "somebody", "no-one"):
            checks = {"admissionChecks": [{"name": name}]}
            yield f"add/check/{name}", ((("spec", "admissionChecksStrategy"), checks),)
        other = {"matchLabels": {"team": "b"}}
        yield "add/selector", ((("spec", "namespaceSelector"), other),)
    if kind != "Job":
        return
    pod = ("spec", "template", "spec")
    yield "add/parallelism", ((("spec", "parallelism"), 3), (("spec", "completions"), 3))
    yield "add/nodeSelector", (((*pod, "nodeSelector"), {"zone": "attic"}),)
    if "labels" not in whole["metadata"]:
        yield "add/label", ((("metadata", "labels"), queue),)
        return
    plain = (("metadata", "labels"), {"app": "train"})
    yield "move/label/template", (plain, (("spec", "template", "metadata"), {"labels": queue}))
    yield "move/label/annotation", (plain, (("metadata", "annotations"), queue))
    yield "move/label/pod", (plain, ((*pod, "labels"), queue))


def _of_texts(base: Path) -> Iterator[Mutant]:
    for text in TEXTS:
        yield _text(base, text)
    ledger = json.loads((base / "usage.json").read_text(encoding="utf-8"))
    for key, value in ledger.items():
        for number, other in enumerate((value + 1, value - 1, 0, value * 10, -value, None, True)):
            if other != value:
                changed = json.dumps(ledger | {key: other})
                yield _text(base, Text(7, "usage.json", f"number/{key}/{number}", changed))
        rest = {name: amount for name, amount in ledger.items() if name != key}
        yield _text(base, Text(7, "usage.json", f"drop/{key}", json.dumps(rest)))
        for other in (f"{key}s", key.upper(), f" {key}"):
            changed = json.dumps(rest | {other: value})
            yield _text(base, Text(7, "usage.json", f"rename/{key}/{other.strip()}", changed))
        for name, odd in (("list", [value]), ("map", {"value": value}), ("word", "two")):
            changed = json.dumps(ledger | {key: odd})
            yield _text(base, Text(7, "usage.json", f"retype/{key}/{name}", changed))


def _text(base: Path, text: Text) -> Mutant:
    return Mutant(
        name=f"{text.file}/{text.name}",
        step=text.step,
        files=_with(base, text.step, {text.file: text.content}),
        reason=text.reason,
    )


def _of_acts(base: Path) -> Iterator[Mutant]:
    for act in ACTS:
        yield Mutant(
            name=f"act/{act.name}",
            step=act.step,
            files=_with(base, act.step, {}),
            apply=act.script,
            is_answered=act.is_answered,
        )
