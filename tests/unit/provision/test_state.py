from __future__ import annotations

import json
import subprocess
import sys
import time
from pathlib import Path

import pytest

from provision.errors import TargetError
from provision.files import plain_file_errors, write_atomically
from provision.message import say
from provision.state import (
    claim_home,
    foreign_names,
    load_state,
    locked,
    new_state,
    save_state,
)
from provision.target import Progress
from provision.waiting import wait_until

HOLDER = """
import sys, time
from pathlib import Path
from provision.state import locked
with locked(Path(sys.argv[1]), print, 0.0):
    print("held", flush=True)
    sys.stdin.read()
"""


def test_state_survives_a_round_trip(tmp_path: Path):
    state = new_state("kueue_quota")
    save_state(tmp_path, state)
    assert load_state(tmp_path) == state


def test_absent_state_is_none(tmp_path: Path):
    assert load_state(tmp_path / "nowhere") is None
    (tmp_path / "file").touch()
    assert load_state(tmp_path / "file") is None


@pytest.mark.parametrize("text", ["", "{", "[]", "{}", '{"schema": 9}', '{"schema": 1, "x": 1}'])
def test_unreadable_state_says_what_helps(tmp_path: Path, text: str):
    (tmp_path / "place.json").write_text(text)
    with pytest.raises(TargetError, match=r"place\.json and its copy are damaged") as caught:
        load_state(tmp_path)
    assert "make destroy" in str(caught.value.next_move)


def test_damaged_state_is_read_from_its_copy(tmp_path: Path):
    state = new_state("kueue_quota")
    save_state(tmp_path, state)
    (tmp_path / "place.json").write_text("garbage")
    assert load_state(tmp_path) == state
    (tmp_path / "place.json").unlink()
    assert load_state(tmp_path) == state


def test_home_that_is_a_file_is_named(tmp_path: Path):
    (tmp_path / "home").touch()
    with pytest.raises(TargetError, match="is a file"):
        claim_home(tmp_path / "home", "kueue_quota")


def test_what_was_there_before_is_foreign(tmp_path: Path):
    (tmp_path / "thesis.tex").touch()
    claim_home(tmp_path, "kueue_quota")
    (tmp_path / "later").touch()
    claim_home(tmp_path, "kueue_quota")
    assert foreign_names(tmp_path) == {"thesis.tex"}


def test_folder_without_marker_is_refused(tmp_path: Path):
    with pytest.raises(TargetError, match="is not a place of this lab"):
        foreign_names(tmp_path)


def test_second_waits_and_tells_for_whom(tmp_path: Path):
    lock = tmp_path / ".lock"
    told: list[Progress] = []
    with subprocess.Popen(
        [sys.executable, "-c", HOLDER, str(lock)],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
    ) as holder:
        assert holder.stdout is not None
        assert holder.stdin is not None
        assert holder.stdout.readline() == "held\n"

        def tell(progress: Progress) -> None:
            told.append(progress)
            holder.stdin.close()

        with locked(lock, tell, time.monotonic()):
            holder.wait(10)
    assert [str(holder.pid) in str(p.stage) for p in told] == [True]


def test_lock_of_a_dead_process_is_free(tmp_path: Path):
    lock = tmp_path / ".lock"
    with subprocess.Popen(
        [sys.executable, "-c", HOLDER, str(lock)],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
    ) as holder:
        assert holder.stdout is not None
        holder.stdout.readline()
        holder.kill()
    with locked(lock, _nothing_to_tell, 0.0):
        assert json.loads(lock.read_text())["pid"]


def test_lock_file_that_was_removed_is_made_again(tmp_path: Path):
    lock = tmp_path / "place" / ".lock"
    with locked(lock, _nothing_to_tell, 0.0):
        lock.unlink()
        with locked(lock, _nothing_to_tell, 0.0):
            assert lock.exists()


def _nothing_to_tell(progress: Progress) -> None:
    raise AssertionError(f"told {progress}")


def test_same_content_is_not_written_again(tmp_path: Path):
    path = tmp_path / "a" / "f"
    assert write_atomically(path, "x")
    before = path.stat().st_ino
    assert not write_atomically(path, "x")
    assert path.stat().st_ino == before
    assert write_atomically(path, "y", mode=0o644)
    assert path.stat().st_mode & 0o777 == 0o644
    assert [p.name for p in path.parent.iterdir()] == ["f"]


@pytest.mark.parametrize(
    ("number", "words"), [(28, "disk is full"), (30, "cannot be written"), (13, "LAB_HOME")]
)
def test_trouble_with_files_is_said_plainly(number: int, words: str):
    with pytest.raises(TargetError) as caught, plain_file_errors():
        raise OSError(number, "reason", "/some/file")
    assert words in f"{caught.value.what} {caught.value.next_move}"
    assert "/some/file" in str(caught.value.what)


def test_waiting_keeps_the_last_reason():
    with pytest.raises(Exception, match=r"after 0\.01 s: still dark"):
        wait_until(lambda: say("still dark"), within=0.01, every=0.001)
