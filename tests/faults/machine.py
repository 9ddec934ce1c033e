"""Faults of the machine that grades: disk, memory, clock."""

from __future__ import annotations

import contextlib
import os
import shutil
import site as python_site
import subprocess
import sys
import tempfile
import textwrap
import threading
from collections.abc import Iterator
from pathlib import Path

import psutil

from tests.faults.site import Injection, Site, Way
from tests.integration.cli import LAB

BLOCK = 512  # bytes, the unit of `ulimit -f`


def _limited(limit: str) -> Way:
    return Way(("/bin/sh", "-c", f'ulimit {limit}; exec "$@"', "sh", str(LAB)))


@contextlib.contextmanager
def no_file_grows(_: Site) -> Iterator[Way]:
    """No byte can be written to any file (RLIMIT_FSIZE)."""
    yield _limited("-f 0")


@contextlib.contextmanager
def record_cannot_grow(site: Site) -> Iterator[Way]:
    """All but the record of progress has room: it is longer than any file may become."""
    blocks = 200
    record = site.lab.progress
    padded = record.read_bytes() + b"\n" * (blocks * BLOCK + 1)
    with site.replaced(record, padded):
        yield _limited(f"-f {blocks}")


@contextlib.contextmanager
def little_room(_: Site) -> Iterator[Way]:
    """Temporary files lie on a disk of 8 KB, which only the command sees."""
    folder = tempfile.mkdtemp(prefix="lab-full-")
    become = () if os.getuid() == 0 else ("--map-root-user",)
    script = 'mount -t tmpfs -o size=8k none "$TMPDIR"; exec "$@"'
    try:
        yield Way(
            ("unshare", "--mount", *become, "/bin/sh", "-ec", script, "sh", str(LAB)),
            {"TMPDIR": folder},
        )
    finally:
        shutil.rmtree(folder)


@contextlib.contextmanager
def grader_killed(_: Site) -> Iterator[Way]:
    """The process of the checks is killed as soon as it is there, as when memory runs out."""
    over = threading.Event()

    def hunt() -> None:
        while not over.wait(0.02):
            for child in psutil.Process().children(recursive=True):
                with contextlib.suppress(psutil.Error):
                    if any(word.startswith("--lab-request") for word in child.cmdline()):
                        child.kill()

    hunter = threading.Thread(target=hunt)
    hunter.start()
    try:
        yield Way()
    finally:
        over.set()
        hunter.join()


def clock_off(seconds: int) -> Injection:
    """The command and its checks see a clock that is off by so many seconds.

    A virtual environment of its own holds a start file that moves Python's clocks; the packages are
    those of this one. (The checks start Python without PYTHONPATH, so a folder there would not do.)
    """
    code = textwrap.dedent(f"""
        import datetime, site, time
        for folder in {python_site.getsitepackages()!r}:
            site.addsitedir(folder)
        _time, _time_ns = time.time, time.time_ns
        time.time = lambda: _time() + {seconds}
        time.time_ns = lambda: _time_ns() + {seconds} * 10**9

        class datetime_(datetime.datetime):
            @classmethod
            def now(cls, tz=None):
                return cls.fromtimestamp(time.time(), tz)

        datetime_.__name__ = "datetime"
        datetime.datetime = datetime_
    """)

    @contextlib.contextmanager
    def inject(_: Site) -> Iterator[Way]:
        folder = Path(tempfile.mkdtemp(prefix="lab-clock-"))
        try:
            made = [sys.executable, "-m", "venv", "--without-pip", "--symlinks", str(folder)]
            subprocess.run(made, check=True)
            packages = next(folder.glob("lib/python*/site-packages"))
            (packages / "sitecustomize.py").write_text(code, encoding="utf-8")
            yield Way((str(folder / "bin" / "python"), "-m", "lab"))
        finally:
            shutil.rmtree(folder)

    return inject
