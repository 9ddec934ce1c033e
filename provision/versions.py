"""Version numbers: from `versions.yaml`, and from a go.mod for what Go builds."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import yaml

from provision.errors import TargetError
from provision.message import say

HERE = Path(__file__).parent
GO_MOD = HERE / "local" / "data" / "go" / "go.mod"
KUEUE = "sigs.k8s.io/kueue"


def read_versions() -> Mapping[str, Any]:
    """What `versions.yaml` says: our own file, read as it is."""
    raw: Mapping[str, Any] = yaml.load(
        (HERE / "versions.yaml").read_text("utf-8"), Loader=yaml.CSafeLoader
    )
    return raw


def kueue_written_for() -> str:
    """The Kueue release that the labs are written for, such as "v0.20.3"."""
    return str(read_versions()["kueue"]["written_for"])


@dataclass(frozen=True, slots=True)
class Training:
    """JobSet and Kubeflow Trainer for one Kueue; `is_run`: they were run together with it."""

    jobset: str
    trainer: str
    is_run: bool


def training_for(kueue: str) -> Training:
    """Those that go with a version of Kueue such as "v0.20.3"; TargetError for an unknown one."""
    minor = version_numbers(kueue)[:2]
    for row in read_versions()["training"]:
        if version_numbers(row["kueue"]) == minor:
            return Training(row["jobset"], row["trainer"], row["is_run"])
    raise TargetError(
        say("No Trainer is known to go with Kueue {version}.", version=kueue),
        next_move=say("Leave KUEUE_VERSION out, or add a row to provision/versions.yaml."),
    )


def module_versions(go_mod: str) -> dict[str, str]:
    """Required modules and their versions from the text of a go.mod, replacements ignored."""
    pattern = r"^\s*(?:require\s+)?(\S+\.\S+)\s+(v\d\S*)(?:\s+// indirect)?$"
    return dict(re.findall(pattern, go_mod, re.MULTILINE))


def tool_packages(go_mod: str) -> tuple[str, ...]:
    """The packages of the `tool` directives in the text of a go.mod, in their order."""
    block = re.search(r"^tool \((.*?)^\)", go_mod, re.MULTILINE | re.DOTALL)
    lines = block.group(1).split() if block else []
    return (*lines, *re.findall(r"^tool (\S+\.\S+)$", go_mod, re.MULTILINE))


def go_version(go_mod: str) -> tuple[int, ...]:
    """The oldest Go version that a go.mod accepts, as numbers: (1, 26, 0)."""
    found = re.search(r"^go (\d+(?:\.\d+)*)$", go_mod, re.MULTILINE)
    if found is None:
        raise TargetError(say("go.mod names no Go version."))
    return version_numbers(found.group(1))


def version_numbers(text: str) -> tuple[int, ...]:
    """The numbers of a version, for comparing: "v0.19.2" gives (0, 19, 2)."""
    return tuple(int(n) for n in re.findall(r"\d+", text.split("-")[0])[:3])
