"""A copy of etcd's data as it was when the cluster was first complete; `reset` starts from it.

etcd is stopped with SIGSTOP while its files are copied. What is copied is what a `kill -9` at that
moment would leave on disk, and etcd is built to start from that: its log is replayed and its
database keeps its last complete page. The copy takes the size of the data, not of the files: etcd
lays out 64 MB logs ahead, which are zeros and stay holes in the copy.
"""

from __future__ import annotations

import os
import shutil
import signal
from pathlib import Path

from provision.files import naming

BLOCK = 1 << 20
ZEROS = bytes(BLOCK)


def take_snapshot(etcd_pid: int, data: Path, target: Path) -> None:
    """Copy `data`, the folder of the running etcd, to `target`, all of it or nothing."""
    draft = target.with_name(f".{target.name}.unfinished")
    _remove(draft)
    os.kill(etcd_pid, signal.SIGSTOP)
    try:
        _copy_folder(data, draft)
    finally:
        os.kill(etcd_pid, signal.SIGCONT)
    _remove(target)
    draft.rename(target)


def restore_snapshot(snapshot: Path, data: Path) -> None:
    """Put a copy of the snapshot in the place of `data`; etcd must not be running.

    Broken off half way there are no data, and the next start prepares the cluster from nothing.
    """
    draft = data.with_name(f".{data.name}.unfinished")
    _remove(draft)
    _copy_folder(snapshot, draft)
    _remove(data)
    draft.rename(data)


def _copy_folder(source: Path, target: Path) -> None:
    """Copy files and folders; the first OSError ends it (shutil.copytree gathers them unnamed)."""
    target.mkdir(mode=0o700)
    for path in sorted(source.iterdir()):
        if path.is_dir():
            _copy_folder(path, target / path.name)
        else:
            copy_sparse(path, target / path.name)


def copy_sparse(source: Path, target: Path) -> None:
    """Copy a file, leaving holes where it has blocks of zeros, with its mode."""
    with naming(target), source.open("rb") as reader, target.open("wb") as writer:
        while block := reader.read(BLOCK):
            if block == ZEROS[: len(block)]:
                writer.seek(len(block), os.SEEK_CUR)
            else:
                writer.write(block)
        writer.truncate()
    shutil.copymode(source, target)


def _remove(folder: Path) -> None:
    if folder.exists():
        shutil.rmtree(folder)
