"""Version numbers: from `versions.yaml`, and from a go.mod for what Go builds."""

from __future__ import annotations

import re
from collections.abc import Mapping
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
