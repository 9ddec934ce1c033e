"""The command lines that make a machine's disk and run the machine; nothing is run here."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from provision.vm.machines.qemu.image import Image
from provision.vm.machines.qemu.tools import Tools

KVM, TCG = "kvm", "tcg"
# KVM hands the host's processor on; the emulator offers all that it can do.
_PROCESSORS = {KVM: "host", TCG: "max"}


@dataclass(frozen=True, slots=True)
class Files:
    """Where all that makes up a machine is, in a folder of its own."""

    folder: Path

    @property
    def disk(self) -> Path:
        """The machine's own disk, which holds what differs from the image."""
        return self.folder / "disk.qcow2"

    @property
    def seed(self) -> Path:
        """What cloud-init reads at the first boot; it holds the private host key."""
        return self.folder / "seed.iso"

    @property
    def key(self) -> Path:
        """The private key that logs in."""
        return self.folder / "login_key"

    @property
    def known_hosts(self) -> Path:
        """The host key that was given to the machine."""
        return self.folder / "known_hosts"

    @property
    def ssh_config(self) -> Path:
        """How ssh gets in."""
        return self.folder / "ssh_config"

    @property
    def pid(self) -> Path:
        """QEMU's process id; QEMU holds a lock on it and removes it at its end."""
        return self.folder / "qemu.pid"

    @property
    def monitor(self) -> Path:
        """The socket of QEMU's monitor, unless its path is too long there."""
        return self.folder / "monitor.sock"

    @property
    def console(self) -> Path:
        """What the machine wrote to its serial console since it was powered on."""
        return self.folder / "console.log"


@dataclass(frozen=True, slots=True)
class Hardware:
    """What the machine gets: `memory` in MiB, `port` is the loopback port that leads to its sshd.

    `monitor` is where QEMU's monitor listens; `accelerator` is `KVM` or `TCG`.
    """

    name: str
    cpus: int
    memory: int
    port: int
    monitor: Path
    accelerator: str


def disk_arguments(base: Image, disk: Path, size: int) -> tuple[str, ...]:
    """For qemu-img: a disk of `size` MiB that lies over the image."""
    return (
        *("create", "-q", "-f", "qcow2", "-b", str(base.path), "-F", base.format),
        *(str(disk), f"{size}M"),
    )


def machine_command(tools: Tools, hardware: Hardware, files: Files) -> tuple[str, ...]:
    """QEMU in the background. From outside only the loopback port leads in.

    Both disks are virtio: Debian's genericcloud kernel has no driver for others. The system's
    processor, clock and firmware are QEMU's own.
    """
    return (
        *(str(tools.system), "-name", _escaped(hardware.name)),
        *("-nodefaults", "-no-user-config", "-display", "none"),
        *("-machine", "q35", "-accel", hardware.accelerator),
        *("-cpu", _PROCESSORS[hardware.accelerator]),
        *("-smp", str(hardware.cpus), "-m", f"{hardware.memory}M"),
        *("-drive", f"file={_escaped(files.disk)},if=none,id=disk,format=qcow2,discard=unmap"),
        *("-device", "virtio-blk-pci,drive=disk,bootindex=0"),
        *("-drive", f"file={_escaped(files.seed)},if=none,id=seed,format=raw,readonly=on"),
        *("-device", "virtio-blk-pci,drive=seed"),
        *("-netdev", f"user,id=net,hostfwd=tcp:127.0.0.1:{hardware.port}-:22"),
        *("-device", "virtio-net-pci,netdev=net", "-device", "virtio-rng-pci"),
        *("-chardev", f"file,id=console,path={_escaped(files.console)}"),
        *("-serial", "chardev:console"),
        *("-qmp", f"unix:{_escaped(hardware.monitor)},server=on,wait=off"),
        *("-pidfile", str(files.pid), "-daemonize"),
    )


def _escaped(text: Path | str) -> str:
    """QEMU ends a value at a comma, and takes two for one."""
    return str(text).replace(",", ",,")
