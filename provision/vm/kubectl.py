"""kubectl as the machine's own program, for the little that the target asks of its cluster."""

from __future__ import annotations

import json
import subprocess
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from provision.errors import TargetError
from provision.message import say

ASK_SECONDS = 10.0


@dataclass(frozen=True, slots=True)
class Kubectl:
    """One kubectl with one kubeconfig."""

    program: Path
    kubeconfig: Path

    def text(self, *arguments: str, within: float = ASK_SECONDS, stdin: str = "") -> str:
        """What it prints; TargetError with its last words when it fails or takes too long."""
        command = [str(self.program), f"--kubeconfig={self.kubeconfig}", *arguments]
        try:
            done = subprocess.run(
                command,
                input=stdin.encode(),
                capture_output=True,
                timeout=within,
                check=False,
            )
        except subprocess.TimeoutExpired as error:
            raise _refused(arguments, f"> {within:g} s") from error
        except OSError as error:
            raise _refused(arguments, str(error)) from error
        if done.returncode:
            lines = done.stderr.decode(errors="replace").strip().splitlines()
            raise _refused(arguments, lines[-1] if lines else str(done.returncode))
        return done.stdout.decode(errors="replace")

    def json(self, *arguments: str) -> Mapping[str, Any]:
        """What it prints with `--output=json`, as data."""
        try:
            found = json.loads(self.text(*arguments, "--output=json"))
        except ValueError as error:
            raise _refused(arguments, str(error)) from error
        return found if isinstance(found, dict) else {}

    def names(self, kind: str, *arguments: str) -> tuple[str, ...]:
        """The names of the objects of a kind; `arguments` narrow it down."""
        path = "jsonpath={range .items[*]}{.metadata.name}{'\\n'}{end}"
        return tuple(self.text("get", kind, *arguments, f"--output={path}").split())


def _refused(arguments: tuple[str, ...], reason: str) -> TargetError:
    return TargetError(
        say(
            "kubectl {command} failed: {reason}",
            command=" ".join(arguments[:3])[:80],
            reason=reason,
        ),
        next_move=say("Look with lab status; systemctl status k3s says how k3s is."),
    )
