"""What is kept of a machine that is up, so that any later process can find it and take it down."""

from __future__ import annotations

import contextlib
import json
from dataclasses import asdict, dataclass
from pathlib import Path

import psutil

from provision.files import write_atomically
from tests.machines.places import RUNS

FILE = "record.json"


@dataclass(frozen=True, slots=True)
class Record:
    """One machine: its `name`, the `subnet` number n of 10.213.n.0/24, and its outer process.

    `started` is the process's start time in seconds since the epoch: a pid alone may be another's.
    """

    name: str
    subnet: int
    pid: int
    started: float

    @property
    def folder(self) -> Path:
        """All that the machine has on disk."""
        return RUNS / self.name

    @property
    def address(self) -> str:
        """The machine's."""
        return f"10.213.{self.subnet}.2"

    @property
    def gateway(self) -> str:
        """That of the host, on the machine's bridge."""
        return f"10.213.{self.subnet}.1"

    @property
    def bridge(self) -> str:
        """The interface on the host that holds the gateway's address; it outlives a reboot."""
        return f"br-{self.name}"

    @property
    def identity(self) -> Path:
        """The private key that root, maker and guest of the machine accept."""
        return self.folder / "id"

    @property
    def known_hosts(self) -> Path:
        """The machine's host key, for its address."""
        return self.folder / "known_hosts"

    def process(self) -> psutil.Process | None:
        """The outer process, when it is still that one and alive."""
        with contextlib.suppress(psutil.Error):
            process = psutil.Process(self.pid)
            if abs(process.create_time() - self.started) < 1 and is_alive(process):
                return process
        return None

    def write(self) -> None:
        """Keep it."""
        write_atomically(self.folder / FILE, json.dumps(asdict(self)))


def is_alive(process: psutil.Process) -> bool:
    """Whether it runs; one that has ended and waits to be reaped does not."""
    try:
        return process.status() != psutil.STATUS_ZOMBIE
    except psutil.Error:
        return False


def read_record(name: str) -> Record | None:
    """The record of a machine, if there is one."""
    try:
        return Record(**json.loads((RUNS / name / FILE).read_text("utf-8")))
    except FileNotFoundError:
        return None


def all_names() -> tuple[str, ...]:
    """The machines that have been started here and not taken down, whatever is left of them."""
    return tuple(sorted(p.name for p in RUNS.iterdir())) if RUNS.is_dir() else ()
