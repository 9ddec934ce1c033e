"""An image of a registry as one tar file that `ctr images import` and k3s take, and charts."""

from __future__ import annotations

import io
import json
import shutil
import tarfile
from pathlib import Path
from typing import Any

from provision.message import say
from provision.vm.collecting.net import NotHad
from provision.vm.collecting.oci import CHART_LAYER, Blob, Manifest, Reference, Registry
from provision.vm.collecting.sums import file_sums

NAME = "io.containerd.image.name"  # containerd, core/images/annotations.go
REF = "org.opencontainers.image.ref.name"


def pull_image(
    registry: Registry, reference: Reference, platform: str, digest: str, target: Path
) -> str:
    """Write an image to `target` as a tar; its sha256 in hex. NotHad when it cannot be had.

    The same image gives the same bytes. Layers that an earlier run has got are kept beside `target`
    until it is whole.
    """
    manifest = registry.manifest(reference, platform, digest)
    pieces = target.with_name(f".{target.name}.pieces")
    for blob in _blobs(manifest):
        if not (pieces / _hex(blob)).is_file():
            registry.blob(reference, blob, pieces / _hex(blob))
    sum_ = _write(manifest, reference, platform, pieces, target)
    shutil.rmtree(pieces, ignore_errors=True)
    return sum_


def pull_chart(
    registry: Registry, reference: Reference, platform: str, digest: str, target: Path
) -> str:
    """Write a Helm chart's .tgz to `target`; its sha256 in hex. NotHad when it cannot be had."""
    manifest = registry.manifest(reference, platform, digest)
    for layer in manifest.layers:
        if layer.media_type == CHART_LAYER:
            return registry.blob(reference, layer, target)
    raise NotHad(say("{image} is no chart", image=reference))


def _blobs(manifest: Manifest) -> tuple[Blob, ...]:
    """Configuration and layers, each once: images repeat the empty layer."""
    return tuple({b.digest: b for b in (manifest.config, *manifest.layers)}.values())


def _hex(blob: Blob) -> str:
    return blob.digest.removeprefix("sha256:")


def _write(
    manifest: Manifest, reference: Reference, platform: str, pieces: Path, target: Path
) -> str:
    draft = target.with_name(f".{target.name}.draft")
    try:
        with tarfile.open(draft, "w", format=tarfile.GNU_FORMAT) as tar:
            _add(tar, "oci-layout", json.dumps({"imageLayoutVersion": "1.0.0"}).encode())
            _add(tar, "index.json", _index(manifest, reference, platform))
            _add(tar, "manifest.json", _docker_index(manifest, reference))
            _add(tar, f"blobs/sha256/{manifest.digest.removeprefix('sha256:')}", manifest.content)
            for blob in _blobs(manifest):
                _add_file(tar, f"blobs/sha256/{_hex(blob)}", pieces / _hex(blob))
        digest = file_sums(draft)["sha256"]
        draft.replace(target)
    finally:
        draft.unlink(missing_ok=True)
    return digest


def _index(manifest: Manifest, reference: Reference, platform: str) -> bytes:
    system, _, machine = platform.partition("/")
    entry: dict[str, Any] = {
        "mediaType": manifest.media_type,
        "digest": manifest.digest,
        "size": len(manifest.content),
        "platform": {"os": system, "architecture": machine},
        "annotations": {NAME: str(reference), REF: reference.tag},
    }
    return json.dumps({"schemaVersion": 2, "manifests": [entry]}, indent=1).encode()


def _docker_index(manifest: Manifest, reference: Reference) -> bytes:
    """The `manifest.json` of `docker save`; paths are those of the same blobs."""
    entry = {
        "Config": f"blobs/sha256/{_hex(manifest.config)}",
        "RepoTags": [str(reference)],
        "Layers": [f"blobs/sha256/{_hex(layer)}" for layer in manifest.layers],
    }
    return json.dumps([entry], indent=1).encode()


def _add(tar: tarfile.TarFile, name: str, content: bytes) -> None:
    info = tarfile.TarInfo(name)
    info.size = len(content)
    tar.addfile(info, io.BytesIO(content))


def _add_file(tar: tarfile.TarFile, name: str, path: Path) -> None:
    info = tarfile.TarInfo(name)
    info.size = path.stat().st_size
    with path.open("rb") as file:
        tar.addfile(info, file)
