"""Whether KVM runs a guest is found out by a guest, whatever /dev/kvm looks like."""

import json
import os
import time
from pathlib import Path

import pytest

from provision.vm.machines.qemu import probe as qemu_probe
from provision.vm.machines.qemu.choosing import choose_accelerator
from provision.vm.machines.qemu.command import KVM, TCG
from provision.vm.machines.qemu.probe import GREETING, ask_kvm, boot_sector
from provision.vm.machines.qemu.tools import Tools
from tests.unit.vm.qemu_fakes import fake_tools, is_running, needs_qemu, real_tools, refusal

GREETS = f"echo $$ >>$0.pids; echo '{GREETING.decode()}'; exec sleep 60"
HANGS = "trap '' TERM INT HUP; echo $$ >>$0.pids; while :; do sleep 0.05; done"
ENDS = "echo $$ >>$0.pids; echo 'Could not access KVM kernel module.' >&2; exit 1"
BABBLES = "echo $$ >>$0.pids; exec yes not-a-guest"


@pytest.fixture(autouse=True)
def device(tmp_path, monkeypatch):
    """A device that may be opened, so that the guest decides."""
    path = tmp_path / "kvm"
    path.touch()
    monkeypatch.setattr(qemu_probe, "DEVICE", path)
    return path


def starts(tools: Tools) -> list[int]:
    """The ids of all guests that were started."""
    pids = Path(f"{tools.system}.pids")
    return [int(line) for line in pids.read_text().split()] if pids.exists() else []


def test_a_guest_that_greets_is_enough(tmp_path):
    tools = fake_tools(tmp_path, GREETS)
    assert ask_kvm(tools, tmp_path / "cache", within=10.0).runs
    assert not is_running(starts(tools)[0]), "the guest must be gone"


@pytest.mark.parametrize("script", [HANGS, BABBLES])
def test_a_kvm_that_hangs_is_told_in_time_and_its_guest_killed(tmp_path, script):
    tools = fake_tools(tmp_path, script)
    before = time.monotonic()
    found = ask_kvm(tools, tmp_path / "cache", within=0.5)
    assert time.monotonic() - before < 5.0
    assert not found.runs
    assert "a guest that should greet within 0.5 s did not" in str(found.reason)
    assert not is_running(starts(tools)[0]), "a hanging guest must be killed"


def test_a_qemu_that_ends_at_once_is_quoted(tmp_path):
    found = ask_kvm(fake_tools(tmp_path, ENDS), tmp_path / "cache", within=10.0)
    assert str(found.reason) == "QEMU ended at once: Could not access KVM kernel module"


def test_the_answer_is_remembered_for_this_boot(tmp_path, monkeypatch):
    tools, cache = fake_tools(tmp_path, HANGS), tmp_path / "cache"
    first = ask_kvm(tools, cache, within=0.3)
    assert ask_kvm(tools, cache, within=0.3) == first
    assert len(starts(tools)) == 1, "the second time nothing is started"
    assert not ask_kvm(tools, cache, afresh=True, within=0.3).runs
    assert len(starts(tools)) == 2
    boot = tmp_path / "boot_id"
    boot.write_text("another boot\n")
    monkeypatch.setattr(qemu_probe, "BOOT_ID", boot)
    ask_kvm(tools, cache, within=0.3)
    assert len(starts(tools)) == 3, "after a reboot it is asked again"


def test_another_qemu_is_asked_anew(tmp_path):
    tools, cache = fake_tools(tmp_path, HANGS), tmp_path / "cache"
    ask_kvm(tools, cache, within=0.3)
    time_then = tools.system.stat().st_mtime + 10
    fake_tools(tmp_path, GREETS)
    os.utime(tools.system, (time_then, time_then))
    assert ask_kvm(tools, cache, within=10.0).runs


@pytest.mark.parametrize(
    "damage", ["", "{", "[]", '{"reason": 3}', "null", '{"template": "{nothing}"}']
)
def test_a_damaged_memory_counts_as_none(tmp_path, damage):
    tools, cache = fake_tools(tmp_path, GREETS), tmp_path / "cache"
    ask_kvm(tools, cache, within=10.0)
    memory = cache / qemu_probe.MEMORY
    note = json.loads(memory.read_text())
    if damage.startswith('{"'):
        memory.write_text(json.dumps({**note, "reason": {"template": "{x}", "values": {}}}))
    else:
        memory.write_text(damage)
    assert ask_kvm(tools, cache, within=10.0).runs
    assert len(starts(tools)) == 2


def test_a_cache_that_cannot_be_written_costs_the_memory_only(tmp_path):
    (tmp_path / "cache").write_text("a file in the way")
    assert ask_kvm(fake_tools(tmp_path, GREETS), tmp_path / "cache", within=10.0).runs


def test_without_the_device_nothing_is_started(tmp_path, device):
    tools = fake_tools(tmp_path, GREETS)
    device.unlink()
    assert str(ask_kvm(tools, tmp_path).reason) == f"there is no {device}"
    device.mkdir()  # even root may not open a folder for writing
    assert "may not be used: Is a directory" in str(ask_kvm(tools, tmp_path).reason)
    assert starts(tools) == []


def test_without_kvm_only_a_named_qemu_is_emulated(tmp_path, device):
    device.unlink()
    tools = fake_tools(tmp_path, GREETS)
    choice = choose_accelerator("auto", tools, tmp_path, was_named=True)
    assert choice.accelerator == TCG
    assert "five to twenty times" in str(choice.remark)
    text = refusal(lambda: choose_accelerator("auto", tools, tmp_path, was_named=False))
    assert f"there is no {device}" in text
    assert "make provision TARGET=vm VM=qemu emulates it, slowly." in text
    assert "VM=ssh HOST=user@host" in text
    text = refusal(lambda: choose_accelerator(KVM, tools, tmp_path, was_named=True))
    assert "VM=qemu VM_ACCELERATOR=tcg emulates it, slowly." in text


def test_kvm_that_runs_needs_no_remark_and_emulation_no_probe(tmp_path):
    tools = fake_tools(tmp_path, GREETS)
    assert choose_accelerator(TCG, tools, tmp_path, was_named=False).accelerator == TCG
    assert starts(tools) == []
    choice = choose_accelerator("auto", tools, tmp_path, was_named=False)
    assert (choice.accelerator, choice.remark) == (KVM, None)


def test_the_guest_is_one_sector_that_a_bios_starts():
    assert len(boot_sector()) == 512
    assert boot_sector()[510:] == b"\x55\xaa"
    assert boot_sector()[0x16:].startswith(GREETING), "where its code looks for it"


@needs_qemu
def test_the_guest_greets_when_it_runs(tmp_path, monkeypatch):
    """On an emulated processor, since KVM is what may not be there."""
    plain = qemu_probe.probe_command
    swap = {"kvm": "tcg", "host": "max"}

    def emulated(tools: Tools, disk: Path) -> tuple[str, ...]:
        return tuple(swap.get(word, word) for word in plain(tools, disk))

    monkeypatch.setattr(qemu_probe, "probe_command", emulated)
    assert ask_kvm(real_tools(), tmp_path, within=60.0).runs
