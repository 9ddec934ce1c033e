"""The bundle of a run: the one that BUNDLE names, or one that is collected into the cache."""

from __future__ import annotations

import time
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from provision.errors import TargetError
from provision.message import Message, say
from provision.settings import Settings
from provision.target import Progress, Tell
from provision.vm.bundle.checking import NEEDS, Bundle, Kind, check_bundle, read_bundle
from provision.vm.choosing import Choices
from provision.vm.collecting.plan import PARTS
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


def use(choices: Choices, parts: Sequence[str], tell: Tell, started: float) -> Gathered | None:
    """The bundle that BUNDLE names, checked, for a lab with these parts; None without BUNDLE.

    TargetError lists all that is missing or altered in it at once.
    """
    if not choices.bundle:
        return None
    bundle = read_bundle(Path(choices.bundle))
    return Gathered(_checked(bundle, choices, parts, tell, started), ())


def collect(
    choices: Choices,
    parts: Sequence[str],
    settings: Settings,
    system: str,
    tell: Tell,
    started: float,
) -> Gathered:
    """A bundle collected into the cache, for a `system` such as "debian-12"; "" is QEMU's.

    `parts` are those that the lab asks for beyond what every machine has.
    """
    from provision.vm.collecting import collector  # costs time, and a ready bundle needs none of it
    from provision.vm.collecting.plan import read_plan
    from provision.vm.wheel import page_assets

    plan = read_plan(system)
    page = page_assets(settings.cache)
    unneeded = [name for name in PROVIDERS if name != choices.gpus]
    collected = collector.collect(
        settings.cache / f"{COLLECTED}-{plan.os}",
        plan.without(*unneeded, "qemu").for_parts(parts),
        page=page if page.is_dir() else None,
        environ=settings.environ,
        tell=tell,
        needs_debs=False,
    )
    return Gathered(_checked(collected.bundle, choices, parts, tell, started), collected.remarks)


def _checked(
    bundle: Bundle, choices: Choices, parts: Sequence[str], tell: Tell, started: float
) -> Bundle:
    stage = say("checking the bundle {path}", path=bundle.folder)
    tell(Progress(stage, time.monotonic() - started))
    provider = PROVIDER_NEEDS.get(choices.gpus, ())
    of_parts = tuple((name, Kind.MANIFEST) for name in PARTS if name in parts)
    try:
        check_bundle(bundle, needs=(*NEEDS, *provider, *of_parts))
    except TargetError as error:
        if provider and not any((a.name, a.kind) in provider for a in bundle.artefacts):
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
