"""QEMU's monitor, by its protocol QMP: the power button, and a machine that stands still.

https://www.qemu.org/docs/master/interop/qmp-spec.html: a greeting, `qmp_capabilities`, then one
answer for each command, with events in between.
"""

from __future__ import annotations

import json
import socket
from collections.abc import Mapping
from pathlib import Path
from typing import Any, BinaryIO

SECONDS = 5.0
LINE_BYTES = 1 << 16
STILL = ("paused", "io-error")  # goes on when told to; io-error is a full disk of the controller
DEAD = ("internal-error", "guest-panicked", "shutdown")


def ask(monitor: Path, command: str) -> Mapping[str, Any] | None:
    """What QEMU answers to a command; None when it refuses, or the monitor is silent."""
    answer: Mapping[str, Any] | None = None
    try:
        with socket.socket(socket.AF_UNIX, socket.SOCK_STREAM) as line:
            line.settimeout(SECONDS)
            line.connect(str(monitor))
            with line.makefile("rb") as answers:
                answers.readline(LINE_BYTES)  # its greeting
                for word in ("qmp_capabilities", command):
                    line.sendall(json.dumps({"execute": word}).encode() + b"\n")
                    answer = _answer(answers)
    except (OSError, ValueError):
        return None
    return answer


def press_button(monitor: Path) -> bool:
    """Press the machine's power button (ACPI); False when nobody heard of it."""
    return ask(monitor, "system_powerdown") is not None


def state_of(monitor: Path) -> str:
    """QEMU's word for what the machine does, such as "running"; "" when it does not say."""
    return str((ask(monitor, "query-status") or {}).get("status", ""))


def go_on(monitor: Path) -> bool:
    """Let a machine that stands still go on."""
    return ask(monitor, "cont") is not None


def _answer(answers: BinaryIO) -> Mapping[str, Any] | None:
    for _ in range(20):
        told = json.loads(answers.readline(LINE_BYTES))
        if "return" in told or "error" in told:
            found = told.get("return")
            return found if isinstance(found, dict) else None
    return None
