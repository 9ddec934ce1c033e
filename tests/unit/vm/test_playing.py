"""Real runs of small playbooks on this machine: their end, their limits, and what they leave."""

import contextlib
import itertools
import json
import os
import signal
import stat
import subprocess
import threading
import time
from pathlib import Path
from types import SimpleNamespace

import psutil
import pytest

from provision.errors import TargetError, TimedOut
from provision.message import say
from provision.target import Progress, silent
from provision.vm import playbook_run, playing
from provision.vm.machine import Machine
from provision.vm.playbook_run import RUN_MARK, Limits
from provision.vm.playing import Played, Player
from provision.waiting import wait_until

HEAD = "- hosts: all\n  gather_facts: false\n  tasks:\n"
PATIENT = Limits(within=60, idle=60)
SECRET = "hunter2-of-the-environment"


@pytest.fixture
def play(tmp_path, monkeypatch):
    """Plays tasks here; the machine is this one, by Ansible's `local` connection."""
    project = tmp_path / "project"
    project.mkdir()
    monkeypatch.setattr(playing, "ANSIBLE", project)
    here = {"ansible_connection": "local", "ansible_python_interpreter": "/usr/bin/python3"}
    hosts = {"lab": {"hosts": {"machine": here}}}
    monkeypatch.setattr(playing, "inventory", lambda machine: hosts)
    monkeypatch.setenv("A_TOKEN", SECRET)

    def run(tasks: str, tell=silent, limits=PATIENT, **variables: object) -> Played:
        (project / "site.yml").write_text(HEAD + tasks, encoding="utf-8")
        machine = Machine("box", "127.0.0.1", 22, "root", tmp_path / "ssh_config")
        player = Player(tmp_path / "home", machine, limits)
        return player.play("site.yml", variables, tell, time.monotonic())

    return run


def task(name: str, command: str, *more: str) -> str:
    rest = "".join(f"      {line}\n" for line in more)
    return f"    - name: {name}\n      ansible.builtin.command: {command}\n{rest}"


def failure(play, tasks: str, **more: object) -> TargetError:
    with pytest.raises(TargetError) as error:
        play(tasks, **more)
    assert error.value.next_move is not None
    return error.value


def processes_that_say(words: str) -> list[int]:
    found = []
    for process in psutil.process_iter():
        with contextlib.suppress(psutil.Error):
            is_alive = process.status() != psutil.STATUS_ZOMBIE
            if is_alive and words in " ".join(process.cmdline()):
                found.append(process.pid)
    return found


def await_process(words: str) -> None:
    wait_until(lambda: None if processes_that_say(words) else say("not yet"), within=60)


def test_a_play_that_ends_well_tells_each_task_and_counts_changes(play):
    told: list[Progress] = []
    played = play(
        task("First", "echo", "changed_when: false") + task("Second {{ word }}", "echo"),
        tell=told.append,
        word="thing",
    )
    assert played.changes == 1
    assert [str(p.stage) for p in told if p.is_done] == ["First", "Second thing"]
    assert all(p.seconds > 0 for p in told)


def test_what_is_left_behind_is_private_and_holds_nothing_of_the_environment(play, tmp_path):
    play(task("A", "echo"), password_file="/x")
    folder = tmp_path / "home" / "ansible"
    assert stat.S_IMODE(folder.stat().st_mode) == 0o700
    assert stat.S_IMODE((folder / "env" / "extravars").stat().st_mode) == 0o600
    files = [path for path in folder.rglob("*") if path.is_file()]
    assert any(path.name == "command" for path in files)
    for path in files:
        assert SECRET not in path.read_text("utf-8", errors="replace"), path
    assert "/x" not in (next(folder.glob("artifacts/*/command"))).read_text("utf-8")


def test_only_the_newest_runs_are_kept_and_the_log_is_the_newest_ones(play, tmp_path, monkeypatch):
    monkeypatch.setattr(playbook_run, "KEEP_RUNS", 1)
    for number in range(3):
        play(task(f"Run {number}", "echo"))
    assert len(list((tmp_path / "home" / "ansible" / "artifacts").iterdir())) <= 2
    assert "Run 2" in (tmp_path / "home" / "logs" / "provision.log").read_text("utf-8")


def test_variables_of_an_earlier_run_are_not_taken_for_the_new_ones(play):
    told: list[str] = []
    play(task("x{{ word }}", "echo"), word="one")
    play(task("x{{ word }}", "echo"), word="two", tell=lambda p: told.append(str(p.stage)))
    assert set(told) == {"xtwo"}


