"""One controller at a time: the real lock, through a stand-in for ssh that runs things here."""

import os
import subprocess
import sys
import time
from pathlib import Path

import pytest

from lab.text import Speech
from provision.errors import TargetError
from provision.target import silent
from provision.vm import holding
from provision.vm.holding import held
from provision.vm.machine import Machine

HERE = '#!/bin/sh\nwhile [ "$1" != -- ]; do shift; done; shift; exec sh -c "$*"\n'
HOLDER = """
import sys, time
from pathlib import Path
from provision.vm import holding
from provision.target import silent
from provision.vm.machine import Machine
holding.LOCK = sys.argv[1]
with holding.held(Machine("box", "h", 22, "root", Path("/x")), silent, 0.0):
    print("held", flush=True)
    sys.stdin.read()
"""


@pytest.fixture
def machine(tmp_path, monkeypatch):
    lay(tmp_path, HERE)
    monkeypatch.setenv("PATH", f"{tmp_path / 'bin'}{os.pathsep}{os.environ['PATH']}")
    monkeypatch.setattr(holding, "LOCK", str(tmp_path / "lock"))
    monkeypatch.setattr(holding, "PATIENCE", 0.0)
    return Machine("box", "h", 22, "root", tmp_path / "ssh_config")


def lay(tmp_path: Path, text: str) -> None:
    ssh = tmp_path / "bin" / "ssh"
    ssh.parent.mkdir(exist_ok=True)
    ssh.write_text(text)
    ssh.chmod(0o755)


def start_holder(tmp_path: Path) -> subprocess.Popen[bytes]:
    command = [sys.executable, "-c", HOLDER, str(tmp_path / "lock")]
    pipe = subprocess.PIPE
    process = subprocess.Popen(command, stdin=pipe, stdout=pipe)
    assert process.stdout is not None
    assert process.stdout.readline() == b"held\n"
    return process


def test_a_second_controller_is_refused_and_told_of_the_first(machine):
    with (
        held(machine, silent, 0.0),
        pytest.raises(TargetError) as error,
        held(machine, silent, 0.0),
    ):
        pass
    holder = f"{os.uname().nodename}, process {os.getpid()}, since "
    assert f"box is being worked on by {holder}" in str(error.value.what)
    with held(machine, silent, 0.0):  # and free again
        pass


def test_the_holder_is_told_in_the_readers_language(machine):
    (machine.ssh_config.parent / "lock").write_text("laptop 42 12:30:00\n")
    busy = f"#!/bin/sh\ncat {machine.ssh_config.parent}/lock; exit 75\n"
    lay(machine.ssh_config.parent, busy)
    with pytest.raises(TargetError) as error, held(machine, silent, 0.0):
        pass
    assert "worked on by laptop, process 42, since 12:30:00" in str(error.value.what)
    assert "process" not in Speech("ko").of(error.value.what)


@pytest.mark.parametrize("signal", [9, 15])
def test_the_lock_is_gone_with_its_holder_however_that_died(machine, tmp_path, signal):
    holder = start_holder(tmp_path)
    with pytest.raises(TargetError, match="is being worked on"), held(machine, silent, 0.0):
        pass
    holder.send_signal(signal)
    holder.communicate()
    deadline = time.monotonic() + 10
    while True:
        try:
            with held(machine, silent, 0.0):
                return
        except TargetError:
            assert time.monotonic() < deadline


def test_a_machine_that_cannot_be_locked_is_told(machine, tmp_path):
    lay(tmp_path, "#!/bin/sh\nexit 255\n")
    with pytest.raises(TargetError, match="could not be locked"), held(machine, silent, 0.0):
        pass


def test_a_machine_that_hangs_is_given_up_and_leaves_no_process(machine, tmp_path, monkeypatch):
    monkeypatch.setattr(holding, "ANSWER_SECONDS", 0.3)
    lay(tmp_path, f"#!/bin/sh\necho $$ > {tmp_path}/pid\nexec sleep 60\n")
    with pytest.raises(TargetError, match="could not be locked"), held(machine, silent, 0.0):
        pass
    pid = int((tmp_path / "pid").read_text())
    with pytest.raises(ProcessLookupError):
        os.kill(pid, 0)


def test_one_that_is_not_heard_any_more_holds_nothing(machine, monkeypatch):
    """As when the network goes: its connection still stands on the machine, and is silent."""
    monkeypatch.setattr(holding, "SILENCE_SECONDS", 1)
    monkeypatch.setattr(holding, "BEAT_SECONDS", 60.0)
    with held(machine, silent, 0.0):
        monkeypatch.setattr(holding, "PATIENCE", 15.0)
        told: list[str] = []
        with held(machine, lambda p: told.append(str(p.stage)), 0.0):
            pass
    assert len(told) <= 1


def test_one_that_is_heard_holds_it_longer_than_a_silence_may_last(machine, monkeypatch):
    monkeypatch.setattr(holding, "SILENCE_SECONDS", 1)
    monkeypatch.setattr(holding, "BEAT_SECONDS", 0.2)
    with held(machine, silent, 0.0):
        monkeypatch.setattr(holding, "PATIENCE", 3.0)
        with pytest.raises(TargetError, match="is being worked on"), held(machine, silent, 0.0):
            pass
