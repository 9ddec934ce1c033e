"""Container images of one layer, written as `docker save` would, without any registry."""

from __future__ import annotations

import hashlib
import io
import json
import tarfile
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path, PurePosixPath

EPOCH = "1970-01-01T00:00:00Z"
PATH = "PATH=/bin:/usr/bin:/sbin:/usr/sbin"


@dataclass(frozen=True, slots=True)
class Image:
    """An image FROM scratch: `files` maps a path in it to one here, `links` a path to its target.

    `user` is a numeric id where it is not root.
    """

    reference: str
    files: Mapping[str, Path]
    links: Mapping[str, str] = field(default_factory=dict)
    entrypoint: tuple[str, ...] = ()
    command: tuple[str, ...] = ()
    user: str = ""


def write_image(image: Image, out: Path, cpu: str = "amd64") -> None:
    """Write the archive; the same image gives the same bytes."""
    layer = _layer(image)
    digest = hashlib.sha256(layer).hexdigest()
    settings = {
        "Entrypoint": list(image.entrypoint),
        "Cmd": list(image.command),
        "User": image.user,
        "Env": [PATH],
        "WorkingDir": "/",
    }
    config = _json(
        {
            "architecture": cpu,
            "os": "linux",
            "created": EPOCH,
            "config": {name: value for name, value in settings.items() if value},
            "rootfs": {"type": "layers", "diff_ids": [f"sha256:{digest}"]},
            "history": [{"created": EPOCH, "created_by": "tests"}],
        }
    )
    names = (f"{hashlib.sha256(config).hexdigest()}.json", f"{digest}/layer.tar")
    index = [{"Config": names[0], "RepoTags": [image.reference], "Layers": [names[1]]}]
    out.parent.mkdir(parents=True, exist_ok=True)
    with tarfile.open(out, "w") as archive:
        for name, data in ((names[0], config), (names[1], layer), ("manifest.json", _json(index))):
            _add(archive, name, data, 0o644)


def _layer(image: Image) -> bytes:
    packed = io.BytesIO()
    with tarfile.open(fileobj=packed, mode="w", format=tarfile.PAX_FORMAT) as archive:
        for folder in _folders([*image.files, *image.links]):
            info = tarfile.TarInfo(folder)
            info.type, info.mode = tarfile.DIRTYPE, 0o1777 if folder == "tmp" else 0o755
            archive.addfile(info)
        for name, source in sorted(image.files.items()):
            _add(archive, name.lstrip("/"), source.read_bytes(), 0o755)
        for name, target in sorted(image.links.items()):
            info = tarfile.TarInfo(name.lstrip("/"))
            info.type, info.linkname = tarfile.SYMTYPE, target
            archive.addfile(info)
    return packed.getvalue()


def _folders(names: list[str]) -> list[str]:
    """All folders above these names, and /tmp; those above first."""
    above = {str(p) for n in names for p in PurePosixPath(n.lstrip("/")).parents}
    return sorted((above | {"tmp"}) - {"."})


def _add(archive: tarfile.TarFile, name: str, data: bytes, mode: int) -> None:
    info = tarfile.TarInfo(name)
    info.size, info.mode = len(data), mode
    archive.addfile(info, io.BytesIO(data))


def _json(content: object) -> bytes:
    return json.dumps(content, sort_keys=True).encode()
