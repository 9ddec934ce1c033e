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

BLOCK = 1 << 20
ZEROS = bytes(BLOCK)


def take_snapshot(etcd_pid: int, data: Path, target: Path) -> None:
    """Copy `data`, the folder of the running etcd, to `target`, all of it or nothing."""
    draft = target.with_name(f".{target.name}.unfinished")
    _remove(draft)
    os.kill(etcd_pid, signal.SIGSTOP)
    try:
        shutil.copytree(data, draft, copy_function=copy_sparse)
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
    shutil.copytree(snapshot, draft, copy_function=copy_sparse)
    _remove(data)
    draft.rename(data)


def copy_sparse(source: str, target: str) -> str:
    """Copy a file, leaving holes where it has blocks of zeros, with its mode."""
    with Path(source).open("rb") as reader, Path(target).open("wb") as writer:
        while block := reader.read(BLOCK):
            if block == ZEROS[: len(block)]:
                writer.seek(len(block), os.SEEK_CUR)
            else:
                writer.write(block)
        writer.truncate()
    shutil.copymode(source, target)
    return target


def _remove(folder: Path) -> None:
    if folder.exists():
        shutil.rmtree(folder)
