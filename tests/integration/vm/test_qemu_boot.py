"""A real machine of QEMU's, emulated: a small Debian with cloud-init, our seed, our keys, our port.

Debian is built by mmdebstrap (a minute or two, once for each recipe); a boot takes about half a
minute on an idle machine with two processors. Every wait has a limit.
"""

from __future__ import annotations

import dataclasses
import os
import shutil
import signal
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import psutil
import pytest

from provision.local.processes import is_alive
from provision.settings import Settings
from provision.target import Progress
from provision.vm.machine import FOLDER, Machine, run
from provision.vm.machines.qemu.maker import QemuMaker
from provision.vm.machines.qemu.monitor import ask, state_of
from provision.vm.machines.qemu.process import find_process
from provision.vm.machines.qemu.seed import new_pair
from provision.vm.settings import QemuSettings, VmSettings
from provision.waiting import wait_until
from tests.machines.debian_image import debian_image, missing_tools

NEEDED = ("qemu-system-x86_64", "qemu-img", "ssh", "ssh-keyscan")
MISSING = (*(n for n in NEEDED if shutil.which(n) is None), *missing_tools())
DISK, MEMORY = 8192, 1024  # MiB
ANSWER_SECONDS = 60.0
REBOOT_SECONDS = 600.0

pytestmark = [
    pytest.mark.full,
    pytest.mark.timeout(3600),
    pytest.mark.skipif(bool(MISSING), reason=f"QEMU's machine is not tested without {MISSING}"),
]


@dataclass
class Made:
    """The machine of these tests, who made it, and what was told meanwhile."""

    home: Path
    maker: QemuMaker
    machine: Machine
    told: list[str]

    @property
    def folder(self) -> Path:
        return self.home / FOLDER

    @property
    def process(self) -> psutil.Process:
        found = find_process(self.folder / "qemu.pid")
        assert found is not None, "QEMU does not run"
        return found

    def says(self, *command: str, within: float = ANSWER_SECONDS) -> str:
        """What a command in the machine writes; it must succeed."""
        done = run(self.machine, command, input=None, within=within)
        assert done.returncode == 0, done
        return done.stdout.decode().strip()

    def ensure(self) -> Machine:
        self.told.clear()
        return self.maker.ensure(self._tell)

    def _tell(self, progress: Progress) -> None:
        self.told.append(str(progress.stage))
        print(f"{progress.seconds:7.1f}  {progress.stage}")  # noqa: T201


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Made]:
    """A machine that was just made, in a folder whose name QEMU, ssh and shells would trip over."""
    base = tmp_path_factory.mktemp("qemu")
    cache = Settings.from_environment(os.environ).cache / "tests"
    qemu = QemuSettings(
        cpus=min(2, os.cpu_count() or 1),
        memory=MEMORY,
        disk=DISK,
        image=str(debian_image(cache)),
        accelerator="tcg",
    )
    settings = Settings(cache=base / "cache", runtime=base, environ=dict(os.environ))
    home = base / "a place, with a blank" / "kueue_quota"
    maker = QemuMaker(home, VmSettings(maker="qemu", qemu=qemu), settings)
    lab = Made(home, maker, Machine("", "", 0, "", home), [])
    try:
        lab.machine = lab.ensure()
        yield lab
    finally:
        maker.destroy(lab._tell)
        shutil.rmtree(base / "cache", ignore_errors=True)


def listening(process: psutil.Process) -> set[tuple[str, int]]:
    """Where a process listens."""
    ways = process.net_connections(kind="inet")
    return {(way.laddr.ip, way.laddr.port) for way in ways if way.status == psutil.CONN_LISTEN}


def test_roots_shell_answers_by_our_key(made: Made):
    assert made.says("id", "-u") == "0"
    assert made.says("hostname") == "kueue-quota"
    assert made.says("systemctl", "is-system-running", "--wait") == "running"
    assert any("emulated" in text for text in made.told)


def test_the_host_key_is_the_one_that_was_known_before(made: Made):
    known = (made.folder / "known_hosts").read_text().split()[1:3]
    assert made.says("cat", "/etc/ssh/ssh_host_ed25519_key.pub").split()[:2] == known
    assert made.says("sh", "-c", "ls /etc/ssh/ssh_host_*_key") == "/etc/ssh/ssh_host_ed25519_key"


def test_another_host_key_is_refused(made: Made):
    config = made.home / "other_config"
    hosts = made.home / "other_hosts"
    hosts.write_text(f"machine {new_pair().public}\n")
    text = made.machine.ssh_config.read_text()
    text = text.replace(str(made.folder / "known_hosts"), str(hosts))
    config.write_text(text.replace("ControlMaster auto", "ControlPath none"))
    stranger = dataclasses.replace(made.machine, ssh_config=config)
    done = run(stranger, ("true",), input=None, within=ANSWER_SECONDS)
    assert not done.is_reached
    assert b"Host key verification failed" in done.stderr


