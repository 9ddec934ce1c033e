"""Cases as data: one folder each, read strictly. See README.md beside this file."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path

import yaml

KIT = Path(__file__).parent
KINDS = ("right", "wrong", "broken")
WORLDS = ("before", "answered")
RIGS = (
    "apiserver-paused",
    "crds-absent",
    "credentials-refused",
    "kubeconfig-broken",
    "kueue-stopped",
    "no-kubelet",
)
SCRIPTS = ("apply.sh", "rig.sh", "write.sh")


class CaseError(ValueError):
    """A case folder is not as the format says; names the file and the key."""


@dataclass(frozen=True, slots=True)
class Case:
    """One thing a learner may hand in, and what the grader has to make of it.

    `names` are words the first finding must hold; `check` is the id of the check that must fail
    first (wrong ones only); `world` says whether the step's usual answer is on the cluster already
    when the case begins ("answered") or only those of the steps before it ("before"); `rig` says
    how the place is broken; `judgement` marks cases that others may decide otherwise; `is_smoke`
    ones run in every test run.
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


KEYS = {
    "step", "title", "kind", "why", "source",
    "names", "check", "world", "rig", "judgement", "smoke",
}  # fmt: skip
PARTS = {"case.yaml", "files", *SCRIPTS}


def read_case(folder: Path) -> Case:
    """The case in `folder`; CaseError names the file and the key that are off."""
    where = folder / "case.yaml"
    try:
        raw = yaml.safe_load(where.read_text(encoding="utf-8"))
    except (OSError, yaml.YAMLError) as error:
        raise CaseError(f"{where}: {error}") from error
    if not isinstance(raw, dict):
        raise CaseError(f"{where}: a mapping is wanted, found {type(raw).__name__}")
    if unknown := sorted(map(str, set(raw) - KEYS)):
        raise CaseError(f"{where}: {unknown[0]}: unknown key")
    if unknown := sorted({path.name for path in folder.iterdir()} - PARTS):
        raise CaseError(f"{folder}: {unknown[0]}: unknown file")
    return _checked(_case(raw, folder, where), where)


def _case(raw: Mapping[str, object], folder: Path, where: Path) -> Case:
    step = raw.get("step")
    if not isinstance(step, int) or isinstance(step, bool):
        raise CaseError(f"{where}: step: a number is wanted, found {step!r}")
    rig = _text(raw, "rig", where, "")
    return Case(
        folder=folder,
        lab=folder.parent.parent.name,
        step=step,
        kind=_one_of(_text(raw, "kind", where), KINDS, "kind", where),
        title=_text(raw, "title", where),
        why=_text(raw, "why", where),
        source=_text(raw, "source", where),
        names=_words(raw, where),
        check=_text(raw, "check", where, ""),
        world=_one_of(_text(raw, "world", where, "before"), WORLDS, "world", where),
        rig=_one_of(rig, RIGS, "rig", where) if rig else "",
        judgement=_flag(raw, "judgement", where),
        is_smoke=_flag(raw, "smoke", where),
        scripts={
            name: (folder / name).read_text(encoding="utf-8")
            for name in SCRIPTS
            if (folder / name).is_file()
        },
    )


def _checked(case: Case, where: Path) -> Case:
    """The same case, if what it says fits together and fits its place in the tree."""
    kind, step = case.folder.parents[2].name, case.folder.parent.name
    if case.kind != kind:
        raise CaseError(f"{where}: kind: {case.kind!r}, but it lies in the folder {kind}")
    if str(case.step) != step:
        raise CaseError(f"{where}: step: {case.step}, but it lies in the folder {step}")
    if (case.kind == "wrong") != bool(case.check):
        raise CaseError(f"{where}: check: wrong cases name one, others do not")
    if (case.kind == "broken") != bool(case.rig):
        raise CaseError(f"{where}: rig: broken cases name one, others do not")
    if (case.kind == "right") == bool(case.names):
        raise CaseError(f"{where}: names: right cases have none, others have some")
    return case


def read_cases(lab: str, kit: Path = KIT) -> tuple[Case, ...]:
    """All cases of a lab: by step, those that share a world side by side, broken ones last."""
    folders = [path.parent for kind in KINDS for path in (kit / kind / lab).glob("*/*/case.yaml")]
    return tuple(sorted(map(read_case, folders), key=_order))


def _order(case: Case) -> tuple[bool, bool, int, bool, str]:
    is_broken, is_ruin = case.kind == "broken", case.rig == "crds-absent"
    return (is_broken, is_ruin, case.step, case.world == "answered", case.id)
