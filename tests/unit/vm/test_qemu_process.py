"""QEMU is found again as itself, powered off by its button, and ended by its own process id."""

import json
import socket
import subprocess
import sys
import threading
import time
from pathlib import Path

import psutil
import pytest

from provision.vm.machines.qemu import waking as qemu_waking
from provision.vm.machines.qemu.monitor import press_button, state_of
from provision.vm.machines.qemu.process import (
    STARTED,
    end,
    find_process,
    power_off,
    start,
)
from tests.unit.vm.qemu_fakes import is_running, refusal

# As QEMU does with -daemonize: the first process ends when the one in the background is ready.
QEMU = """
import os, signal, sys, time
pid_file, mood = sys.argv[1], sys.argv[2]
if os.fork():
    if mood == "slow":
        time.sleep(60)
    time.sleep(0.3)
    os._exit(0)
os.setsid()
os.close(2)
if mood in ("stubborn", "slow"):
    signal.signal(signal.SIGTERM, signal.SIG_IGN)
with open(pid_file, "w") as file:
    file.write(f"{os.getpid()}\\n")
time.sleep(60)
"""


def command(pid_file: Path, mood: str = "meek") -> tuple[str, ...]:
    return (sys.executable, "-c", QEMU, str(pid_file), mood)


@pytest.fixture
def pid_file(tmp_path):
    path = tmp_path / "qemu.pid"
    yield path
    if (process := find_process(path)) is not None:
        process.kill()


class Monitor:
    """QEMU's monitor: greets, tells of events between answers, and calls `pressed`."""

    def __init__(self, path: Path, pressed=lambda: None, state: str = "running") -> None:
        self._pressed, self.heard, self.state = pressed, [], state
        self._server = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
        self._server.bind(str(path))
        self._server.listen(4)
        self._thread = threading.Thread(target=self._serve, daemon=True)
        self._thread.start()

    def close(self) -> None:
        self._server.shutdown(socket.SHUT_RDWR)
        self._server.close()
        self._thread.join(5.0)

    def _serve(self) -> None:
        while True:
            try:
                line, _ = self._server.accept()
            except OSError:
                return
            with line, line.makefile("rwb") as talk:
                self._talk(talk)

    def _talk(self, talk) -> None:
        self._say(talk, {"QMP": {"version": {}}})
        for text in talk:
            word = json.loads(text)["execute"]
            self.heard.append(word)
            self._say(talk, {"event": "RTC_CHANGE"})
            if word == "system_powerdown":
                self._say(talk, {"event": "POWERDOWN"})
                self._pressed()
            if word == "cont":
                self.state = "running"
            told = {"status": self.state} if word == "query-status" else {}
            self._say(talk, {"return": told})

    @staticmethod
    def _say(talk, what: dict) -> None:
        talk.write(json.dumps(what).encode() + b"\r\n")
        talk.flush()


def test_what_was_started_is_found_again(pid_file):
    start(command(pid_file), pid_file)
    found = find_process(pid_file)
    assert found is not None
    assert is_running(found.pid)
    assert pid_file.with_name(STARTED).read_text().split()[0] == str(found.pid)
    end(found)
    assert find_process(pid_file) is None


def test_one_that_obeys_no_signal_is_killed(pid_file):
    start(command(pid_file, "stubborn"), pid_file)
    found = find_process(pid_file)
    assert found is not None
    end(found, grace=0.3)
    assert not is_running(found.pid)


def test_the_id_of_another_process_is_not_believed(pid_file):
    bystander = subprocess.Popen(["sleep", "60"])
    try:
        pid_file.write_text(f"{bystander.pid}\n")
        assert find_process(pid_file) is None
    finally:
        bystander.kill()
        bystander.wait()


def test_one_that_began_later_under_the_same_id_is_not_believed(pid_file):
    start(command(pid_file), pid_file)
    found = find_process(pid_file)
    assert found is not None
    note = pid_file.with_name(STARTED)
    pid, ticks, boot = note.read_text().split()
    note.write_text(f"{pid} {int(ticks) - 1} {boot}\n")
    assert find_process(pid_file) is None
    note.write_text(f"{pid} {ticks} {'0' * len(boot)}\n")
    assert find_process(pid_file) is None, "the ticks of another boot"
    note.unlink()
    assert find_process(pid_file) is not None, "killed before the note was written"


@pytest.mark.parametrize("text", ["", "x", "-1", "0", "9" * 30, "\xff", "1 2"])
def test_a_damaged_pid_file_names_nobody(pid_file, text):
    pid_file.write_text(text, encoding="latin-1")
    assert find_process(pid_file) is None


def test_qemus_own_words_are_told(pid_file):
    text = refusal(lambda: start(("sh", "-c", "echo 'no such cpu.' >&2; exit 1"), pid_file))
    assert "QEMU did not start the machine: no such cpu" in text


def test_a_port_that_was_taken_at_the_last_moment_is_told(pid_file):
    words = "qemu: -netdev user: Could not set up host forwarding rule 'tcp:127.0.0.1:1-:22'"
    text = refusal(lambda: start(("sh", "-c", f'echo "{words}" >&2; exit 1'), pid_file))
    assert "The machine's port was taken" in text
    assert "Run the same command again" in text


def test_a_qemu_that_says_it_started_and_is_not_there_is_told(pid_file):
    assert "it ended at once" in refusal(lambda: start(("true",), pid_file))


def test_a_qemu_that_is_no_program_is_told(pid_file):
    assert "No such file" in refusal(lambda: start(("/nonexistent/qemu",), pid_file))


