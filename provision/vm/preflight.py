"""What a machine must be before anything is put on it. One command asks, nothing is changed."""

from __future__ import annotations

import time
from collections.abc import Iterator
from dataclasses import dataclass

from provision.errors import TargetError
from provision.message import Message, say
from provision.vm.bundle.checking import Bundle, Kind
from provision.vm.bundle.model import lines
from provision.vm.contacting import why_not_in
from provision.vm.machine import Machine, run
from provision.vm.refusals import no_root

ASK_SECONDS = 30.0
CLOCK_SECONDS = 120
DISK_MIB, DISK_AGAIN_MIB = 5000, 500
MEMORY_MIB = 1800
API_PORT = 6443
MARK = "/etc/gpu-queue-lab/machine"  # laid by the role prereq before anything of k3s
SYSTEMS = ("debian", "ubuntu")
# `uname -m` and what a bundle calls it.
PLATFORMS = {"x86_64": "linux/amd64", "aarch64": "linux/arm64"}

# Answers lines "<word> <value>"; `k3s` is ours, foreign or none. $1 is the mark, $2 the API's port.
_SCRIPT = r"""
set -u
echo "uid $(id -u)"
( . /etc/os-release; echo "os $ID-${VERSION_ID:-}"; echo "like ${ID_LIKE:-}" ) 2>/dev/null
echo "arch $(uname -m)"
[ -d /run/systemd/system ] && echo "systemd yes"
echo "python $(python3 -c 'import sys; print("%d.%d" % sys.version_info[:2])' 2>/dev/null)"
echo "time $(date +%s)"
echo "memory $(awk '/^MemTotal/ {print int($2/1024)}' /proc/meminfo)"
echo "disk $(df -Pk /var/lib | awk 'NR==2 {print int($4/1024)}')"
if [ -e "$1" ]; then echo "k3s ours"
elif [ -e /usr/local/bin/k3s ] || [ -e /etc/systemd/system/k3s.service ] ||
  [ -e /var/lib/rancher/k3s ]; then echo "k3s foreign"
else
  echo "k3s none"
  grep -qi ":$(printf %04X "$2") 0*:0000 0A" /proc/net/tcp /proc/net/tcp6 2>/dev/null &&
    echo "port taken"
fi
exit 0
"""


@dataclass(frozen=True, slots=True)
class Facts:
    """What a machine said of itself; numbers are MiB, `clock_off` seconds, `k3s` none or whose."""

    os: str
    like: str
    arch: str
    python: str
    has_systemd: bool
    is_root: bool
    clock_off: int
    memory: int
    disk: int
    k3s: str
    is_port_taken: bool

    @property
    def platform(self) -> str:
        """As bundles call it: linux/amd64."""
        return PLATFORMS.get(self.arch, f"linux/{self.arch}")


def ask(machine: Machine) -> Facts:
    """Ask the machine; TargetError when it cannot be reached or root's rights are not to be had."""
    began = time.time()
    command = machine.as_root("sh", "-s", MARK, str(API_PORT))
    done = run(machine, command, input=_SCRIPT.encode(), within=ASK_SECONDS)
    if not done.is_reached:
        raise why_not_in(done, machine)
    if done.returncode != 0:
        raise no_root(machine, done.last_line)
    return understand(done.stdout.decode(errors="replace"), began, time.time())


def understand(answer: str, began: float, ended: float) -> Facts:
    """The facts from the lines of an answer that came between two moments of our clock."""
    words = dict(line.split(" ", 1) for line in answer.splitlines() if " " in line)
    there = _number(words.get("time", ""))
    off = 0 if began - 1 <= there <= ended + 1 else round(there - (began + ended) / 2)
    return Facts(
        os=words.get("os", "").strip("-"),
        like=words.get("like", ""),
        arch=words.get("arch", "").strip(),
        python=words.get("python", "").strip(),
        has_systemd="systemd" in words,
        is_root=words.get("uid") == "0",
        clock_off=off,
        memory=_number(words.get("memory", "")),
        disk=_number(words.get("disk", "")),
        k3s=words.get("k3s", ""),
        is_port_taken="port" in words,
    )


def require_fit(machine: Machine, facts: Facts, bundle: Bundle) -> None:
    """TargetError that lists everything at once for which nothing can be put on this machine."""
    wrong = tuple(problems(facts, bundle))
    if not wrong:
        return
    if len(wrong) == 1:
        what, move = wrong[0]
        raise TargetError(
            say("{machine} cannot hold the lab: {what}.", machine=machine.name, what=what),
            next_move=say("{move}.", move=move),
        )
    listed = lines([say("{what}: {move}", what=what, move=move) for what, move in wrong])
    raise TargetError(
        say("{machine} cannot hold the lab:\n{list}", machine=machine.name, list=listed),
        next_move=say("Mend all of these, or use another machine. Nothing was changed on it."),
    )


def problems(facts: Facts, bundle: Bundle) -> Iterator[tuple[Message, Message]]:
    """What is wrong with the machine, each with what helps."""
    yield from _system_problems(facts, bundle)
    if facts.k3s == "foreign":
        yield (
            say("a k3s is there already that this lab did not install"),
            say("Use another machine; that k3s is left alone"),
        )
    if facts.is_port_taken:
        yield (
            say("port {port} is taken, and k3s needs it", port=API_PORT),
            say("Stop what listens there (ss -ltnp shows it)"),
        )
    if abs(facts.clock_off) > CLOCK_SECONDS:
        yield (
            say("its clock is {seconds} s off from this machine's", seconds=f"{facts.clock_off:+}"),
            say("Set both by a time server: timedatectl set-ntp true"),
        )
    needed = DISK_MIB if facts.k3s == "none" else DISK_AGAIN_MIB
    if facts.disk < needed:
        yield (
            say(
                "{free} MiB are free in /var/lib; {needed} are needed",
                free=facts.disk,
                needed=needed,
            ),
            say("Free some space there"),
        )
    if facts.memory < MEMORY_MIB:
        yield (
            say(
                "it has {memory} MiB of memory; {needed} are needed",
                memory=facts.memory,
                needed=MEMORY_MIB,
            ),
            say("Give it more"),
        )


def _system_problems(facts: Facts, bundle: Bundle) -> Iterator[tuple[Message, Message]]:
    family = {facts.os.partition("-")[0], *facts.like.split()}
    if not family & set(SYSTEMS) or not facts.has_systemd:
        yield (
            say("it runs {os}, not Debian or Ubuntu with systemd", os=facts.os or "?"),
            say("Use a machine with one of these"),
        )
    elif facts.os != bundle.os and (bundle.all(Kind.DEB) or bundle.all(Kind.WHEEL)):
        yield (
            say("it runs {os}, and the bundle is for {wanted}", os=facts.os, wanted=bundle.os),
            say("Use a machine with {wanted}, or collect a bundle for it", wanted=bundle.os),
        )
    if facts.platform != bundle.platform:
        yield (
            say(
                "it is {platform}, and the bundle is for {wanted}",
                platform=facts.platform,
                wanted=bundle.platform,
            ),
            say("Use a bundle for its platform"),
        )
    if not facts.python:
        yield (
            say("it has no Python 3, which Ansible needs there"),
            say("Install it: apt-get install python3"),
        )


def _number(text: str) -> int:
    return int(text) if text.strip().isdecimal() else 0
