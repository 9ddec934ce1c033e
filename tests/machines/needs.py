"""What a machine needs of the one that the tests run on."""

from __future__ import annotations

import os
import shutil
from pathlib import Path

from tests.machines.cgroups import CONTROLLERS, hierarchies, is_unified

CAP_SYS_ADMIN = 21
PROGRAMS = {
    "systemd-nspawn": "systemd-container",
    "mmdebstrap": "mmdebstrap",
    "ip": "iproute2",
    "ssh-keygen": "openssh-client",
    "ssh": "openssh-client",
}
BUSYBOX = Path("/bin/busybox")


def missing() -> list[str]:
    """What stands in the way of a machine here, in words; nothing when one can be had."""
    found = [
        f"{program} (Debian package {package})"
        for program, package in PROGRAMS.items()
        if shutil.which(program) is None
    ]
    if not BUSYBOX.exists():
        found.append(f"{BUSYBOX} (Debian package busybox-static)")
    if os.geteuid() != 0:
        return [*found, "root"]
    if not _capabilities() >> CAP_SYS_ADMIN & 1:
        found.append("CAP_SYS_ADMIN")
    if "\toverlay\n" not in Path("/proc/filesystems").read_text("utf-8"):
        found.append("overlayfs in the kernel")
    return found + _missing_groups()


def _capabilities() -> int:
    """The effective capabilities of this process, one bit each."""
    lines = Path("/proc/self/status").read_text("utf-8").splitlines()
    return int(next(line.split()[1] for line in lines if line.startswith("CapEff:")), 16)


def _missing_groups() -> list[str]:
    if is_unified():
        groups = {"cgroup v2": Path("/sys/fs/cgroup")}
    else:
        known = hierarchies()
        groups = {
            f"cgroup v1 {name}": known.get(name, Path("/nonexistent")) for name in CONTROLLERS
        }
    return [
        f"a writable {name} tree"
        for name, folder in groups.items()
        if not os.access(folder, os.W_OK)
    ]
