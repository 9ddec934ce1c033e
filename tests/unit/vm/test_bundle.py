from __future__ import annotations

import hashlib
import os
from pathlib import Path

import pytest
import yaml

from provision.errors import TargetError
from provision.vm.bundle.checking import Artefact, Kind, check_bundle, read_bundle, write_index


def sha(data: bytes) -> str:
    return hashlib.sha256(data).hexdigest()


ROWS = [
    {"name": "k3s", "kind": "binary", "version": "v1.36.3+k3s1", "file": "k3s"},
    {"name": "kueue", "kind": "manifest", "version": "v0.20.3", "file": "manifests/kueue.yaml"},
    {"name": "kueue-image", "kind": "images", "version": "v0.20.3", "file": "images/kueue.tar"},
    {"name": "gpu-queue-lab", "kind": "wheel", "version": "0.1.0", "file": "wheels/ours.whl"},
]


def index(rows: list, **changes: object) -> str:
    head = {"schema": 1, "platform": "linux/amd64", "os": "debian-12", "artefacts": rows}
    return yaml.safe_dump({**head, **changes}, sort_keys=False)


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    rows = []
    for row in ROWS:
        path = tmp_path / row["file"]
        path.parent.mkdir(exist_ok=True)
        path.write_bytes(row["name"].encode())
        rows.append({**row, "sha256": sha(row["name"].encode())})
    (tmp_path / "bundle.yaml").write_text(index(rows))
    return tmp_path


def change(folder: Path, number: int, **changes: object) -> None:
    raw = yaml.safe_load((folder / "bundle.yaml").read_text())
    raw["artefacts"][number].update(changes)
    (folder / "bundle.yaml").write_text(yaml.safe_dump(raw))


def refusal(folder: Path, **wanted: str) -> str:
    with pytest.raises(TargetError) as caught:
        check_bundle(read_bundle(folder), **wanted)
    assert "make bundle TARGET=vm" in str(caught.value.next_move)
    assert caught.value.exit_code == 3
    return str(caught.value)


def test_a_whole_bundle_is_read_and_passes(folder: Path):
    bundle = read_bundle(folder)
    check_bundle(bundle, platform="linux/amd64", system="debian-12")
    k3s = bundle.one("k3s", "binary")
    assert k3s == Artefact("k3s", Kind.BINARY, "v1.36.3+k3s1", "k3s", sha(b"k3s"))
    assert bundle.path(bundle.one("kueue", "manifest")) == folder / "manifests" / "kueue.yaml"
    assert [a.name for a in bundle.all("images")] == ["kueue-image"]


def test_what_is_written_is_read_back(folder: Path):
    bundle = read_bundle(folder)
    before = (folder / "bundle.yaml").read_text()
    write_index(bundle)
    assert read_bundle(folder) == bundle
    assert (folder / "bundle.yaml").read_text() == before


def test_all_that_is_missing_or_altered_is_told_at_once(folder: Path):
    (folder / "k3s").unlink()
    (folder / "images" / "kueue.tar").write_bytes(b"kueue-imagf")
    change(folder, 3, name="another")
    told = refusal(folder, platform="linux/arm64", system="debian-13").splitlines()
    assert told[1:] == [
        "- it is for linux/amd64, the machine is linux/arm64",
        "- it is for debian-12, the machine is debian-13",
        "- gpu-queue-lab (wheel) is not in it",
        "- k3s is missing",
        f"- images/kueue.tar is altered: its sha256 is {sha(b'kueue-imagf')}",
    ]


@pytest.mark.timeout(10)
def test_links_pipes_and_folders_are_no_artefacts(folder: Path, tmp_path_factory):
    beyond = tmp_path_factory.mktemp("beyond")
    (beyond / "kueue.yaml").write_bytes(b"kueue")
    (beyond / "k3s").write_bytes(b"k3s")
    (folder / "k3s").unlink()
    (folder / "k3s").symlink_to(beyond / "k3s")
    (folder / "manifests" / "kueue.yaml").unlink()
    (folder / "manifests").rmdir()
    (folder / "manifests").symlink_to(beyond)
    (folder / "images" / "kueue.tar").unlink()
    os.mkfifo(folder / "images" / "kueue.tar")
    (folder / "wheels" / "ours.whl").unlink()
    (folder / "wheels" / "ours.whl").mkdir()
    told = refusal(folder)
    assert "k3s cannot be read: Too many levels of symbolic links" in told
    assert "manifests/kueue.yaml lies behind a link" in told
    assert "images/kueue.tar cannot be read: not a plain file" in told
    assert "wheels/ours.whl cannot be read: Is a directory" in told


