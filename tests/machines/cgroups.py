"""The control groups of a machine: one of its own in each hierarchy, so that none is left behind.

On cgroup v1 a machine joins a group in each hierarchy before it starts, below the group of the one
who starts it: what the kubelet makes then stays below. With cgroup v2 alone there is one tree; that
way has not been tried where this was written.
"""

from __future__ import annotations

import contextlib
from collections.abc import Iterable
from pathlib import Path

from provision.message import Message, say
from provision.waiting import wait_until

ROOT = Path("/sys/fs/cgroup")
CONTROLLERS = ("cpu", "cpuacct", "cpuset", "memory", "devices", "pids", "freezer", "blkio")
# Those that systemd itself uses: a named one of v1, and v2 beside it.
SYSTEMD = ("name=systemd", "")
EMPTY_SECONDS = 10.0


def is_unified() -> bool:
    """Whether cgroup v2 is all there is."""
    return (ROOT / "cgroup.controllers").exists()


def hierarchies() -> dict[str, Path]:
    """Where this process is in each hierarchy: controller to folder; that of v2 is named ""."""
    mounts: dict[str, Path] = {}
    for line in Path("/proc/self/mounts").read_text("utf-8").splitlines():
        _, folder, kind, options, *_ = line.split()
        if kind == "cgroup2":
            mounts[""] = Path(folder)
        elif kind == "cgroup":
            mounts |= {option: Path(folder) for option in options.split(",")}
    found = {}
    for line in Path("/proc/self/cgroup").read_text("utf-8").splitlines():
        _, names, path = line.split(":", 2)
        for name in names.split(","):
            if name in mounts:
                found[name] = mounts[name] / path.strip("/")
    return found


def make_groups(name: str) -> tuple[Path, ...]:
    """A group `name` in each hierarchy; what the machine's first process has to join."""
    if is_unified():
        group = ROOT / name
        group.mkdir(exist_ok=True)
        return (group,)
    known = hierarchies()
    wanted = [known[c] for c in (*CONTROLLERS, *SYSTEMD) if c in known]
    groups = tuple(dict.fromkeys(folder / name for folder in wanted))
    for group in groups:
        group.mkdir(exist_ok=True)
        _inherit(group)
    return groups


def _inherit(group: Path) -> None:
    """A new cpuset may use nothing until it is told what."""
    if (group / "cpuset.cpus").exists():
        for name in ("cpuset.cpus", "cpuset.mems"):
            (group / name).write_text((group.parent / name).read_text("utf-8"), "utf-8")
        (group / "cgroup.clone_children").write_text("1", "utf-8")


def find_groups(name: str) -> tuple[Path, ...]:
    """All groups of that name, in whichever hierarchy and depth a machine may have left them."""
    places = [ROOT] if is_unified() else [*hierarchies().values(), *ROOT.iterdir()]
    return tuple(dict.fromkeys(p / name for p in places if (p / name).is_dir()))


def remove_groups(groups: Iterable[Path]) -> None:
    """Remove groups with all below them; TimedOut naming one that is not empty."""
    for group in groups:
        wait_until(lambda group=group: _remove(group), within=EMPTY_SECONDS)  # type: ignore[misc]


def _remove(group: Path) -> Message | None:
    for folder in sorted(group.rglob("*/"), key=lambda p: len(p.parts), reverse=True):
        with contextlib.suppress(OSError):
            folder.rmdir()
    try:
        group.rmdir()
    except FileNotFoundError:
        return None
    except OSError as error:
        return say("{group}: {reason}", group=group, reason=error.strerror)
    return None
