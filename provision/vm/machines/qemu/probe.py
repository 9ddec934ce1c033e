"""Whether KVM runs a guest here: a guest of one sector is started, and must be heard of.

/dev/kvm may be there, and may be opened, while no guest ever gets a step further (nested
virtualization that is switched off or only pretended), so that nothing less is an answer.
"""

from __future__ import annotations

import contextlib
import json
import os
import select
import subprocess
import tempfile
import time
from dataclasses import dataclass
from pathlib import Path

from provision.files import read_plain, write_atomically
from provision.message import Message, say
from provision.vm.machines.qemu.tools import Tools, last_line

DEVICE = Path("/dev/kvm")
BOOT_ID = Path("/proc/sys/kernel/random/boot_id")
SECONDS = 15.0
KILL_SECONDS = 5.0
MEMORY = "kvm.json"  # in the cache: what was found, for one boot of this controller
GREETING = b"gpu-queue-lab: a guest runs"
DISK_BYTES = 1 << 20  # the BIOS starts from no disk smaller than a cylinder of 504 KiB
# A boot sector in 16-bit code: it writes what stands behind it to the first serial port, and halts.
_CODE = bytes.fromhex(
    "fa"  # 7c00  cli
    "31c0"  #     xor  ax, ax
    "8ed8"  #     mov  ds, ax
    "be167c"  #   mov  si, 0x7c16
    "baf803"  #   mov  dx, 0x3f8
    "ac"  # 7c0b  lodsb
    "84c0"  #     test al, al
    "7403"  #     jz   0x7c13
    "ee"  #       out  dx, al
    "ebf8"  #     jmp  0x7c0b
    "f4"  # 7c13  hlt
    "ebfd"  #     jmp  0x7c13
)


@dataclass(frozen=True, slots=True)
class Kvm:
    """What was found: `reason` says why no guest runs, None when one does."""

    reason: Message | None

    @property
    def runs(self) -> bool:
        """KVM has run a guest."""
        return self.reason is None


def boot_sector() -> bytes:
    """The guest: 512 bytes, as a BIOS loads them."""
    return (_CODE + GREETING + b"\r\n\0").ljust(510, b"\0") + b"\x55\xaa"


def probe_command(tools: Tools, disk: Path) -> tuple[str, ...]:
    """QEMU with the guest on a read-only disk, its serial port on standard output."""
    return (
        *(str(tools.system), "-nodefaults", "-no-user-config", "-display", "none"),
        *("-machine", "q35", "-accel", "kvm", "-cpu", "host", "-m", "32", "-no-reboot"),
        *("-drive", f"file={str(disk).replace(',', ',,')},if=none,id=disk,format=raw,readonly=on"),
        *("-device", "virtio-blk-pci,drive=disk,bootindex=0", "-serial", "stdio"),
    )


def ask_kvm(tools: Tools, cache: Path, *, afresh: bool = False, within: float = SECONDS) -> Kvm:
    """Whether KVM runs a guest, found out once for each boot of this controller.

    The device is looked at each time, the guest is started when no answer is remembered, or when
    the answer was no and `afresh` is wanted; it is given `within` seconds.
    """
    if (refused := _unusable(DEVICE)) is not None:
        return Kvm(refused)
    known = _recall(cache / MEMORY, tools)
    if known is not None and (known.runs or not afresh):
        return known
    found = _try_guest(tools, within)
    with contextlib.suppress(OSError):  # without a cache it is asked again
        _remember(cache / MEMORY, tools, found)
    return found


def _unusable(device: Path) -> Message | None:
    if not device.exists():
        return say("there is no {device}", device=device)
    try:
        os.close(os.open(device, os.O_RDWR | os.O_CLOEXEC))
    except OSError as error:
        return say("{device} may not be used: {reason}", device=device, reason=error.strerror)
    return None


def _try_guest(tools: Tools, within: float) -> Kvm:
    with tempfile.TemporaryDirectory(prefix="gpu-queue-lab-") as folder:
        disk = Path(folder) / "guest.img"
        disk.write_bytes(boot_sector().ljust(DISK_BYTES, b"\0"))
        try:
            process = subprocess.Popen(
                probe_command(tools, disk),
                stdin=subprocess.DEVNULL,
                stdout=subprocess.PIPE,
                stderr=subprocess.STDOUT,
            )
        except OSError as error:
            return Kvm(say("QEMU does not start: {reason}", reason=error.strerror))
        try:
            return _listen(process, within)
        finally:
            _end(process)


def _listen(process: subprocess.Popen[bytes], within: float) -> Kvm:
    """Read until the guest is heard of, QEMU ends, or time is over."""
    if process.stdout is None:
        raise RuntimeError("the guest was started without a pipe")
    heard, deadline = b"", time.monotonic() + within
    while (left := deadline - time.monotonic()) > 0:
        ready, _, _ = select.select([process.stdout], [], [], left)
        if not ready:
            break
        piece = os.read(process.stdout.fileno(), 4096)
        heard = (heard + piece)[-8192:]
        if GREETING in heard:
            return Kvm(None)
        if not piece:
            return Kvm(say("QEMU ended at once: {reason}", reason=last_line(heard)))
    return Kvm(
        say("a guest that should greet within {seconds} s did not", seconds=f"{within:g}"),
    )


def _end(process: subprocess.Popen[bytes]) -> None:
    """Kill this one process; one that hangs in the kernel is left to it."""
    process.kill()
    with contextlib.suppress(subprocess.TimeoutExpired):
        process.wait(KILL_SECONDS)
    if process.stdout is not None:
        process.stdout.close()


def _stamp(tools: Tools) -> dict[str, str]:
    """What an answer holds for: this boot, this QEMU, this user."""
    changed = tools.system.stat().st_mtime_ns
    return {
        "boot": BOOT_ID.read_text("ascii").strip(),
        "qemu": f"{tools.system} {changed}",
        "user": str(os.getuid()),
    }


def _remember(path: Path, tools: Tools, found: Kvm) -> None:
    reason = None
    if found.reason is not None:
        values = {k: str(v) for k, v in found.reason.values.items()}
        reason = {"template": found.reason.template, "values": values}
    note = {**_stamp(tools), "reason": reason}
    write_atomically(path, json.dumps(note, indent=2) + "\n")


def _recall(path: Path, tools: Tools) -> Kvm | None:
    try:
        note = json.loads(read_plain(path))
        if any(note[key] != value for key, value in _stamp(tools).items()):
            return None
        reason = note["reason"]
        if reason is None:
            return Kvm(None)
        message = Message(str(reason["template"]), dict(reason["values"]))
        str(message)  # one that does not fit its values is no answer
        return Kvm(message)
    except (OSError, ValueError, KeyError, TypeError, AttributeError, IndexError):
        return None
