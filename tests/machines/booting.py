"""Makes a machine of the files of `rootfs.py`, boots it, and powers it off."""

from __future__ import annotations

import os
import re
import shutil
import signal
import socket
from pathlib import Path

import psutil

from provision.errors import TargetError, TimedOut, UsageError
from provision.message import Message, say
from provision.waiting import wait_until
from tests.machines.cgroups import is_unified, make_groups
from tests.machines.leftovers import leftovers, remove_leftovers
from tests.machines.parts import STANDIN, standin_folders
from tests.machines.places import RUNS
from tests.machines.record import Record, is_alive, read_record
from tests.machines.rootfs import rootfs
from tests.machines.shell import run

BOOT_SECONDS = 30.0
OFF_SECONDS = 40.0
# containerd and the kubelet mount overlays of their own, which cannot write to an overlay.
PLAIN = {"rancher": "/var/lib/rancher", "kubelet": "/var/lib/kubelet"}
# The machine outlives who started it. Its first process tells its pid.
LAUNCH = """
setsid sh -c "$@" >>"$0" 2>&1 </dev/null &
echo $!
"""
# systemd-nspawn is started by a process that has joined the machine's groups. It ends with 133 when
# the machine reboots, and keeps a folder in /run that it wants on a tmpfs.
KEEP = """
mkdir -p /run/systemd/nspawn
exec unshare --mount sh -c '
  mount -t tmpfs -o mode=700 machine /run/systemd/nspawn || exit
  while :; do
    sh -c "$0" join "$@"
    code=$?
    [ "$code" = 133 ] || exit "$code"
  done' "$0" "$@"
"""
JOIN = """
while [ "$1" != -- ]; do echo $$ >"$1/cgroup.procs" || exit; shift; done
shift
exec "$@"
"""


def boot(name: str, subnet: int) -> Record:
    """A fresh machine that answers on SSH. One that was left half-way under that name goes first.

    Raises UsageError for names that cannot be and for a machine that is up, TargetError and
    TimedOut when it does not come.
    """
    if not re.fullmatch(r"[a-z][a-z0-9]{0,11}", name) or not 0 <= subnet <= 254:
        raise UsageError(say("{name} {subnet} names no machine.", name=name, subnet=subnet))
    known = read_record(name)
    if known is not None and known.process() is not None:
        raise UsageError(say("The machine {name} is up.", name=name))
    remove_leftovers(name)
    base = rootfs()
    record = Record(name, subnet, 0, 0.0)
    try:
        root = _lay_out(record, base)
        _make_bridge(record)
        return start(record, root)
    except BaseException:
        remove_leftovers(name)
        raise


def _lay_out(record: Record, base: Path) -> Path:
    """An overlay over the base, so that a fresh machine costs nothing; who and where it is."""
    RUNS.mkdir(mode=0o700, exist_ok=True)
    folder = record.folder
    for part in ("up", "work", "root", *PLAIN):
        (folder / part).mkdir(parents=True)
    root = folder / "root"
    options = f"lowerdir={base},upperdir={folder / 'up'},workdir={folder / 'work'}"
    run("mount", "-t", "overlay", f"machine-{record.name}", "-o", options, root)
    for inside in PLAIN.values():
        (root / inside.lstrip("/")).mkdir(parents=True, exist_ok=True)
    for inside in standin_folders():
        (root / STANDIN.lstrip("/") / inside).mkdir(parents=True)
    (root / "etc/lab-machine").write_text(
        f"ADDRESS={record.address}\nGATEWAY={record.gateway}\n", "utf-8"
    )
    (root / "etc/hostname").write_text(f"{record.name}\n", "utf-8")
    (root / "etc/hosts").write_text(
        f"127.0.0.1 localhost\n{record.address} {record.name}\n", "utf-8"
    )
    _make_keys(record, root)
    return root


def _make_keys(record: Record, root: Path) -> None:
    host = root / "etc/ssh/ssh_host_ed25519_key"
    for key, who in ((record.identity, "tests"), (host, record.name)):
        run("ssh-keygen", "-q", "-t", "ed25519", "-N", "", "-C", who, "-f", key)
    public = host.with_suffix(".pub").read_text("utf-8")
    record.known_hosts.write_text(f"{record.address} {public}", "utf-8")
    allowed = record.identity.with_suffix(".pub").read_text("utf-8")
    for home in ("root", "home/maker", "home/guest"):
        owner = (root / home).stat()
        folder = root / home / ".ssh"
        folder.mkdir(mode=0o700, exist_ok=True)
        (folder / "authorized_keys").write_text(allowed, "utf-8")
        for path in (folder, folder / "authorized_keys"):
            os.chown(path, owner.st_uid, owner.st_gid)