def test_another_key_and_passwords_are_refused(made: Made):
    key, config = made.home / "other_key", made.home / "other_config"
    key.write_text(new_pair().private)
    key.chmod(0o600)
    text = made.machine.ssh_config.read_text()
    text = text.replace(str(made.folder / "login_key"), str(key))
    config.write_text(text.replace("ControlMaster auto", "ControlPath none"))
    stranger = dataclasses.replace(made.machine, ssh_config=config)
    done = run(stranger, ("true",), input=None, within=ANSWER_SECONDS)
    assert not done.is_reached
    assert b"Permission denied (publickey)" in done.stderr, "a password is not even asked for"
    assert made.says("passwd", "--status", "root").split()[1] == "L"


def test_cloud_init_did_all_that_the_seed_says(made: Made):
    assert made.maker.remarks, "that it is emulated"
    assert not any("cloud-init had trouble" in str(remark) for remark in made.maker.remarks)
    assert made.says("cloud-init", "status") == "status: done"
    seen = made.says("cat", "/var/lib/cloud/data/instance-id")
    assert seen in (made.folder / "qemu.json").read_text()
    mebibytes = int(made.says("df", "--output=size", "-BM", "/").split()[1].rstrip("M"))
    assert mebibytes > DISK * 0.9, "the file system fills the disk that was asked for"
    assert made.says("systemctl", "is-enabled", "ssh") == "enabled"
    timers = made.says(
        "sh", "-c", "systemctl is-enabled apt-daily.timer apt-daily-upgrade.timer; :"
    )
    assert timers.split() == ["masked", "masked"]


def test_only_the_forward_listens_and_only_on_loopback(made: Made):
    assert listening(made.process) == {("127.0.0.1", made.machine.port)}


def test_a_second_run_changes_nothing(made: Made):
    before, disk = made.process.pid, (made.folder / "qemu.json").read_bytes()
    assert made.ensure() == made.machine
    assert made.process.pid == before
    assert (made.folder / "qemu.json").read_bytes() == disk
    assert "powering the machine on" not in made.told


def test_a_machine_that_stands_still_goes_on(made: Made):
    """As QEMU leaves it when the controller's disk was full."""
    monitor = made.maker._monitor()
    assert ask(monitor, "stop") is not None
    assert state_of(monitor) == "paused"
    made.ensure()
    assert state_of(monitor) == "running"
    assert "The machine stood still (paused) and goes on." in made.told
    assert made.says("id", "-u") == "0"


def test_it_comes_back_from_a_reboot_of_its_own(made: Made):
    before = made.says("cat", "/proc/sys/kernel/random/boot_id")
    pid = made.process.pid
    run(made.machine, ("systemctl", "reboot"), input=None, within=ANSWER_SECONDS)

    def missing():
        command = ("cat", "/proc/sys/kernel/random/boot_id")
        done = run(made.machine, command, input=None, within=ANSWER_SECONDS)
        is_new = done.returncode == 0 and done.stdout.decode().strip() != before
        return None if is_new else done.last_line or "still the old boot"

    wait_until(missing, within=REBOOT_SECONDS, every=1.0)
    assert made.process.pid == pid


def test_it_is_powered_off_by_its_button_and_on_again_with_its_files(made: Made):
    made.says("sh", "-c", "echo kept >/root/kept && sync")
    made.told.clear()
    made.maker.stop(made._tell)
    assert made.told[-1] == "the machine is off"
    assert not made.maker.is_on()
    assert "Power down" in (made.folder / "console.log").read_text(errors="replace")[-2000:]
    assert made.maker.find() == made.machine
    made.machine = made.ensure()
    assert made.maker.is_on()
    assert made.says("cat", "/root/kept") == "kept"
    waited = made.says("cloud-init", "status", "--wait", within=REBOOT_SECONDS)
    assert waited.endswith("status: done")


def test_it_is_mended_when_qemu_was_killed(made: Made):
    """The process id that is left behind is nobody's; the disk is checked by the machine."""
    process = made.process
    os.kill(process.pid, signal.SIGKILL)
    wait_until(lambda: "still there" if made.maker.is_on() else None, within=10.0)
    assert (made.folder / "qemu.pid").exists()
    made.machine = made.ensure()
    assert made.says("cat", "/root/kept") == "kept"


def open_ports() -> set[int]:
    return {c.laddr.port for c in psutil.net_connections(kind="tcp") if c.laddr}


def test_destroy_leaves_nothing(made: Made):
    process, port = made.process, made.machine.port
    made.maker.destroy(made._tell)
    assert not is_alive(process)
    assert not made.folder.exists()
    wait_until(lambda: "it still listens" if port in open_ports() else None, within=10.0)
    left = [p.info["cmdline"] for p in psutil.process_iter(["cmdline"])]
    assert not [words for words in left if words and str(made.folder) in " ".join(words)]
    assert made.maker.find() is None
    made.maker.destroy(made._tell)
