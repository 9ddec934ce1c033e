from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import psutil
import pytest

from provision.local.snapshot import copy_sparse, restore_snapshot, take_snapshot


@pytest.fixture
def sleeper():
    with subprocess.Popen([sys.executable, "-c", "import time; time.sleep(60)"]) as process:
        yield process
        process.kill()


def test_copy_is_equal_and_has_holes(tmp_path: Path):
    source, target = tmp_path / "a", tmp_path / "b"
    source.write_bytes(b"x" * 5000 + bytes(8 << 20) + b"y" + bytes(3 << 20))
    source.chmod(0o600)
    copy_sparse(source, target)
    assert target.read_bytes() == source.read_bytes()
    assert target.stat().st_mode & 0o777 == 0o600
    assert target.stat().st_blocks * 512 < 4 << 20


def test_snapshot_and_back(tmp_path: Path, sleeper):
    data = tmp_path / "etcd"
    (data / "member").mkdir(parents=True)
    (data / "member" / "db").write_text("first")
    take_snapshot(sleeper.pid, data, tmp_path / "snapshot")
    assert psutil.Process(sleeper.pid).status() != psutil.STATUS_STOPPED
    (data / "member" / "db").write_text("later")
    (data / "member" / "more").touch()
    restore_snapshot(tmp_path / "snapshot", data)
    assert (data / "member" / "db").read_text() == "first"
    assert [p.name for p in (data / "member").iterdir()] == ["db"]


def test_process_goes_on_when_copying_fails(tmp_path: Path, sleeper):
    with pytest.raises(FileNotFoundError):
        take_snapshot(sleeper.pid, tmp_path / "nothing", tmp_path / "snapshot")
    assert psutil.Process(sleeper.pid).status() != psutil.STATUS_STOPPED
    assert not (tmp_path / "snapshot").exists()


def test_what_a_broken_off_copy_left_is_no_snapshot(tmp_path: Path, sleeper):
    (tmp_path / ".snapshot.unfinished").mkdir()
    (tmp_path / ".snapshot.unfinished" / "half").touch()
    (tmp_path / "etcd").mkdir()
    take_snapshot(sleeper.pid, tmp_path / "etcd", tmp_path / "snapshot")
    assert not list((tmp_path / "snapshot").iterdir())
