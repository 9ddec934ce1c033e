"""The `lab` command as a person runs it, on a place of the tests' own."""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

LAB = Path(sys.executable).parent / "lab"
STEPS = range(1, 9)
BUILDING = 1800.0  # seconds: the parts are built when no cache has them yet


@dataclass(frozen=True, slots=True)
class Said:
    """What a command printed, and its exit code."""

    code: int
    out: str
    err: str

    def json(self) -> dict[str, Any]:
        """Standard output, which must be one JSON object and nothing else."""
        assert self.out.startswith("{"), str(self)
        return dict(json.loads(self.out))

    def __str__(self) -> str:
        return f"exit {self.code}\n{self.out}\n{self.err}"


def said_by(
    command: Sequence[str],
    variables: Mapping[str, str],
    within: float,
    folder: Path | None = None,
) -> Said:
    """What a program says without a terminal, in an environment of these variables alone."""
    done = subprocess.run(
        command,
        env=dict(variables),
        cwd=folder,
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        timeout=within,
        check=False,
    )
    return Said(done.returncode, done.stdout, done.stderr)


@dataclass(frozen=True, slots=True)
class Lab:
    """One LAB_HOME; every call is a process of its own, without a terminal."""

    variables: Mapping[str, str]

    def run(self, *arguments: str, within: float = 120, **more: str) -> Said:
        """Run `lab` with arguments; `more` are environment variables on top."""
        return said_by([str(LAB), *arguments], {**self.variables, **more}, within)

    def done(self, *arguments: str, within: float = 120, **more: str) -> Said:
        """The same for a command that has to succeed."""
        said = self.run(*arguments, within=within, **more)
        assert said.code == 0, f"lab {' '.join(arguments)}: {said}"
        return said

    def check(self, step: int | str) -> dict[str, Any]:
        """`lab check STEP --json`, whatever its verdict."""
        return self.run("check", str(step), "--json").json()

    def status(self) -> dict[str, Any]:
        """`lab status --json`, whatever its state."""
        return self.run("status", "--json").json()

    def component(self, name: str) -> dict[str, Any]:
        """One component of the status."""
        found = [one for one in self.status()["components"] if one["name"] == name]
        assert found, f"there is no component {name}"
        return dict(found[0])

    @property
    def workspace(self) -> Path:
        """The learner's folder."""
        return Path(self.status()["workspace"])

    @property
    def progress(self) -> Path:
        """Where attempts and passes are kept."""
        return Path(self.status()["home"]) / "progress.jsonl"

    def shell(self, script: str, *, within: float = 120) -> str:
        """A script with kubectl, as a learner would run it in the workspace; it must succeed."""
        status = self.status()
        folder = Path(status["workspace"])
        folder.mkdir(parents=True, exist_ok=True)
        variables = {
            **self.variables,
            "PATH": f"{status['tools']}:{self.variables['PATH']}",
            "KUBECONFIG": status["kubeconfig"],
        }
        said = said_by(["sh", "-euc", script], variables, within, folder)
        assert said.code == 0, f"{script}\n{said}"
        return said.out


def four_parts(finding: Mapping[str, str] | None) -> bool:
    """Whether a finding tells all four things that a learner needs."""
    parts = ("looked_at", "expected", "found", "next")
    return finding is not None and all(finding.get(part, "").strip() for part in parts)
