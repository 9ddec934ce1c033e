"""The learner's folder of the kit, and the shell in which cases act as the learner would."""

from __future__ import annotations

import os
import shutil
import signal
import subprocess
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from lab.casework.cases import Case
from lab.casework.playbook import Playbook


@dataclass(frozen=True, slots=True)
class Desk:
    """A workspace that is filled anew for each case, and the environment of its shell."""

    workspace: Path
    environment: Mapping[str, str]

    def clear(self) -> None:
        """Empty the workspace, whatever lies in it or in its place; links are not followed."""
        if self.workspace.is_symlink() or self.workspace.is_file():
            self.workspace.unlink()
        self.workspace.mkdir(parents=True, exist_ok=True)
        for entry in self.workspace.iterdir():
            if entry.is_dir() and not entry.is_symlink():
                shutil.rmtree(entry)
            else:
                entry.unlink()

    def lay_base(self, book: Playbook, before: int) -> None:
        """Lay out the right answers of the steps before that one."""
        for step in range(1, before):
            for name in book.act(step).files:
                shutil.copy(book.base / name, self.workspace / name)

    def lay(self, book: Playbook, case: Case) -> None:
        """Lay out what the learner has for the step of a case, over what is there."""
        act = book.act(case.step)
        for name in act.files:
            if name in act.helpers or case.kind == "broken":
                shutil.copy(book.base / name, self.workspace / name)
        if case.files.is_dir():
            shutil.copytree(case.files, self.workspace, symlinks=True, dirs_exist_ok=True)
            for path in (self.workspace, *self.workspace.rglob("*")):
                if not path.is_symlink():
                    path.chmod(path.stat().st_mode | 0o600)  # the case may be read-only

    def run(self, script: str, folder: Path | None = None, *, within: float = 90) -> str:
        """Run a shell script as the learner would; what it printed, and how it ended.

        A command that is refused is part of many cases, so a failure is no error here.
        """
        process = subprocess.Popen(
            ["sh", "-c", script],
            cwd=folder or self.workspace,
            env=dict(self.environment),
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            start_new_session=True,
        )
        try:
            said, _ = process.communicate(timeout=within)
        except subprocess.TimeoutExpired:
            os.killpg(process.pid, signal.SIGKILL)
            said, _ = process.communicate()
            said += b"(taken too long, killed)"
        return f"{said.decode('utf-8', 'replace').strip()}\n(exit {process.returncode})"
