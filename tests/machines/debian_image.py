"""A small Debian that boots from a disk of its own, for the tests of the machines that QEMU makes.

It stands in for a cloud image where none can be fetched: Debian's own kernel, systemd, cloud-init
and sshd, one ext4 partition that cloud-init grows, GRUB before it. Nothing in it knows of the lab.
Needs root, mmdebstrap, mke2fs, sfdisk, qemu-img and GRUB's files for a BIOS (grub-pc-bin).
"""

from __future__ import annotations

import hashlib
import os
import shutil
import subprocess
import tempfile
from pathlib import Path

from tests.machines.bootstrap import bootstrap

SUITE = "bookworm"
PACKAGES = (
    *("linux-image-cloud-amd64", "systemd-sysv", "udev", "dbus", "iproute2", "netplan.io"),
    *("cloud-init", "cloud-guest-utils", "openssh-server"),
)
TOOLS = ("mmdebstrap", "unshare", "mke2fs", "sfdisk", "qemu-img", "grub-mkimage")
GRUB = Path("/usr/lib/grub/i386-pc")
MODULES = ("biosdisk", "part_msdos", "ext2", "linux", "normal", "configfile")
KERNEL = "root=/dev/vda1 ro console=ttyS0,115200"
START = 1 << 20  # bytes before the partition; GRUB's core goes there
SIZE = 1200 << 20  # of the partition
BUILD_SECONDS = 1800.0  # on a busy machine
SPARED = ("doc", "man", "locale", "info")


def missing_tools() -> tuple[str, ...]:
    """What must be there to build the image and is not, in words for a skip."""
    path = f"{os.environ.get('PATH', '')}:/usr/sbin:/sbin"
    missing = [name for name in TOOLS if shutil.which(name, path=path) is None]
    if not (GRUB / "boot.img").exists():
        missing.append("grub-pc-bin")
    if os.getuid() != 0:
        missing.append("root")
    return tuple(missing)


def debian_image(cache: Path) -> Path:
    """The qcow2 image, built once for each version of this recipe; it takes about two minutes."""
    recipe = hashlib.sha256(Path(__file__).read_bytes()).hexdigest()[:12]
    image = cache / f"debian-{SUITE}-{recipe}.qcow2"
    if not image.exists():
        cache.mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryDirectory(prefix=".debian-", dir=cache) as folder:
            _build(Path(folder)).replace(image)
    return image


def _build(folder: Path) -> Path:
    root, raw, qcow2 = folder / "root", folder / "disk.raw", folder / "disk.qcow2"
    _bootstrap(root)
    _lay_out(root)
    raw.touch()
    os.truncate(raw, START + SIZE)
    _run(
        *("mke2fs", "-q", "-t", "ext4", "-L", "root", "-d", str(root)),
        *("-E", f"offset={START}", str(raw), f"{SIZE >> 10}k"),
    )
    _run("sfdisk", "--quiet", str(raw), words=f"label: dos\n{START // 512},,83,*\n")
    _make_bootable(raw, folder)
    _run("qemu-img", "convert", "-f", "raw", "-O", "qcow2", str(raw), str(qcow2))
    return qcow2


def _bootstrap(root: Path) -> None:
    spared = [f"--dpkgopt=path-exclude=/usr/share/{name}/*" for name in SPARED]
    bootstrap(
        *(*spared, '--aptopt=Acquire::Languages "none"', f"--include={','.join(PACKAGES)}"),
        *(SUITE, root),
        within=BUILD_SECONDS,
    )


def _lay_out(root: Path) -> None:
    """What an installer would have written: mounts, GRUB's menu, and nothing of this machine."""
    (root / "etc" / "fstab").write_text("/dev/vda1 / ext4 defaults 0 1\n")
    (root / "etc" / "hostname").write_text("localhost\n")
    (root / "etc" / "resolv.conf").unlink(missing_ok=True)
    (root / "etc" / "machine-id").write_text("")
    for key in (root / "etc" / "ssh").glob("ssh_host_*"):
        key.unlink()
    kernel, initrd = (next((root / "boot").glob(f"{name}*")) for name in ("vmlinuz", "initrd"))
    menu = f"linux /boot/{kernel.name} {KERNEL}\ninitrd /boot/{initrd.name}\nboot\n"
    (root / "boot" / "grub").mkdir(exist_ok=True)
    (root / "boot" / "grub" / "grub.cfg").write_text(menu)


def _make_bootable(raw: Path, folder: Path) -> None:
    """GRUB's first sector before the partition table, its core in the gap behind it."""
    core = folder / "core.img"
    prefix = "(hd0,msdos1)/boot/grub"
    _run("grub-mkimage", "-O", "i386-pc", "-o", str(core), "-p", prefix, *MODULES)
    with raw.open("r+b") as disk:
        disk.write((GRUB / "boot.img").read_bytes()[:440])
        disk.seek(512)
        disk.write(core.read_bytes())


def _run(*command: str, words: str = "") -> None:
    environment = {**os.environ, "PATH": f"{os.environ.get('PATH', '')}:/usr/sbin:/sbin"}
    done = subprocess.run(
        command,
        input=words,
        capture_output=True,
        text=True,
        timeout=BUILD_SECONDS,
        check=False,
        env=environment,
    )
    if done.returncode:
        raise RuntimeError(f"{command[0]} ended with {done.returncode}:\n{done.stderr[-2000:]}")