def test_a_failure_names_machine_task_cause_and_log(play, tmp_path):
    error = failure(play, task("Break", "sh -c 'echo no such thing >&2; exit 3'"))
    assert str(error.what) == "On box, the task Break failed: no such thing."
    assert str(tmp_path / "home" / "logs" / "provision.log") in str(error.next_move)


def test_a_full_disk_is_what_is_advised_about(play):
    error = failure(play, task("Break", "sh -c 'echo No space left on device >&2; exit 3'"))
    assert "Free some space on box" in str(error.next_move)


def test_the_next_move_of_a_role_is_the_one_that_is_told(play):
    words = "k3s is foreign. Next: use another machine."
    error = failure(play, f"    - ansible.builtin.fail:\n        msg: '{words}'\n")
    assert "k3s is foreign." in str(error.what)
    assert str(error.next_move).startswith("use another machine. The log is ")


def test_a_playbook_that_cannot_be_read_is_told_in_ansibles_words(play):
    error = failure(play, "    - no_such_module: {}\n")
    assert "The playbook could not be played: couldn't resolve module/action" in str(error.what)


def test_a_handler_that_raises_ends_the_run_and_leaves_nothing(play, tmp_path):
    class Boom(Exception):
        pass

    def tell(progress: Progress) -> None:
        raise Boom

    mark = f"sleep 71.{os.getpid()}"
    with pytest.raises(Boom):
        play(task("A", "echo") + task("Long", mark), tell=tell)
    assert processes_that_say(mark) == []
    assert processes_that_say(str(tmp_path / "home" / "ansible")) == []


@pytest.mark.parametrize(
    ("limits", "words"),
    [
        (Limits(within=600, idle=1e9), "The playbook did not end within 600 s. It was at: Long"),
        (
            Limits(within=1e9, idle=600),
            "For 600 s nothing was heard of the playbook. It was at: Long",
        ),
    ],
)
def test_a_run_over_its_limit_is_ended_with_what_it_started(play, monkeypatch, limits, words):
    """The clock that limits count by leaps once the task is heard, however late that is."""
    mark = f"sleep 72.{os.getpid()}"
    heard: list[float] = []
    leaps = itertools.count()

    def clock() -> float:
        return time.monotonic() + (601.0 * next(leaps) if heard else 0.0)

    def tell(progress: Progress) -> None:
        assert str(progress.stage) == "Long"
        if not heard:
            await_process(mark)
            heard.append(time.monotonic())

    clocks = SimpleNamespace(monotonic=clock, strftime=time.strftime)
    monkeypatch.setattr(playbook_run, "time", clocks)
    error = failure(play, task("Long", mark), tell=tell, limits=limits)
    assert words in str(error.what)
    assert time.monotonic() - heard[0] < 25
    assert processes_that_say(mark) == []


def test_an_interrupt_ends_the_run_with_what_it_started(play):
    mark = f"sleep 73.{os.getpid()}"

    def interrupt() -> None:
        with contextlib.suppress(TimedOut):
            await_process(mark)
        os.kill(os.getpid(), signal.SIGINT)

    # A shell starts what it runs in the background with this signal ignored.
    handler = signal.signal(signal.SIGINT, signal.default_int_handler)
    try:
        thread = threading.Thread(target=interrupt)
        thread.start()
        with pytest.raises(KeyboardInterrupt):
            play(task("Long", mark))
        thread.join()
    finally:
        signal.signal(signal.SIGINT, handler)
    assert processes_that_say(mark) == []


def test_a_long_task_is_told_while_it_runs(play):
    told: list[tuple[str, bool]] = []
    play(task("Long", "sleep 2.5"), tell=lambda p: told.append((str(p.stage), p.is_done)))
    assert told == [("Long", False), ("Long", True)]


def test_the_settings_that_ansible_gets(play, tmp_path):
    play(task("A", "echo"))
    command = json.loads(next(tmp_path.glob("home/ansible/artifacts/*/command")).read_text())
    assert command["env"]["ANSIBLE_HOST_KEY_CHECKING"] == "True"
    assert command["env"]["ANSIBLE_SSH_ARGS"] == ""
    assert "A_TOKEN" not in command["env"]
    assert Path(command["env"]["HOME"]).is_relative_to(tmp_path)


def test_a_run_whose_owner_was_killed_is_ended_before_the_next(play, tmp_path):
    mark = f"74.{os.getpid()}"
    folder = tmp_path / "home" / "ansible" / "artifacts" / "an-earlier-one"
    left = subprocess.Popen(["sleep", mark], env={RUN_MARK: str(folder)})
    other = subprocess.Popen(["sleep", mark], env={RUN_MARK: str(tmp_path / "elsewhere")})
    try:
        play(task("A", "echo"))
        assert left.wait(5) == -9
        assert other.poll() is None
    finally:
        other.kill()
        other.wait()
