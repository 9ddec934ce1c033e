"""Cases as data: one folder each, read strictly. See docs/grade-case.md."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path

import yaml

KINDS = {"right": "right", "wrong": "wrong", "broken": "broken", "cannot-tell": "broken"}
WORLDS = ("before", "answered")
RIGS = (
    "apiserver-paused",
    "apiserver-stopped",
    "crds-absent",
    "credentials-refused",
    "kubeconfig-broken",
    "kueue-stopped",
    "no-kubelet",
)
SCRIPTS = ("apply.sh", "rig.sh", "write.sh")
KEYS = {
    *("step", "title", "kind", "why", "source", "names", "judgement", "rig", "learner"),
    *("check", "world", "smoke"),
    *("api", "observed", "expect", "probe"),  # notes of whoever tried the case; not used here
}
PARTS = {"case.yaml", "files", *SCRIPTS}


class CaseError(ValueError):
    """A case folder is not as the format says; names the file and the key."""


@dataclass(frozen=True, slots=True)
class Case:
    """One thing a learner may hand in, and what the grader has to make of it.

    `names` are words the first finding must hold; `check` is the id of the check that must fail
    first (wrong ones only); `world` says whether the step's usual answer is on the cluster already
    when the case begins ("answered") or only those of the steps before it ("before"); `rig` says
    how the place is broken or bent; `learner` is what was done on a broken place; `judgement` marks
    cases that others may decide otherwise; `is_smoke` ones run in every test run.
    """

    folder: Path
    lab: str
    step: int
    kind: str
    title: str
    why: str
    source: str
    names: tuple[str, ...] = ()
    check: str = ""
    world: str = "before"
    rig: str = ""
    learner: str = ""
    judgement: bool = False
    is_smoke: bool = False
    scripts: Mapping[str, str] = field(default_factory=dict)

    @property
    def id(self) -> str:
        """Short name, as in `wrong/5/guess`."""
        return f"{self.kind}/{self.step}/{self.folder.name}"

    @property
    def files(self) -> Path:
        """Folder of the case's own files; need not exist."""
        return self.folder / "files"


def read_case(folder: Path, lab: str, steps: int) -> Case:
    """The case in `folder`, wherever that lies; CaseError names the file and the key that are off.

    `steps` is how many steps the lab has.
    """
    where = folder / "case.yaml"
    try:
        raw = yaml.safe_load(where.read_text(encoding="utf-8"))
        parts = {path.name for path in folder.iterdir()}
        scripts = {name: (folder / name).read_text("utf-8") for name in SCRIPTS if name in parts}
    except (OSError, UnicodeError, yaml.YAMLError) as error:
        raise CaseError(f"{where}: {error}") from error
    if not isinstance(raw, dict):
        raise CaseError(f"{where}: a mapping is wanted, found {type(raw).__name__}")
    if unknown := sorted(map(str, set(raw) - KEYS)):
        raise CaseError(f"{where}: {unknown[0]}: unknown key")
    if unknown := sorted(parts - PARTS):
        raise CaseError(f"{folder}: {unknown[0]}: unknown file")
    if "files" in parts and not (folder / "files").is_dir():
        raise CaseError(f"{folder}: files: a folder is wanted")
    return _case(raw, folder, lab, steps, scripts)


def _case(
    raw: Mapping[str, object], folder: Path, lab: str, steps: int, scripts: Mapping[str, str]
) -> Case:
    where = folder / "case.yaml"
    step = raw.get("step")
    if not isinstance(step, int) or isinstance(step, bool):
        raise CaseError(f"{where}: step: a number is wanted, found {step!r}")
    if not 1 <= step <= steps:
        raise CaseError(f"{where}: step: {step} is not one of 1 to {steps}")
    kind, rig = _text(raw, "kind", where), _text(raw, "rig", where, "")
    return Case(
        folder=folder,
        lab=lab,
        step=step,
        kind=KINDS[_one_of(kind, tuple(KINDS), "kind", where)],
        title=_text(raw, "title", where),
        why=_text(raw, "why", where, ""),
        source=_text(raw, "source", where, ""),
        names=_words(raw, where),
        check=_text(raw, "check", where, ""),
        world=_one_of(_text(raw, "world", where, "before"), WORLDS, "world", where),
        rig=_one_of(rig, RIGS, "rig", where) if rig else "",
        learner=_text(raw, "learner", where, ""),
        judgement=_flag(raw, "judgement", where),
        is_smoke=_flag(raw, "smoke", where),
        scripts=scripts,
    )


def _text(raw: Mapping[str, object], key: str, where: Path, default: str | None = None) -> str:
    value = raw.get(key, default)
    if not isinstance(value, str) or (default is None and not value):
        raise CaseError(f"{where}: {key}: a text is wanted, found {value!r}")
    return value


def _flag(raw: Mapping[str, object], key: str, where: Path) -> bool:
    value = raw.get(key, False)
    if not isinstance(value, bool):
        raise CaseError(f"{where}: {key}: true or false is wanted, found {value!r}")
    return value


def _words(raw: Mapping[str, object], where: Path) -> tuple[str, ...]:
    value = raw.get("names", [])
    if not isinstance(value, list) or not all(isinstance(word, str) and word for word in value):
        raise CaseError(f"{where}: names: a list of texts is wanted, found {value!r}")
    return tuple(value)


def _one_of(value: str, known: tuple[str, ...], key: str, where: Path) -> str:
    if value not in known:
        raise CaseError(f"{where}: {key}: {value!r} is not one of {', '.join(known)}")
    return value
