"""What the maker refuses before anything is made, and what it does with half of a machine."""

import dataclasses
import json
import os
import shutil
import socket
import subprocess
from pathlib import Path

import pytest

from provision.settings import Settings
from provision.target import silent
from provision.vm.machine import FOLDER, Machine, MachineMaker, save_machine
from provision.vm.machines import open_maker
from provision.vm.machines.qemu import process as qemu_process
from provision.vm.machines.qemu import tools as qemu_tools
from provision.vm.machines.qemu.greeting import await_first_boot, await_login
from provision.vm.machines.qemu.maker import NAME, QemuMaker
from provision.vm.machines.qemu.room import require_room
from provision.vm.machines.qemu.state import FILE, QemuState, load_state, save_state
from provision.vm.settings import QemuSettings, VmSettings
from tests.unit.vm.qemu_fakes import needs_img, refusal

SMALL = QemuSettings(cpus=1, memory=1, disk=1, accelerator="tcg")


@pytest.fixture
def home(tmp_path):
    return tmp_path / "home" / "kueue_quota"


@pytest.fixture
def programs(tmp_path):
    """A folder for PATH with the real qemu-img, and a QEMU that says why it does not start."""
    folder = tmp_path / "bin"
    folder.mkdir()
    system = folder / "qemu-system-x86_64"
    system.write_text("#!/bin/sh\necho 'no machine today' >&2\nexit 1\n")
    system.chmod(0o755)
    if (img := shutil.which("qemu-img")) is not None:
        (folder / "qemu-img").symlink_to(img)
    return folder


def maker(home: Path, path: Path | str, qemu: QemuSettings = SMALL, name: str = NAME) -> QemuMaker:
    cache = home.parents[1] / "cache"
    settings = Settings(cache=cache, runtime=home.parents[1], environ={"PATH": str(path)})
    return QemuMaker(home, VmSettings(maker=name, qemu=qemu), settings)


@pytest.fixture
def image(tmp_path):
    """A raw disk of a sector that could start."""
    path = tmp_path / "image"
    path.write_bytes(bytes(510) + b"\x55\xaa" + bytes(512 << 10))
    return dataclasses.replace(SMALL, image=str(path))


def test_it_is_the_maker_called_qemu(home):
    found: MachineMaker = open_maker(NAME, home, VmSettings(), Settings(cache=home))
    assert isinstance(found, QemuMaker)
    assert not found.is_given
    assert found.find() is None
    assert not found.is_on()


def test_what_was_never_made_is_stopped_and_removed_without_a_word(home):
    told = []
    maker(home, "").stop(told.append)
    maker(home, "").destroy(told.append)
    assert told == []
    assert not home.exists()


def test_a_controller_without_qemu_makes_nothing(home, tmp_path):
    words = refusal(lambda: maker(home, tmp_path).ensure(silent))
    assert "There is no qemu-system-x86_64" in words
    assert list((home / FOLDER).iterdir()) == []


def test_another_processor_makes_nothing(home, programs, monkeypatch):
    monkeypatch.setattr(qemu_tools.platform, "machine", lambda: "riscv64")
    assert "this is riscv64" in refusal(lambda: maker(home, programs).ensure(silent))


@pytest.mark.parametrize(
    ("lack", "words"),
    [
        ({"cpus": 4096}, ("4096 processors", f"VM_CPUS={os.cpu_count()}")),
        ({"memory": 1 << 30}, ("1073741824 MiB of memory", "End some programs, or set VM_MEMORY=")),
        ({"disk": 1 << 40}, ("1099511627776 MiB in", "Free some space there, or set VM_DISK=")),
    ],
)
def test_what_the_controller_lacks_is_told_with_what_would_fit(home, programs, lack, words):
    qemu = dataclasses.replace(SMALL, **lack)
    told = refusal(lambda: maker(home, programs, qemu).ensure(silent))
    for word in words:
        assert word in told
    checked = refusal(maker(home.parent / "other", programs, qemu).check)
    assert words[0] in checked
    assert not (home.parent / "other").exists(), "a check makes nothing"
    assert not (home / FOLDER / "disk.qcow2").exists()