def _make_bridge(record: Record) -> None:
    run("ip", "link", "add", record.bridge, "type", "bridge")
    run("ip", "address", "add", f"{record.gateway}/24", "dev", record.bridge)
    run("ip", "link", "set", record.bridge, "up")


def start(record: Record, root: Path) -> Record:
    """Boot what is laid out; the record of the running machine."""
    groups = [str(group) for group in make_groups(record.name)]
    command = (KEEP, JOIN, *groups, "--", *_nspawn(record, root))
    told = run(
        *("sh", "-c", LAUNCH, str(record.folder / "console.log"), *command),
        env={
            "SYSTEMD_SECCOMP": "0",
            "SYSTEMD_NSPAWN_API_VFS_WRITABLE": "network",
            "SYSTEMD_NSPAWN_UNIFIED_HIERARCHY": "1" if is_unified() else "0",
        },
    )
    pid = int(told)
    running = Record(record.name, record.subnet, pid, psutil.Process(pid).create_time())
    running.write()
    await_ssh(running)
    return running


def _nspawn(record: Record, root: Path) -> list[str]:
    binds = [f"--bind={record.folder / part}:{inside}" for part, inside in PLAIN.items()]
    parts = [f"--bind-ro={f}:{STANDIN}/{inside}" for inside, f in standin_folders().items()]
    return [
        *("systemd-nspawn", f"--directory={root}", f"--machine={record.name}", "--boot"),
        f"--network-bridge={record.bridge}",
        *("--register=no", "--keep-unit", "--capability=all", "--private-users=no"),
        *("--resolv-conf=off", "--link-journal=no", "--timezone=off", "--console=pipe"),
        *("--bind=/dev/kmsg", *binds, *parts),
    ]


def await_ssh(record: Record, within: float = BOOT_SECONDS) -> None:
    """Wait until the machine's SSH server greets; TimedOut with the console's last lines."""

    def missing() -> Message | None:
        if record.process() is None:
            raise TargetError(say("The machine has ended: {lines}", lines=console_tail(record)))
        try:
            with socket.create_connection((record.address, 22), timeout=1) as link:
                link.settimeout(2)
                greeting = link.recv(4)
        except OSError as error:
            return say("{address} port 22: {reason}", address=record.address, reason=error)
        return None if greeting == b"SSH-" else say("port 22 does not greet")

    try:
        wait_until(missing, within=within, every=0.1)
    except TimedOut as error:
        lines = console_tail(record)
        raise TimedOut(say("{reason}; console: {lines}", reason=error.what, lines=lines)) from error


def console_tail(record: Record) -> str:
    """The last lines of the machine's console."""
    text = (record.folder / "console.log").read_text("utf-8", errors="replace")
    return " / ".join(text.strip().splitlines()[-8:])


def halt(name: str) -> tuple[str, ...]:
    """Power a machine off and remove all of it; what is left, in words: nothing, when all is well.

    One that does not power off within OFF_SECONDS is killed.
    """
    record = read_record(name)
    if record is not None and (outer := record.process()) is not None:
        for first in _first_processes(outer):
            # What systemd takes as "power off" from outside.
            first.send_signal(signal.SIGRTMIN + 4)
        try:
            wait_until(
                lambda: say("{name} is on", name=name) if is_alive(outer) else None,
                within=OFF_SECONDS,
            )
        except TimedOut:
            shutil.copy(record.folder / "console.log", RUNS.parent / f"{RUNS.name}-console.log")
    remove_leftovers(name)
    if RUNS.is_dir() and not any(RUNS.iterdir()):
        RUNS.rmdir()
    return leftovers(name)


def _first_processes(outer: psutil.Process) -> list[psutil.Process]:
    """The systemd of the machine: the child of systemd-nspawn."""
    keepers = [p for p in outer.children(recursive=True) if p.name() == "systemd-nspawn"]
    return [child for keeper in keepers for child in keeper.children()]
