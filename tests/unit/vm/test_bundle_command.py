"""`lab bundle` with TARGET=vm, where no host can be reached: its proxy is not there, nor apt."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from lab.web.assets import FILES, assets_folder


@pytest.fixture
def environment(tmp_path: Path) -> dict[str, str]:
    cache = tmp_path / "cache"
    page = assets_folder(cache)
    page.mkdir(parents=True)
    for name in FILES:
        (page / name).write_text("")
    return {
        "PATH": str(tmp_path / "empty"),
        "HOME": str(tmp_path / "home"),
        "LAB_HOME": str(tmp_path / "labs"),
        "LAB_CACHE": str(cache),
        "LAB_LANG": "en",
        "COLUMNS": "100",
        "TARGET": "vm",
        "HTTPS_PROXY": "http://127.0.0.1:9",
        "PIP_NO_INDEX": "1",
        "PIP_CONFIG_FILE": os.devnull,
    }


def bundle(environment: dict[str, str], *words: object, **more: str) -> subprocess.CompletedProcess:
    command = [sys.executable, "-m", "lab", "bundle", *map(str, words)]
    return subprocess.run(
        command,
        env={**environment, **more},
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
    )


def test_without_a_network_all_that_is_missing_is_told_with_the_next_move(
    environment: dict[str, str], tmp_path: Path
):
    done = bundle(environment, tmp_path / "out")
    assert done.returncode == 3
    told = done.stderr.splitlines()
    assert told[0] == "Error: These could not be had:"
    for name in ("k3s v1", "k3s-images", "kueue v0", "busybox", "fake-gpu-operator", "debian-12"):
        assert any(line.startswith(f"- {name}") for line in told), name
    assert any("github.com: the proxy cannot be reached" in line for line in told)
    assert any(line.startswith("- Python packages: pip: No matching") for line in told)
    assert not any("our own wheel" in line for line in told)
    assert "make bundle TARGET=vm OUT=folder where these can be reached" in " ".join(told)
    assert not (tmp_path / "out" / "bundle.yaml").exists()


def test_what_is_ruled_out_is_not_asked_for(environment: dict[str, str], tmp_path: Path):
    done = bundle(environment, tmp_path / "out", VM="ssh", GPUS="extended-resource")
    assert done.returncode == 3
    assert "- k3s v1" in done.stderr
    assert "fake-gpu" not in done.stderr
    assert "debian-12 2" not in done.stderr


@pytest.mark.parametrize(
    ("words", "more", "code", "reason"),
    [
        (["."], {}, 2, "holds other things than a bundle"),
        (["."], {"TARGET": ""}, 2, "is a folder; the parts are packed into one file"),
        (["out"], {"SYSTEM": "ubuntu-20.04"}, 3, "for ubuntu-20.04"),
        (["out"], {"GPUS": "amd"}, 2, "GPUS is amd"),
        (["out", "more"], {}, 2, "Got unexpected extra argument"),
    ],
)
def test_what_cannot_be_meant_is_refused(
    environment: dict[str, str],
    tmp_path: Path,
    words: list[str],
    more: dict[str, str],
    code: int,
    reason: str,
):
    (tmp_path / "letter").write_text("dear")
    done = bundle(environment, *(tmp_path / w for w in words), **more)
    assert done.returncode == code
    assert reason in " ".join(done.stderr.splitlines())
    assert "Next:" in done.stderr
