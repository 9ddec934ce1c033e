"""Files of the application in a bundle: whole or not at all, and none that is not listed."""

from __future__ import annotations

import io
import json
import tarfile
import time
from pathlib import Path
from typing import Any

import pytest

from provision.caching import Cache
from provision.errors import TargetError
from provision.local.bundle import write_bundle
from provision.local.cache import PartCache
from provision.local.extras import take_extras
from provision.registry import open_cache
from provision.settings import Settings

FOLDER = "page/0123"


@pytest.fixture
def bundle(tmp_path: Path) -> Path:
    cache = PartCache(tmp_path / "from")
    for name in ("xterm.mjs", "xterm.css"):
        file = cache.root / FOLDER / name
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(name)
    (cache.root / "page" / ".new-x").mkdir()
    (cache.root / "page" / ".new-x" / "half").write_text("half")
    out = tmp_path / "out.tar"
    write_bundle([], cache, out, lambda progress: None, time.monotonic())
    return out


def changed(bundle: Path, out: Path, **changes: Any) -> Path:
    """The bundle with another index, or with other contents of a member."""
    with tarfile.open(bundle) as old, tarfile.open(out, "w") as new:
        for member in old:
            source = old.extractfile(member)
            data = b"" if source is None else source.read()
            if member.name == "bundle.json":
                data = json.dumps({**json.loads(data), **changes.get("index", {})}).encode()
            data = changes.get("members", {}).get(member.name, data)
            info = tarfile.TarInfo(member.name)
            info.size = len(data)
            new.addfile(info, io.BytesIO(data))
    return out


def cache_of(root: Path, bundle: Path | None) -> Cache:
    return open_cache(Settings(cache=root, bundle=bundle))


def test_a_folder_comes_whole(tmp_path: Path, bundle: Path) -> None:
    root = tmp_path / "to"
    assert cache_of(root, bundle).take(FOLDER)
    assert {f.name: f.read_text() for f in (root / FOLDER).iterdir()} == {
        "xterm.mjs": "xterm.mjs",
        "xterm.css": "xterm.css",
    }
    assert [f.name for f in (root / "page").iterdir()] == ["0123"]


def test_without_a_bundle_or_the_folder_in_it_nothing_comes(tmp_path: Path, bundle: Path) -> None:
    root = tmp_path / "to"
    assert not cache_of(root, None).take(FOLDER)
    assert not cache_of(root, bundle).take("page/4567")
    older = changed(bundle, tmp_path / "older.tar", index={"extras": {}})
    assert not cache_of(root, older).take(FOLDER)
    assert not root.exists()


@pytest.mark.parametrize(
    "changes",
    [
        {"members": {f"{FOLDER}/xterm.mjs": b"other"}},
        {"members": {"bundle.json": b"{"}},
        {"index": {"schema": 7}},
        {"index": {"extras": []}},
        {"index": {"extras": {f"{FOLDER}/x": {"size": 1}}}},
        {"index": {"extras": {f"{FOLDER}/absent": {"size": 1, "sha256": "0"}}}},
        {"index": {"extras": {f"{FOLDER}/../../up": {"size": 1, "sha256": "0"}}}},
        {"index": {"extras": {f"{FOLDER}/..": {"size": 1, "sha256": "0"}}}},
    ],
)
def test_a_damaged_bundle_leaves_nothing(tmp_path: Path, bundle: Path, changes: Any) -> None:
    broken = changed(bundle, tmp_path / "broken.tar", **changes)
    with pytest.raises(TargetError, match="is damaged"):
        take_extras(broken, tmp_path / "to", FOLDER)
    assert not (tmp_path / "to" / FOLDER).exists()


def test_an_absent_bundle_is_named(tmp_path: Path) -> None:
    with pytest.raises(TargetError, match="There is no bundle"):
        take_extras(tmp_path / "none.tar", tmp_path / "to", FOLDER)
