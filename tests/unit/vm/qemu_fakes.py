"""What the tests of QEMU's machines share: stand-ins for QEMU, and a command that may fail."""

from __future__ import annotations

import os
import shutil
from collections.abc import Callable
from pathlib import Path

import pytest

from provision.errors import LabError
from provision.vm.machines.qemu.tools import Tools

needs_img = pytest.mark.skipif(shutil.which("qemu-img") is None, reason="qemu-img is missing")
needs_qemu = pytest.mark.skipif(
    shutil.which("qemu-system-x86_64") is None, reason="qemu-system-x86_64 is missing"
)


def fake_tools(folder: Path, script: str) -> Tools:
    """A QEMU that is a shell script, beside the real qemu-img (or none)."""
    folder.mkdir(parents=True, exist_ok=True)
    system = folder / "qemu-system-x86_64"
    system.write_text(f"#!/bin/sh\n{script}\n", encoding="utf-8")
    system.chmod(0o755)
    return Tools(system, real_img())


def real_img() -> Path:
    """The real qemu-img, for tests that are skipped without it."""
    return Path(shutil.which("qemu-img") or "/nonexistent/qemu-img")


def real_tools() -> Tools:
    """The real QEMU, for tests that are skipped without it."""
    return Tools(Path(shutil.which("qemu-system-x86_64") or "/nonexistent/qemu"), real_img())


def refusal(call: Callable[[], object], code: int = 3) -> str:
    """What a person reads when the call is refused: what happened, and the next move."""
    with pytest.raises(LabError) as caught:
        call()
    assert caught.value.exit_code == code
    assert caught.value.next_move is not None, "there must be a next move"
    return f"{caught.value.what}\n{caught.value.next_move}"


def is_running(pid: int) -> bool:
    """Whether a process of that id exists and is not a zombie."""
    try:
        stat = Path(f"/proc/{pid}/stat").read_text()
    except OSError:
        return False
    return stat.rpartition(")")[2].split()[0] != "Z"


def golden(path: Path, text: str) -> None:
    """Compare with what was reviewed; GOLDEN=write writes it."""
    if os.environ.get("GOLDEN") == "write":
        path.write_text(text, encoding="utf-8")
    assert text == path.read_text("utf-8"), f"GOLDEN=write rewrites {path}; read the difference"
