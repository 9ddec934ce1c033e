"""A full disk behind a task that failed: what `df` says there, and what is advised."""

import os
from pathlib import Path

import pytest

from provision.vm import filling
from provision.vm.filling import Full, advice, understand
from provision.vm.machine import Machine

HEAD = "Filesystem 1024-blocks Used Available Capacity Mounted on\n"
ROOMY = "/dev/vda1 20000000 4000000 15000000 22% /\ntmpfs 5120 0 5120 0% /run\n"
NAMES = "Filesystem Inodes IUsed IFree IUse% Mounted on\n/dev/vda1 1000 10 990 1% /\n"
FULL = "/dev/vdb 60000 60000 0 100% /var/lib/with a blank\n"


@pytest.fixture
def machine(tmp_path, monkeypatch):
    monkeypatch.setenv("PATH", f"{tmp_path / 'bin'}{os.pathsep}{os.environ['PATH']}")
    return Machine("box", "h", 22, "root", tmp_path / "ssh_config")


def answers(tmp_path: Path, text: str) -> None:
    ssh = tmp_path / "bin" / "ssh"
    ssh.parent.mkdir(exist_ok=True)
    ssh.write_text(f"#!/bin/sh\ncat <<'END'\n{text}END\n")
    ssh.chmod(0o755)


@pytest.mark.parametrize(
    ("answer", "expected"),
    [
        (f"{HEAD}{ROOMY}--\n{NAMES}", []),
        (f"{HEAD}{ROOMY}{FULL}--\n{NAMES}", [Full("/var/lib/with a blank", 0)]),
        (f"{HEAD}tmpfs 61440 56320 5120 92% /opt\n--\n", [Full("/opt", 5)]),
        (f"{HEAD}--\nHead\n/dev/vda1 1000 999 1 100% /\n", [Full("/", 1, is_names=True)]),
        (f"{HEAD}--\nHead\nbtrfs 0 0 0 - /\n", []),
        ("", []),
    ],
)
def test_full_file_systems_are_seen_and_small_ones_are_not_taken_for_full(answer, expected):
    assert list(understand(answer)) == expected


@pytest.mark.parametrize(
    ("answer", "cause", "expected"),
    [
        (f"{HEAD}{ROOMY}{FULL}--\n", "Failure", "0 MiB are free in /var/lib/with a blank of box"),
        (f"{HEAD}--\nHead\nx 9 9 0 100% /\n", "Failure", "No more files fit into / of box"),
        (f"{HEAD}{ROOMY}--\n", "[Errno 28] No space left on device", "Free some space on box"),
        ("", "[Errno 28] No space left on device", "Free some space on box"),
    ],
)
def test_the_advice_says_where_there_is_no_room(machine, tmp_path, answer, cause, expected):
    answers(tmp_path, answer)
    assert expected in str(advice(machine, tmp_path, cause))


def test_no_advice_where_there_is_room(machine, tmp_path):
    answers(tmp_path, f"{HEAD}{ROOMY}--\n")
    assert advice(machine, tmp_path, "no such package") is None


def test_this_machine_may_be_the_full_one(machine, tmp_path, monkeypatch):
    answers(tmp_path, f"{HEAD}{ROOMY}--\n")
    usage = type("Usage", (), {"free": 3 << 20})
    monkeypatch.setattr(filling.shutil, "disk_usage", lambda path: usage)
    assert f"3 MiB are free in {tmp_path} here" in str(
        advice(machine, tmp_path, "No space left on device")
    )


def test_a_machine_that_cannot_be_asked_is_no_trouble(machine, tmp_path, monkeypatch):
    answers(tmp_path, "")
    (tmp_path / "bin" / "ssh").write_text("#!/bin/sh\nexec sleep 9\n")
    monkeypatch.setattr(filling, "ASK_SECONDS", 0.2)
    assert advice(machine, tmp_path, "no such package") is None