def test_an_image_that_is_no_file_is_told_before_a_bundle_is_gathered(home, programs):
    qemu = dataclasses.replace(SMALL, image="/nonexistent/image.qcow2")
    assert "The image /nonexistent/image.qcow2 cannot be read" in refusal(
        maker(home, programs, qemu).check
    )
    assert not home.exists()
    maker(home, programs).check()


def test_a_machine_that_is_there_needs_little_of_the_disk(tmp_path):
    require_room(dataclasses.replace(SMALL, disk=1 << 40), tmp_path, is_new=False)


@needs_img
def test_a_disk_smaller_than_its_image_is_refused(home, programs, tmp_path):
    path = tmp_path / "image"
    path.write_bytes(bytes(510) + b"\x55\xaa")
    os.truncate(path, 3 << 20)
    words = refusal(
        lambda: maker(home, programs, dataclasses.replace(SMALL, image=str(path))).ensure(silent)
    )
    assert "The image's disk has 3 MiB; the machine's, 1 MiB, cannot be smaller." in words
    assert "Set VM_DISK=1G or more." in words


@needs_img
def test_a_start_that_fails_keeps_the_disk_for_the_next_run(home, programs, image):
    first = maker(home, programs, image)
    assert "no machine today" in refusal(lambda: first.ensure(silent))
    before = load_state(home / FOLDER)
    assert before is not None
    assert "five to twenty times" in str(first.remarks[0])
    key = (home / FOLDER / "login_key").read_bytes()
    assert "no machine today" in refusal(lambda: maker(home, programs, image).ensure(silent))
    after = load_state(home / FOLDER)
    assert after is not None
    assert (before.instance, before.port) == (after.instance, after.port)
    assert (home / FOLDER / "login_key").read_bytes() == key
    assert first.find() is not None, "so that destroy and status know of it"


@needs_img
def test_all_that_is_secret_is_ours_alone(home, programs, image):
    refusal(lambda: maker(home, programs, image).ensure(silent))
    folder = home / FOLDER
    assert folder.stat().st_mode & 0o777 == 0o700
    for name in ("login_key", "seed.iso", "disk.qcow2", "ssh_config", "known_hosts"):
        assert (folder / name).stat().st_mode & 0o777 == 0o600
    line = (folder / "known_hosts").read_text()
    assert line.startswith("machine ssh-ed25519 ")
    assert line.split()[2].encode() in (folder / "seed.iso").read_bytes()


@needs_img
@pytest.mark.parametrize("part", ["login_key", "known_hosts", "seed.iso", FILE])
def test_a_machine_that_lost_a_part_is_told_and_removed(home, programs, image, part):
    refusal(lambda: maker(home, programs, image).ensure(silent))
    (home / FOLDER / part).unlink()
    words = refusal(lambda: maker(home, programs, image).ensure(silent))
    assert "is missing or damaged" in words
    assert "make destroy removes the machine" in words
    maker(home, programs, image).destroy(silent)
    assert not (home / FOLDER).exists()


@needs_img
def test_a_run_that_was_broken_off_before_the_disk_leaves_nothing_in_the_way(home, programs, image):
    refusal(lambda: maker(home, programs, image).ensure(silent))
    folder = home / FOLDER
    first = load_state(folder)
    (folder / "disk.qcow2").rename(folder / ".disk.new")
    (folder / "known_hosts").write_text("half a li")
    refusal(lambda: maker(home, programs, image).ensure(silent))
    second = load_state(folder)
    assert first is not None
    assert second is not None
    assert first.instance != second.instance
    assert not (folder / ".disk.new").exists()
    assert (folder / "known_hosts").read_text().startswith("machine ssh-ed25519 ")


@needs_img
def test_a_port_that_others_took_is_left_to_them(home, programs, image):
    refusal(lambda: maker(home, programs, image).ensure(silent))
    first = load_state(home / FOLDER)
    assert first is not None
    with socket.socket() as other:
        other.bind(("127.0.0.1", first.port))
        other.listen(1)
        refusal(lambda: maker(home, programs, image).ensure(silent))
    second = load_state(home / FOLDER)
    assert second is not None
    assert second.port != first.port
    assert f"Port {second.port}\n" in (home / FOLDER / "ssh_config").read_text()


