"""Taking a place's own files off this machine."""

from __future__ import annotations

import shutil
from pathlib import Path


def remove_home(home: Path, foreign: frozenset[str]) -> None:
    """Remove everything below `home` but what was there before it became a place."""
    for path in home.iterdir():
        if path.name in foreign:
            continue
        if path.is_dir() and not path.is_symlink():
            shutil.rmtree(path)
        else:
            path.unlink()
    if not any(home.iterdir()):
        home.rmdir()
