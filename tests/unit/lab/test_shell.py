"""The learner's shell without a cluster: what its prompt looks like."""

from __future__ import annotations

import shutil
import subprocess
from pathlib import Path
from types import SimpleNamespace

import pytest

from lab.catalog import load_lab
from lab.places import Place
from lab.shell import prepare_shell

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
