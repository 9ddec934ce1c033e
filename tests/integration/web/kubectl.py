"""The learner's kubectl, for what the page is compared with."""

from __future__ import annotations

import json
import subprocess
from collections import defaultdict
from collections.abc import Mapping
from typing import Any

from tests.integration.cli import Lab


class Kubectl:
    """kubectl of a place; where it is was asked once."""

    def __init__(self, lab: Lab) -> None:
        status = lab.status()
        self._command = [f"{status['tools']}/kubectl", f"--kubeconfig={status['kubeconfig']}"]

    def run(self, arguments: str, stdin: str = "") -> str:
        """What a command prints that has to succeed."""
        return subprocess.run(
            [*self._command, *arguments.split()],
            input=stdin, capture_output=True, text=True, check=True, timeout=60,
        ).stdout  # fmt: skip

    def get(self, *kinds: str, where: str = "-A") -> Mapping[str, list[dict[str, Any]]]:
        """All objects of some kinds, by kind; none is an empty list."""
        found: dict[str, list[dict[str, Any]]] = defaultdict(list)
        for one in json.loads(self.run(f"get {','.join(kinds)} {where} -o json"))["items"]:
            found[one["kind"]].append(one)
        return found


def condition(item: Mapping[str, Any], kind: str) -> Mapping[str, Any]:
    """A condition of an object, empty when it has none of that kind."""
    found = [c for c in item.get("status", {}).get("conditions", []) if c["type"] == kind]
    return dict(found[0]) if found else {}


def is_true(item: Mapping[str, Any], kind: str) -> bool:
    """Whether an object has a condition, and it is true."""
    return condition(item, kind).get("status") == "True"