def hold(pid_file: Path, seconds: float) -> subprocess.Popen[bytes]:
    """A process that has locked the file when this returns, as QEMU does."""
    code = (
        "import fcntl, sys, time; f = open(sys.argv[1], 'a+'); fcntl.lockf(f, fcntl.LOCK_EX); "
        "print(flush=True); time.sleep(float(sys.argv[2]))"
    )
    words = [sys.executable, "-c", code, str(pid_file), str(seconds)]
    holder = subprocess.Popen(words, stdout=subprocess.PIPE)
    assert holder.stdout is not None
    assert holder.stdout.readline() == b"\n"
    holder.stdout.close()
    return holder


def test_a_killed_qemu_that_still_dies_is_waited_for(pid_file):
    """Its first thread is gone and others hold its locks; seen on a machine with much to do."""
    holder = hold(pid_file, 1.0)
    start(command(pid_file), pid_file)
    assert holder.wait(10.0) == 0
    assert find_process(pid_file) is not None


def test_a_lock_that_somebody_keeps_is_told(pid_file, monkeypatch):
    monkeypatch.setattr("provision.vm.machines.qemu.process.END_SECONDS", 0.3)
    holder = hold(pid_file, 60.0)
    try:
        words = refusal(lambda: start(command(pid_file), pid_file))
    finally:
        holder.kill()
        holder.wait()
    assert f"a QEMU that is not known here has held {pid_file}." in words


def test_a_start_that_hangs_leaves_nothing_behind(pid_file):
    text = refusal(lambda: start(command(pid_file, "slow"), pid_file, within=2.0))
    assert "no answer within 2 s" in text
    left = [p.pid for p in psutil.process_iter() if str(pid_file) in _words(p)]
    assert not [pid for pid in left if is_running(pid)]


def _words(process: psutil.Process) -> list[str]:
    try:
        return process.cmdline()
    except psutil.Error:
        return []


def test_the_button_is_pressed_and_the_machine_goes(tmp_path, pid_file):
    start(command(pid_file), pid_file)
    found = find_process(pid_file)
    assert found is not None
    monitor = Monitor(tmp_path / "monitor.sock", found.kill)
    try:
        assert power_off(found, tmp_path / "monitor.sock", within=10.0)
    finally:
        monitor.close()
    assert monitor.heard == ["qmp_capabilities", "system_powerdown"]
    assert not is_running(found.pid)


def test_a_machine_that_ignores_its_button_is_switched_off(tmp_path, pid_file):
    start(command(pid_file), pid_file)
    found = find_process(pid_file)
    assert found is not None
    monitor = Monitor(tmp_path / "monitor.sock", lambda: None)
    try:
        assert not power_off(found, tmp_path / "monitor.sock", within=0.5)
    finally:
        monitor.close()
    assert not is_running(found.pid)


def test_a_monitor_that_is_gone_or_talks_nonsense_is_no_error(tmp_path):
    assert not press_button(tmp_path / "monitor.sock")
    with socket.socket(socket.AF_UNIX, socket.SOCK_STREAM) as server:
        server.bind(str(tmp_path / "monitor.sock"))
        server.listen(1)

        def babble() -> None:
            line, _ = server.accept()
            with line:
                line.sendall(b"hello\nnonsense\n")

        thread = threading.Thread(target=babble, daemon=True)
        thread.start()
        assert not press_button(tmp_path / "monitor.sock")
        thread.join(5.0)


def test_a_monitor_that_hangs_costs_seconds(tmp_path, monkeypatch):
    monkeypatch.setattr("provision.vm.machines.qemu.monitor.SECONDS", 0.2)
    with socket.socket(socket.AF_UNIX, socket.SOCK_STREAM) as server:
        server.bind(str(tmp_path / "monitor.sock"))
        server.listen(1)
        before = time.monotonic()
        assert not press_button(tmp_path / "monitor.sock")
        assert time.monotonic() - before < 3.0


@pytest.fixture
def running(pid_file):
    start(command(pid_file), pid_file)
    found = find_process(pid_file)
    assert found is not None
    return found


@pytest.mark.parametrize("state", ["paused", "io-error"])
def test_a_machine_that_stands_still_goes_on(tmp_path, running, state):
    monitor = Monitor(tmp_path / "monitor.sock", state=state)
    try:
        words = qemu_waking.wake(running, tmp_path / "monitor.sock", tmp_path)
        assert str(words) == f"The machine stood still ({state}) and goes on."
        assert state_of(tmp_path / "monitor.sock") == "running"
        assert qemu_waking.wake(running, tmp_path / "monitor.sock", tmp_path) is None
    finally:
        monitor.close()
    assert is_running(running.pid)


def test_a_machine_whose_controller_is_full_is_left_as_it_is(tmp_path, running, monkeypatch):
    monkeypatch.setattr(qemu_waking, "KEEP_DISK", 1 << 50)
    monitor = Monitor(tmp_path / "monitor.sock", state="io-error")
    try:
        words = refusal(lambda: qemu_waking.wake(running, tmp_path / "monitor.sock", tmp_path))
    finally:
        monitor.close()
    assert f"its disk in {tmp_path} could not be written" in words
    assert "cont" not in monitor.heard


def test_a_machine_that_died_is_switched_off(tmp_path, running):
    monitor = Monitor(tmp_path / "monitor.sock", state="internal-error")
    try:
        words = qemu_waking.wake(running, tmp_path / "monitor.sock", tmp_path)
    finally:
        monitor.close()
    assert "had died (internal-error) and is started anew" in str(words)
    assert not is_running(running.pid)


def test_a_silent_monitor_is_no_reason_to_touch_the_machine(tmp_path, running):
    assert qemu_waking.wake(running, tmp_path / "monitor.sock", tmp_path) is None
    assert is_running(running.pid)
