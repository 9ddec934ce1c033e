"""The learner's shell without a cluster: what its prompt looks like."""

from __future__ import annotations

import shutil
import subprocess
import sys
from pathlib import Path
from types import SimpleNamespace

import pytest

from lab.catalog import load_lab
from lab.places import Place
from lab.shell import become, prepare_shell

BASH = shutil.which("bash") or ""


@pytest.mark.skipif(not BASH, reason="no bash: its prompt was not looked at")
def test_the_prompt_names_the_lab_and_the_folder_without_its_path(tmp_path: Path) -> None:
    workspace = tmp_path / "a-long-way-down" / "gsb-kueue"
    target = SimpleNamespace(
        info=lambda: SimpleNamespace(kubeconfig=tmp_path / "kubeconfig"), tools_dir=lambda: tmp_path
    )
    place = Place(load_lab("kueue_quota"), tmp_path / "home", workspace, target)
    base = {"PATH": "/usr/bin:/bin", "SHELL": BASH, "HOME": str(tmp_path), "PS1": r"\u@\h:\w\$ "}
    command, environment = prepare_shell(place, base, tmp_path)
    done = subprocess.run(
        [*command, "-c", 'printf "%s" "${PS1@P}"'],
        env=environment, cwd=workspace, capture_output=True, text=True, check=True, timeout=20,
    )  # fmt: skip
    assert done.stdout.strip() in ("(kueue_quota) gsb-kueue$", "(kueue_quota) gsb-kueue#")


def left_with(last: str, shell: str = "/bin/sh") -> subprocess.CompletedProcess[str]:
    """How `become` ends when that is the last command of the shell."""
    # A terminal's programs hear an interrupt; what was started in the background may not.
    program = (
        "import signal, sys; signal.signal(signal.SIGINT, signal.default_int_handler); "
        "from lab.shell import become; become(sys.argv[1:], {'A': 'b'})"
    )
    command = [sys.executable, "-c", program, shell, "-c", last]
    return subprocess.run(command, capture_output=True, text=True, check=False, timeout=20)


@pytest.mark.parametrize("last", ["exit 3", "false", "no-such-command", "kill -INT $$"])
def test_a_shell_that_has_run_ends_well(last: str) -> None:
    done = left_with(f"echo $A; {last}")
    assert (done.returncode, done.stdout) == (0, "b\n")


def test_a_shell_is_not_deaf_to_an_interrupt() -> None:
    assert left_with("trap 'echo heard' INT; kill -INT $$").stdout == "heard\n"


@pytest.mark.parametrize("shell", ["/nowhere/sh", "/etc", "/etc/passwd"])
def test_a_shell_that_is_none_is_an_error(shell: str) -> None:
    with pytest.raises(OSError, match=r"No such file|Permission denied"):
        become([shell], {})
