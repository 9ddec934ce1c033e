"""A given machine at destroy: only one that nobody answers for is given up with its place."""

import os
from pathlib import Path

import pytest

from provision.errors import TargetError
from provision.settings import Settings
from provision.state import claim_home, new_state, save_state
from provision.target import NodeSpec, PlaceSpec, silent
from provision.vm import clearing
from provision.vm.choosing import Choices, keep_choices
from provision.vm.machine import Machine, save_machine
from provision.vm.target import VmTarget

CHANGED = "@@@@@\nHost key verification failed."
DENIED = "Load key: x\nroot@h: Permission denied (publickey)."
NODE = NodeSpec("gpu-node-0", "8", "16Gi", 4, "NVIDIA-A100-SXM4-80GB")


@pytest.fixture
def place(tmp_path, monkeypatch):
    """A target with a given machine, and what its ssh says."""
    monkeypatch.setenv("PATH", f"{tmp_path}{os.pathsep}{os.environ['PATH']}")
    (tmp_path / "lab.toml").touch()
    home = tmp_path / "home"
    claim_home(home, "kueue_quota", "vm")
    save_state(home, new_state("kueue_quota", "vm"))
    keep_choices(home, Choices(maker="ssh", gpus="extended-resource"))
    save_machine(home, "ssh", Machine("root@h", "h", 22, "root", home / "machine" / "ssh_config"))
    (home / "machine" / "known_hosts").write_text("machine ssh-ed25519 AAAA\n")
    settings = Settings(
        cache=tmp_path / "cache",
        runtime=tmp_path,
        environ={"LAB_TOML": str(tmp_path / "lab.toml"), "PATH": os.environ["PATH"]},
    )
    spec = PlaceSpec("kueue_quota", home, Path("/root/gsb-kueue"), ("team-a",), (NODE,))

    def make(script: str) -> VmTarget:
        ssh = tmp_path / "ssh"
        ssh.write_text(f"#!/bin/sh\n{script}\n")
        ssh.chmod(0o755)
        return VmTarget(spec, settings)

    return make


def saying(text: str, code: int = 255) -> str:
    return f"cat >&2 <<'END'\n{text}\nEND\nexit {code}"


@pytest.mark.parametrize(
    ("script", "why", "following"),
    [
        (saying(CHANGED), "its host key differs", "home/machine/known_hosts, run make provision"),
        (saying(DENIED), "it refuses the login root", "the right HOST and KEY"),
        (saying("Can't open user config file"), "Can't open user config file", "make destroy"),
        (saying("This account is not available.", 1), "account is not available", "make destroy"),
    ],
)
def test_a_machine_that_answers_and_does_not_let_us_in_keeps_its_place(
    place, tmp_path, script, why, following
):
    with pytest.raises(TargetError) as error:
        place(script).destroy(silent)
    assert error.value.exit_code == 3
    assert why in str(error.value.what)
    assert "does not answer" not in str(error.value.what)
    assert following in str(error.value.next_move)
    assert f"remove the folder {tmp_path / 'home'} by hand" in str(error.value.next_move)
    assert (tmp_path / "home" / "place.json").is_file()
    assert place(script).status().remark is None  # nothing was begun


@pytest.mark.parametrize(
    "script",
    [
        saying("ssh: connect to host h port 22: Connection refused"),
        saying("ssh: connect to host h port 22: No route to host"),
        saying("ssh: Could not resolve hostname h: Name or service not known"),
        saying("Connection timed out during banner exchange"),
        "exec sleep 9",
    ],
)
def test_a_machine_that_nobody_answers_for_is_given_up(place, tmp_path, monkeypatch, script):
    monkeypatch.setattr(clearing, "ANSWER_SECONDS", 1.0)
    told: list[str] = []
    place(script).destroy(lambda p: told.append(str(p.stage)))
    assert any("does not answer: what was put on it stays there" in line for line in told)
    assert not (tmp_path / "home").exists()
