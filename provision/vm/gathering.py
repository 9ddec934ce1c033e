"""The bundle of a run: the one that BUNDLE names, or one that is collected into the cache."""

from __future__ import annotations

import time
from dataclasses import dataclass, replace
from pathlib import Path

from provision.message import Message, say
from provision.settings import Settings
from provision.target import Progress, Tell
from provision.vm.bundle import NEEDS, Bundle, Kind, check_bundle, read_bundle
from provision.vm.choosing import Choices
from provision.vm.settings import PROVIDERS, VmSettings

COLLECTED = "vm-bundle"
# What a bundle must hold for a provider of GPUs beside what every machine needs.
PROVIDER_NEEDS = {
    "fake-gpu-operator": (("fake-gpu-operator", Kind.CHART),),
    "device-plugin": (("device-plugin", Kind.MANIFEST),),
}


@dataclass(frozen=True, slots=True)
class Gathered:
    """A bundle of which every file was checked, and what is worth knowing of it."""

    bundle: Bundle
    remarks: tuple[Message, ...]


def gather(choices: Choices, settings: Settings, tell: Tell, started: float) -> Gathered:
    """The checked bundle; TargetError lists all that is missing or altered in it at once."""
    remarks: tuple[Message, ...] = ()
    if choices.bundle:
        bundle = read_bundle(Path(choices.bundle))
    else:
        bundle, remarks = _collect(choices, settings, tell)
    stage = say("checking the bundle {path}", path=bundle.folder)
    tell(Progress(stage, time.monotonic() - started))
    check_bundle(bundle, needs=(*NEEDS, *PROVIDER_NEEDS.get(choices.gpus, ())))
    tell(Progress(stage, time.monotonic() - started, is_done=True))
    return Gathered(bundle, remarks)


def with_disk(vm: VmSettings, bundle: Bundle) -> VmSettings:
    """The settings with the bundle's own cloud image for QEMU, unless another one is named."""
    disks = bundle.all(Kind.DISK)
    if not disks or vm.qemu.image:
        return vm
    image, checksum = str(bundle.path(disks[0])), f"sha256:{disks[0].sha256}"
    return replace(vm, qemu=replace(vm.qemu, image=image, image_checksum=checksum))


def _collect(
    choices: Choices, settings: Settings, tell: Tell
) -> tuple[Bundle, tuple[Message, ...]]:
    from provision.vm.collecting import collect  # costs time, and a ready bundle needs none of it
    from provision.vm.collecting_plan import read_plan
    from provision.vm.wheel import page_assets

    unneeded = [name for name in PROVIDERS if name != choices.gpus]
    page = page_assets(settings.cache)
    collected = collect(
        settings.cache / COLLECTED,
        read_plan().without(*unneeded, "qemu"),
        page=page if page.is_dir() else None,
        environ=settings.environ,
        tell=tell,
        needs_debs=False,
    )
    return collected.bundle, collected.remarks
