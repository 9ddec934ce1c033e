"""The bundle of a run: the one that BUNDLE names, or one that is collected into the cache."""

from __future__ import annotations

import time
from dataclasses import dataclass, replace
from pathlib import Path

from provision.errors import TargetError
from provision.message import Message, say
from provision.settings import Settings
from provision.target import Progress, Tell
from provision.vm.bundle.checking import NEEDS, Bundle, Kind, check_bundle, read_bundle
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


def use(choices: Choices, tell: Tell, started: float) -> Gathered | None:
    """The bundle that BUNDLE names, checked; None when there is none to use.

    TargetError lists all that is missing or altered in it at once.
    """
    if not choices.bundle:
        return None
    return Gathered(_checked(read_bundle(Path(choices.bundle)), choices, tell, started), ())


def collect(
    choices: Choices, settings: Settings, system: str, tell: Tell, started: float
) -> Gathered:
    """A bundle collected into the cache, for a `system` such as "debian-12"; "" is QEMU's."""
    from provision.vm.collecting import collector  # costs time, and a ready bundle needs none of it
    from provision.vm.collecting.plan import read_plan
    from provision.vm.wheel import page_assets

    plan = read_plan(system)
    page = page_assets(settings.cache)
    collected = collector.collect(
        settings.cache / f"{COLLECTED}-{plan.os}",
        plan.without(*(name for name in PROVIDERS if name != choices.gpus), "qemu"),
        page=page if page.is_dir() else None,
        environ=settings.environ,
        tell=tell,
        needs_debs=False,
    )
    return Gathered(_checked(collected.bundle, choices, tell, started), collected.remarks)


def _checked(bundle: Bundle, choices: Choices, tell: Tell, started: float) -> Bundle:
    stage = say("checking the bundle {path}", path=bundle.folder)
    tell(Progress(stage, time.monotonic() - started))
    needs = PROVIDER_NEEDS.get(choices.gpus, ())
    try:
        check_bundle(bundle, needs=(*NEEDS, *needs))
    except TargetError as error:
        if needs and not any((a.name, a.kind) in needs for a in bundle.artefacts):
            raise TargetError(error.what, next_move=_without(choices.gpus)) from error
        raise
    tell(Progress(stage, time.monotonic() - started, is_done=True))
    return bundle


def _without(gpus: str) -> Message:
    """What to do with a bundle that was collected for another provider of GPUs."""
    return say(
        "Collect one anew: make bundle TARGET=vm OUT=folder GPUS={gpus}. Or take what is in it: "
        "GPUS=extended-resource needs nothing from a bundle for the GPUs.",
        gpus=gpus,
    )


def with_disk(vm: VmSettings, bundle: Bundle) -> VmSettings:
    """The settings with the bundle's own cloud image for QEMU, unless another one is named."""
    disks = bundle.all(Kind.DISK)
    if not disks or vm.qemu.image:
        return vm
    image, checksum = str(bundle.path(disks[0])), f"sha256:{disks[0].sha256}"
    return replace(vm, qemu=replace(vm.qemu, image=image, image_checksum=checksum))