@needs_img
def test_a_machine_once_emulated_needs_no_word_the_next_time(home, programs, image, monkeypatch):
    """VM=qemu was said when it was made; the run that powers it on again need not say so."""
    monkeypatch.setattr("provision.vm.machines.qemu.probe.DEVICE", Path("/nonexistent/kvm"))
    auto = dataclasses.replace(image, accelerator="auto")
    assert "there is no" in refusal(lambda: maker(home, programs, auto, name="").ensure(silent))
    assert "no machine today" in refusal(lambda: maker(home, programs, auto).ensure(silent))
    told = refusal(lambda: maker(home, programs, auto, name="").ensure(silent))
    assert "no machine today" in told


@pytest.mark.parametrize(
    "change",
    [{"schema": 2}, {"port": "x"}, {"port": 70000}, {"image": "../../etc/passwd"}, {"more": 1}],
)
def test_a_damaged_state_is_told(tmp_path, change):
    save_state(tmp_path, QemuState("id", "sha256-0.img"))
    raw = json.loads((tmp_path / FILE).read_text())
    (tmp_path / FILE).write_text(json.dumps({**raw, **change}))
    assert "missing or damaged" in refusal(lambda: load_state(tmp_path))


@pytest.fixture
def asleep():
    process = subprocess.Popen(["sleep", "60"])
    yield qemu_process.psutil.Process(process.pid)
    process.kill()
    process.wait()


def stub_ssh(tmp_path, monkeypatch, script: str) -> Machine:
    folder = tmp_path / "ssh-bin"
    folder.mkdir()
    (folder / "ssh").write_text(f"#!/bin/sh\n{script}\n")
    (folder / "ssh").chmod(0o755)
    monkeypatch.setenv("PATH", f"{folder}:{os.environ['PATH']}")
    return Machine("kueue-quota (QEMU)", "127.0.0.1", 25301, "root", tmp_path / "ssh_config")


def test_a_machine_that_lets_nobody_in_is_told_with_its_console(tmp_path, monkeypatch, asleep):
    machine = stub_ssh(tmp_path, monkeypatch, "echo 'Connection refused' >&2; exit 255")
    console = tmp_path / "console.log"
    console.write_bytes(b"old\r\n\x1b[31mKernel\x07 panic\r\n\r\n")
    words = refusal(lambda: await_login(machine, asleep, console, within=0.0))
    assert "lets nobody in, after 0 s: Connection refused" in words
    assert "[31mKernel panic" in words
    assert "\x1b" not in words
    assert str(console) in words


def test_a_machine_that_shows_another_host_key_is_told(tmp_path, monkeypatch, asleep):
    machine = stub_ssh(tmp_path, monkeypatch, "echo 'Host key verification failed.' >&2; exit 255")
    words = refusal(lambda: await_login(machine, asleep, tmp_path / "none", within=0.0))
    assert "another host key than the one that it was given" in words
    assert "its console cannot be read" in words


def test_a_machine_that_goes_off_while_it_boots_is_told_at_once(tmp_path, monkeypatch, asleep):
    machine = stub_ssh(tmp_path, monkeypatch, "exit 255")
    asleep.kill()
    qemu_process.await_end([asleep], within=5.0)
    (tmp_path / "console").write_text("")
    words = refusal(lambda: await_login(machine, asleep, tmp_path / "console", within=60.0))
    assert "went off while it booted; its console is silent" in words


def test_a_first_boot_with_trouble_is_a_remark_and_a_lost_one_an_error(tmp_path, monkeypatch):
    machine = stub_ssh(tmp_path, monkeypatch, "exit $(cat ${0%/*}/code)")
    code = tmp_path / "ssh-bin" / "code"
    code.write_text("0")
    assert await_first_boot(machine, within=10.0) is None
    code.write_text("1")
    assert "cloud-init had trouble" in str(await_first_boot(machine, within=10.0))
    code.write_text("255")
    assert "was lost" in refusal(lambda: await_first_boot(machine, within=10.0))


def test_a_first_boot_without_end_is_told(tmp_path, monkeypatch):
    machine = stub_ssh(tmp_path, monkeypatch, "exec sleep 60")
    assert "is not done" in refusal(lambda: await_first_boot(machine, within=0.3))


def test_a_machine_of_another_maker_is_not_ours(home):
    machine = Machine("root@192.0.2.1", "192.0.2.1", 22, "root", home / FOLDER / "ssh_config")
    save_machine(home, "ssh", machine)
    assert maker(home, "").find() is None
