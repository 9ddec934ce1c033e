"""Ways of getting a machine, one module each, by the name that `VM=` takes."""

from __future__ import annotations

import importlib
from collections.abc import Mapping
from pathlib import Path

from provision.settings import Settings
from provision.vm.machine import MachineMaker
from provision.vm.settings import VmSettings

# Each is made as `Maker(home, vm_settings, settings)`.
MAKERS: Mapping[str, str] = {
    "qemu": "provision.vm.machines.qemu.maker:QemuMaker",
    "ssh": "provision.vm.machines.ssh:SshMaker",
}


def open_maker(name: str, home: Path, vm: VmSettings, settings: Settings) -> MachineMaker:
    """The maker of that name for the place at `home`; nothing is started."""
    module, _, cls = MAKERS[name].partition(":")
    maker: MachineMaker = getattr(importlib.import_module(module), cls)(home, vm, settings)
    return maker
