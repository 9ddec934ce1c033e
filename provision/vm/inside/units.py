"""systemd's units as components: whether one runs, since which process, and starting it."""

from __future__ import annotations

import subprocess
from dataclasses import dataclass
from pathlib import Path

from provision.errors import TargetError
from provision.message import say

ASK_SECONDS = 20.0
START_SECONDS = 120.0


@dataclass(frozen=True, slots=True)
class UnitNow:
    """A unit as systemd tells it: `state` such as "active" or "failed", `pid` None without one."""

    name: str
    state: str
    pid: int | None

    @property
    def is_active(self) -> bool:
        """It runs."""
        return self.state == "active"


@dataclass(frozen=True, slots=True)
class Systemd:
    """The manager of this machine's services."""

    program: str = "systemctl"
    journal: str = "journalctl"

    def show(self, name: str) -> UnitNow:
        """How a unit is now."""
        text = self._run("show", name, "--property=ActiveState,MainPID", within=ASK_SECONDS)
        facts = dict(line.split("=", 1) for line in text.splitlines() if "=" in line)
        pid = facts.get("MainPID", "0")
        return UnitNow(
            name,
            facts.get("ActiveState", "unknown"),
            int(pid) if pid.isdigit() and pid != "0" else None,
        )

    def start(self, name: str) -> None:
        """Start a unit, also one that failed so often that systemd has given up on it."""
        self._run("reset-failed", name, within=ASK_SECONDS, is_needed=False)
        self._run("start", name, within=START_SECONDS)

    def stop(self, name: str) -> None:
        """Stop a unit."""
        self._run("stop", name, within=START_SECONDS)

    def restart(self, name: str) -> None:
        """Start a unit anew."""
        self._run("reset-failed", name, within=ASK_SECONDS, is_needed=False)
        self._run("restart", name, within=START_SECONDS)

    def copy_journal(self, name: str, file: Path, lines: int) -> None:
        """Write the newest lines of a unit's journal into a file."""
        file.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
        command = [self.journal, "--unit", name, "--no-pager", f"--lines={lines}", "--quiet"]
        with file.open("wb") as out:
            try:
                subprocess.run(
                    command,
                    stdin=subprocess.DEVNULL,
                    stdout=out,
                    stderr=subprocess.STDOUT,
                    timeout=ASK_SECONDS,
                    check=False,
                )
            except (OSError, subprocess.TimeoutExpired) as error:
                raise _refused(self.journal, name, str(error)) from error

    def _run(self, verb: str, name: str, *more: str, within: float, is_needed: bool = True) -> str:
        try:
            done = subprocess.run(
                [self.program, verb, name, *more],
                stdin=subprocess.DEVNULL,
                capture_output=True,
                text=True,
                errors="replace",
                timeout=within,
                check=False,
            )
        except (OSError, subprocess.TimeoutExpired) as error:
            raise _refused(verb, name, str(error)) from error
        if done.returncode and is_needed:
            lines = done.stderr.strip().splitlines()
            raise _refused(verb, name, lines[0] if lines else str(done.returncode))
        return done.stdout


def _refused(verb: str, name: str, reason: str) -> TargetError:
    return TargetError(
        say("systemd could not {verb} {name}: {reason}", verb=verb, name=name, reason=reason),
        next_move=say("Look with systemctl status {name} and journalctl -u {name}.", name=name),
    )
