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
from provision.errors import LabError
from provision.message import say

# What the usual answer of a step does, when a case has no apply.sh of its own.
USUAL = {
    1: "kubectl apply -f flavor.yaml",
    2: "kubectl apply -f cq.yaml",
    3: "kubectl apply -f lq.yaml",
    4: "kubectl apply -f job-1.yaml",
    5: "kubectl apply -f job-2.yaml\n"
    "kubectl -n team-a wait --for=jsonpath='{.spec.suspend}'=false job/train-2 --timeout=30s\n"
    "kubectl apply -f job-3.yaml",
    6: "kubectl apply -f sneaky.yaml",
    7: "",
    8: "kubectl -n team-a delete job train-1",
}
# Files that belong to the answer of a step; those of `HELPERS` are not asked for by name.
ANSWERS = {
    1: ("flavor.yaml",),
    2: ("cq.yaml",),
    3: ("lq.yaml",),
    4: ("job-1.yaml",),
    5: ("job-2.yaml", "job-3.yaml", "waiting.txt"),
    6: ("sneaky.yaml", "bypass.txt"),
    7: ("usage.json",),
    8: (),
}
HELPERS = ("job-2.yaml", "job-3.yaml", "sneaky.yaml")


BASE = Path(__file__).parents[2] / "tests" / "grading" / "base"


def base_of(lab: str) -> Path:
    """Where the right answers to all steps of a lab are; LabError when there are none here."""
    folder = BASE / lab
    if not folder.is_dir():
        raise LabError(
            say("The cases of {lab} are not here.", lab=lab),
            next_move=say("They come with the project's folder: run lab grade-case there."),
        )
    return folder


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

    def lay_base(self, lab: str, before: int) -> None:
        """Lay out the right answers of the steps before that one."""
        for step in range(1, before):
            for name in ANSWERS[step]:
                shutil.copy(base_of(lab) / name, self.workspace / name)

    def lay(self, case: Case) -> None:
        """Lay out what the learner has for the step of a case, over what is there."""
        for name in ANSWERS[case.step]:
            if name in HELPERS or case.kind == "broken":
                shutil.copy(base_of(case.lab) / name, self.workspace / name)
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
