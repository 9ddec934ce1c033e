from __future__ import annotations

import io
import json
import tarfile
import time
from pathlib import Path

import pytest

from provision.errors import TargetError
from provision.local.bundle import use_bundle, write_bundle
from provision.local.cache import Entry, FileFact, PartCache
from provision.target import Progress

SHA_OF_HELLO = "2cf24dba5fb0a30e26e83b2ac5b9e29e1b161e5c1fa7425e73043362938b9824"
ENTRY = Entry(
    key="base-v1-linux-amd64-0123",
    name="base",
    platform="linux/amd64",
    versions={"kwok": "v1"},
    files={"bin/kwok": FileFact(5, SHA_OF_HELLO)},
    built="2026-11-30T00:00:00Z",
    go="go1",
)


def a_cache(path: Path) -> PartCache:
    cache = PartCache(path)
    cache.check_writable()
    return cache


@pytest.fixture
def bundle(tmp_path: Path) -> Path:
    cache = a_cache(tmp_path / "from")
    draft = cache.parts / ".draft"
    (draft / "bin").mkdir(parents=True)
    (draft / "bin" / "kwok").write_text("hello")
    cache.add(draft, ENTRY)
    out = tmp_path / "out.tar"
    told: list[Progress] = []
    assert write_bundle([ENTRY], cache, out, told.append, time.monotonic()) == out.stat().st_size
    assert [str(p.stage) for p in told] == ["packing kwok"]
    return out


def test_bundle_brings_the_entry_to_another_cache(tmp_path: Path, bundle: Path):
    cache = a_cache(tmp_path / "to")
    use_bundle(bundle, cache, frozenset({ENTRY.key}))
    assert cache.find(ENTRY.key) == ENTRY
    binary = cache.folder(ENTRY.key) / "bin" / "kwok"
    assert binary.read_text() == "hello"
    assert binary.stat().st_mode & 0o777 == 0o755
    assert {p.name for p in cache.parts.iterdir()} == {ENTRY.key}


def test_bundle_of_something_else_is_refused(tmp_path: Path, bundle: Path):
    cache = a_cache(tmp_path / "to")
    with pytest.raises(TargetError) as caught:
        use_bundle(bundle, cache, frozenset({"base-v1-linux-arm64-0123"}))
    text = str(caught.value.what)
    assert "needs base-v1-linux-arm64-0123" in text
    assert f"holds {ENTRY.key}" in text
    assert not cache.entries()


def repacked(bundle: Path, out: Path, changes: dict[str, bytes | None]) -> Path:
    """The bundle with members replaced (bytes), removed (None) or added."""
    with tarfile.open(bundle) as old, tarfile.open(out, "w") as new:
        members = {m.name: old.extractfile(m).read() for m in old}
        for name, data in {**members, **changes}.items():
            if data is not None:
                info = tarfile.TarInfo(name)
                info.size = len(data)
                new.addfile(info, io.BytesIO(data))
    return out


@pytest.mark.parametrize(
    ("changes", "words"),
    [
        ({f"{ENTRY.key}/bin/kwok": b"hellO"}, "checksum of bin/kwok is wrong"),
        ({f"{ENTRY.key}/bin/kwok": b"hello and more"}, "checksum of bin/kwok is wrong"),
        ({f"{ENTRY.key}/bin/kwok": None}, "bin/kwok is missing"),
        ({"bundle.json": b"{"}, "is damaged"),
        ({"bundle.json": b'{"schema": 7, "entries": []}'}, "schema 7"),
        ({"bundle.json": None}, r"does not begin with bundle\.json"),
    ],
)
def test_damaged_bundle_is_refused(tmp_path: Path, bundle: Path, changes, words: str):
    cache = a_cache(tmp_path / "to")
    with pytest.raises(TargetError, match=words):
        use_bundle(repacked(bundle, tmp_path / "bad.tar", changes), cache, frozenset({ENTRY.key}))
    assert not list(cache.parts.iterdir())


def test_path_out_of_the_cache_is_refused(tmp_path: Path, bundle: Path):
    with tarfile.open(bundle) as tar:
        index = json.loads(tar.extractfile("bundle.json").read())
    index["entries"][0]["files"] = {"../../evil": {"size": 5, "sha256": SHA_OF_HELLO}}
    changes = {"bundle.json": json.dumps(index).encode(), f"{ENTRY.key}/../../evil": b"hello"}
    cache = a_cache(tmp_path / "to")
    with pytest.raises(TargetError, match="is not a file"):
        use_bundle(repacked(bundle, tmp_path / "bad.tar", changes), cache, frozenset({ENTRY.key}))
    assert not (tmp_path / "evil").exists()


@pytest.mark.parametrize("content", [b"", b"not a tar file at all" * 100])
def test_file_that_is_no_bundle(tmp_path: Path, content: bytes):
    (tmp_path / "x.tar").write_bytes(content)
    with pytest.raises(TargetError, match="is damaged"):
        use_bundle(tmp_path / "x.tar", a_cache(tmp_path / "to"), frozenset({"k"}))


def test_bundle_that_is_not_there(tmp_path: Path):
    with pytest.raises(TargetError, match="no bundle at"):
        use_bundle(tmp_path / "x.tar", a_cache(tmp_path / "to"), frozenset({"k"}))
