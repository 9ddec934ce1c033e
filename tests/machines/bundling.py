"""The bundle of stand-ins that a test machine is provisioned from, as `make bundle` makes one."""

from __future__ import annotations

import functools
import hashlib
import os
import shutil
import subprocess
import tempfile
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from urllib.parse import unquote

from lab.web.assets import fetch
from provision.local.cache import remove_tree
from provision.target import silent
from provision.vm.bundle.checking import Artefact, Bundle, Kind, check_bundle, file_sum, write_index
from provision.vm.collecting.plan import read_plan
from provision.vm.collecting.wheels import collect_wheels, wheel_artefact
from provision.vm.wheel import build_wheel
from tests.machines.images import Image, write_image
from tests.machines.manifests import (
    FAKE_GPU_IMAGE,
    FAKE_GPUS,
    TRAINING_IMAGES,
    jobset_manifest,
    kueue_image,
    kueue_manifest,
    trainer_module,
)
from tests.machines.needs import BUSYBOX
from tests.machines.parts import own_program, parts, training_parts
from tests.machines.places import cache, settings
from tests.machines.rootfs import debs
from tests.machines.standin_file import pack_standin

K3S = "v1.36.3+k3s1"
SANDBOX = "registry.k8s.io/pause:3.10.1"
NOBODY = "65532"


@dataclass(frozen=True, slots=True)
class Versions:
    """What the bundle calls its k3s and its Kueue; the programs are the same whatever it says."""

    k3s: str = K3S
    kueue: str = ""

    @property
    def of_kueue(self) -> str:
        """That of the Kueue which is built here, when nothing else is said."""
        return self.kueue or parts().versions["kueue"]


def make_bundle(
    folder: Path, versions: Versions = Versions(), *, has_training: bool = False
) -> Bundle:
    """Fill `folder`, which may be there and hold an older bundle; all is made without a registry.

    With `has_training` it holds JobSet and Trainer, too, for the labs that ask for them.
    What takes long is made once and kept in the cache: there is a network when a test begins.
    """
    folder.mkdir(parents=True, exist_ok=True)
    artefacts = [
        *_binaries(folder, versions),
        *_images(folder, versions),
        *_manifests(folder, versions),
        *(_training(folder) if has_training else ()),
        *_debs(folder),
        *_wheels(folder),
    ]
    plan = read_plan()
    bundle = Bundle(folder, plan.platform, plan.os, tuple(artefacts))
    write_index(bundle)
    check_bundle(bundle)
    return bundle


def shared_bundle(*, has_training: bool = False) -> Path:
    """A bundle in the cache, for a person who tries something: its name says what is in it."""
    above = cache() / "bundles"
    above.mkdir(parents=True, exist_ok=True)
    draft = Path(tempfile.mkdtemp(prefix=".new-", dir=above))
    try:
        bundle = make_bundle(draft, has_training=has_training)
        sums = "".join(artefact.sha256 for artefact in bundle.artefacts)
        target = above / hashlib.sha256(sums.encode()).hexdigest()[:16]
        if not target.exists():
            draft.chmod(0o755)
            draft.rename(target)
    finally:
        remove_tree(draft)
    return target


def _artefact(folder: Path, kind: Kind, name: str, version: str, file: str) -> Artefact:
    return Artefact(name, kind, version, file, file_sum(folder / file))


def _binaries(folder: Path, versions: Versions) -> list[Artefact]:
    (folder / "k3s").write_bytes(pack_standin(versions.k3s))
    (folder / "k3s").chmod(0o755)
    return [_artefact(folder, Kind.BINARY, "k3s", versions.k3s, "k3s")]


def _images(folder: Path, versions: Versions) -> list[Artefact]:
    kueue = versions.of_kueue
    wanted = [
        ("k3s-images", versions.k3s, _pause()),
        ("busybox", "1.36", _busybox()),
        ("fakegpu", "1", _fake_gpu()),
        ("kueue-image", kueue, _kueue(kueue)),
    ]
    return [_image(folder, *one) for one in wanted]


def _image(folder: Path, name: str, version: str, image: Image) -> Artefact:
    sources = b"".join(p.read_bytes() for p in image.files.values())
    key = hashlib.sha256(repr(image).encode() + sources).hexdigest()[:16]
    made = _once(f"image-{name}-{key}.tar", functools.partial(write_image, image))
    _link(made, folder / "images" / f"{name}.tar")
    return _artefact(folder, Kind.IMAGES, name, version, f"images/{name}.tar")