@pytest.mark.parametrize(
    "file",
    ["../k3s", "/etc/passwd", "a/../../b", "a\\b", "", ".", "./k3s", "a//b", "a\nb", "bundle.yaml"],
)
def test_a_path_that_leaves_the_folder_is_refused(folder: Path, file: str):
    change(folder, 0, file=file)
    assert "k3s: " in refusal(folder)


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("", "no mapping"),
        ("- 1", "no mapping"),
        ("schema: 2\nartefacts: what the future has", "schema 2 is not known; 1 is"),
        ("schema: true", "schema True is not known"),
        ("schema: [", "bundle.yaml: "),
        ("a: &a 1\nb: *a", "anchors and aliases are not read"),
        ("[" * 20, "too deep"),
        ("[" * 100_000, "depth"),
        (index([]), "it lists no artefacts"),
        (index(["k3s", None]), "artefact 2 is no mapping"),
        (index([{"name": "k3s", "kind": "binary"}]), "k3s: version, file, sha256 must be text"),
        (index([{**ROWS[0], "sha256": "unknown"}]), "k3s: sha256 is not 64 hex digits"),
        (index([{**ROWS[0], "sha256": sha(b""), "mode": "x"}]), "k3s: unknown mode"),
        (index([{**ROWS[0], "sha256": sha(b""), "kind": "x"}]), "k3s: unknown kind x"),
        (
            index([{**ROWS[0], "sha256": sha(b"")}, {**ROWS[0], "sha256": sha(b"")}]),
            "k3s (binary) is listed twice",
        ),
        (index([{**ROWS[0], "sha256": sha(b"")}], platform="plan9/mips"), "plan9/mips"),
        (index([{**ROWS[0], "sha256": sha(b"")}], os=12), "os 12 is not of the form debian-12"),
        ("x" * 2_000_000, "it is larger than 1048576 bytes"),
        ("\xff", "bundle.yaml: "),
    ],
)
def test_an_index_that_cannot_be_meant_is_refused(tmp_path: Path, text: str, reason: str):
    (tmp_path / "bundle.yaml").write_bytes(text.encode("latin-1"))
    assert reason in refusal(tmp_path)


@pytest.mark.timeout(10)
def test_an_index_that_is_no_file_is_refused(tmp_path: Path):
    assert "there is no such folder" in refusal(tmp_path / "nowhere")
    assert "there is no bundle.yaml in it" in refusal(tmp_path)
    (tmp_path / "parts.tar").write_bytes(b"")
    assert "a bundle of the vm target is a folder" in refusal(tmp_path / "parts.tar")
    os.mkfifo(tmp_path / "bundle.yaml")
    assert "not a plain file" in refusal(tmp_path)


def test_all_faults_of_an_index_are_told_at_once(folder: Path):
    change(folder, 0, sha256="no")
    change(folder, 1, kind="no")
    change(folder, 2, file="../no")
    assert len(refusal(folder).splitlines()) == 4


def test_hundreds_of_missing_files_are_all_listed(tmp_path: Path):
    rows = [
        {"name": f"n{i}", "kind": "deb", "version": "1", "file": f"d/{i}", "sha256": sha(b"")}
        for i in range(900)
    ]
    (tmp_path / "bundle.yaml").write_text(index(rows))
    assert len(refusal(tmp_path).splitlines()) == 900 + 4


def test_a_part_that_is_not_there_is_named(folder: Path):
    with pytest.raises(TargetError, match=r"device-plugin \(manifest\) is not in it"):
        read_bundle(folder).one("device-plugin", "manifest")
