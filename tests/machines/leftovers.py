"""What a machine leaves on the one that it runs on: found by its name, and removed."""

from __future__ import annotations

import contextlib
import json
import os
import signal
from pathlib import Path

import psutil

from provision.local.cache import remove_tree
from provision.message import Message, say
from provision.waiting import wait_until
from tests.machines.cgroups import find_groups, remove_groups
from tests.machines.places import RUNS
from tests.machines.record import is_alive
from tests.machines.shell import run

KILL_SECONDS = 15.0


def leftovers(name: str) -> tuple[str, ...]:
    """In words: each process, mount, interface, control group and folder of that machine."""
    return (
        *(f"process {p.pid} ({p.name()})" for p in find_processes(name)),
        *(f"mount {path}" for path in find_mounts(name)),
        *(f"interface {link}" for link in find_links(name)),
        *(f"cgroup {group}" for group in find_groups(name)),
        *([f"folder {RUNS / name}"] if (RUNS / name).exists() else []),
    )


def remove_leftovers(name: str) -> None:
    """Remove all of it; TargetError or TimedOut naming what cannot be."""
    kill(name)
    for path in find_mounts(name):
        run("umount", "--lazy", path)
    for link in find_links(name):
        run("ip", "link", "delete", link)
    remove_groups(find_groups(name))
    remove_tree(RUNS / name)


def kill(name: str) -> None:
    """End every process of the machine, at once."""

    def missing() -> Message | None:
        left = find_processes(name)
        for process in left:
            with contextlib.suppress(psutil.Error):
                process.send_signal(signal.SIGKILL)
        return say("processes {pids}", pids=[p.pid for p in left]) if left else None

    wait_until(missing, within=KILL_SECONDS)


def find_processes(name: str) -> tuple[psutil.Process, ...]:
    """Those in the machine's control groups, and those that keep it, outermost first."""
    pids: set[int] = set()
    for group in find_groups(name):
        for listed in group.rglob("cgroup.procs"):
            with contextlib.suppress(OSError):
                pids |= {int(pid) for pid in listed.read_text("utf-8").split()}
    mark = f"--machine={name}"
    found = []
    for process in psutil.process_iter():
        with contextlib.suppress(psutil.Error):
            is_ours = process.pid in pids or mark in process.cmdline()
            if is_ours and process.pid != os.getpid() and is_alive(process):
                found.append(process)
    return tuple(sorted(found, key=lambda p: p.pid))


def find_mounts(name: str) -> tuple[str, ...]:
    """Mount points below the machine's folder, the innermost first."""
    below = f"{RUNS / name}/"
    lines = Path("/proc/self/mounts").read_text("utf-8").splitlines()
    points = [line.split()[1] for line in lines]
    return tuple(sorted((p for p in points if p.startswith(below)), reverse=True))


def find_links(name: str) -> tuple[str, ...]:
    """The machine's interfaces on the host: its bridge, and the end of its pair."""
    known = {link["ifname"] for link in json.loads(run("ip", "-json", "link", "show"))}
    return tuple(link for link in (f"vb-{name}", f"br-{name}") if link in known)