def _pause() -> Image:
    return Image(SANDBOX, {"/pause": own_program("pause")}, entrypoint=("/pause",), user=NOBODY)


def _busybox() -> Image:
    listed = subprocess.run([BUSYBOX, "--list"], capture_output=True, text=True, check=True)
    applets = [name for name in listed.stdout.split() if name != "busybox"]
    return Image(
        "docker.io/library/busybox:1.36",
        {"/bin/busybox": BUSYBOX},
        {f"/bin/{name}": "busybox" for name in applets},
        command=("sh",),
    )


def _fake_gpu() -> Image:
    program = own_program("fakegpu")
    return Image(FAKE_GPU_IMAGE, {"/fakegpu": program}, entrypoint=("/fakegpu",))


def _kueue(version: str) -> Image:
    program = parts().binaries["kueue"]
    reference = kueue_image(version)
    return Image(reference, {"/manager": program}, entrypoint=("/manager",), user=NOBODY)


def _manifests(folder: Path, versions: Versions) -> list[Artefact]:
    kueue = versions.of_kueue
    built = parts().versions["kueue"]
    made = _once(
        f"kueue-{kueue}-of-{built}.yaml",
        lambda out: out.write_text(kueue_manifest(kueue), "utf-8"),
    )
    _link(made, folder / "manifests" / "kueue.yaml")
    (folder / "manifests" / "device-plugin.yaml").write_text(FAKE_GPUS, "utf-8")
    return [
        _artefact(folder, Kind.MANIFEST, "kueue", kueue, "manifests/kueue.yaml"),
        _artefact(folder, Kind.MANIFEST, "device-plugin", "1", "manifests/device-plugin.yaml"),
    ]


def _training(folder: Path) -> list[Artefact]:
    """JobSet's manifest as a release has it, Trainer's module, and images of what is built here."""
    built = training_parts()
    found = []
    for name, reference in TRAINING_IMAGES.items():
        version = built.versions[name]
        files = {"/manager": built.binaries[name]}
        image = Image(f"{reference}:{version}", files, entrypoint=("/manager",), user=NOBODY)
        found.append(_image(folder, f"{name}-image", version, image))
    jobset, trainer = (built.versions[name] for name in TRAINING_IMAGES)
    made = _once(
        f"jobset-{jobset}.yaml", lambda out: out.write_text(jobset_manifest(jobset), "utf-8")
    )
    _link(made, folder / "manifests" / "jobset.yaml")
    _link(trainer_module(), folder / "manifests" / "trainer.zip")
    return [
        *found,
        _artefact(folder, Kind.MANIFEST, "jobset", jobset, "manifests/jobset.yaml"),
        _artefact(folder, Kind.MANIFEST, "trainer", trainer, "manifests/trainer.zip"),
    ]


def _debs(folder: Path) -> list[Artefact]:
    found = []
    for deb in debs():
        _link(deb, folder / "debs" / deb.name)
        name, version, _ = deb.stem.split("_")
        found.append(_artefact(folder, Kind.DEB, name, unquote(version), f"debs/{deb.name}"))
    return found


def _wheels(folder: Path) -> list[Artefact]:
    """Those that the lock file names, and our own, made of the sources as they are now."""
    kept = cache() / "wheels"
    kept.mkdir(parents=True, exist_ok=True)
    locked = collect_wheels(read_plan(), kept, os.environ)
    for wheel in locked:
        _link(kept / wheel.file, folder / wheel.file)
    assets = fetch(settings().cache, os.environ, silent)
    ours = build_wheel(folder / "wheels", assets)
    return [wheel_artefact(folder, ours), *locked]


def _once(name: str, make: Callable[[Path], object]) -> Path:
    """A file of the cache, made now when it is not there."""
    target = cache() / "pieces" / name
    if not target.exists():
        target.parent.mkdir(parents=True, exist_ok=True)
        handle, draft = tempfile.mkstemp(prefix=".new-", dir=target.parent)
        os.close(handle)
        try:
            make(Path(draft))
            Path(draft).chmod(0o644)
            Path(draft).rename(target)
        finally:
            Path(draft).unlink(missing_ok=True)
    return target


def _link(source: Path, target: Path) -> None:
    """The same file under a second name; a copy where the folders are on different disks."""
    target.parent.mkdir(parents=True, exist_ok=True)
    target.unlink(missing_ok=True)
    try:
        os.link(source, target)
    except OSError:
        shutil.copyfile(source, target)
