"""What a person may set for the vm target: the file `lab.toml`, and the environment before it.

docs/lab.toml shows every key with its meaning. `HOST`, `VM` and the like stand in the environment
for one command; `lab.toml` (or the file that `LAB_TOML` names) holds what is to last.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path

from provision.vm.settings_reading import Reader

LAB_TOML = "lab.toml"
PROJECT = Path(__file__).resolve().parents[2]
MAKERS = ("qemu", "ssh")
PROVIDERS = ("fake-gpu-operator", "extended-resource", "device-plugin")
ACCELERATORS = ("auto", "kvm", "tcg")
LANGUAGES = ("en", "ko")


@dataclass(frozen=True, slots=True)
class SshSettings:
    """A machine that is given: `host` is `user@host[:port]`, `key` a private key or None.

    With `is_key_dropped` a key that got in before is not used any more: `KEY=` was said.
    """

    host: str = ""
    key: Path | None = None
    is_key_dropped: bool = False


@dataclass(frozen=True, slots=True)
class QemuSettings:
    """A machine that QEMU makes: `memory` and `disk` are in MiB.

    `image` is the address or the path of a cloud image, `image_checksum` is `sha256:<hex>` or
    `sha512:<hex>`; both are empty for the pinned one. `accelerator` is auto, kvm or tcg.
    """

    cpus: int = 2
    memory: int = 4096
    disk: int = 20480
    image: str = ""
    image_checksum: str = ""
    accelerator: str = "auto"


@dataclass(frozen=True, slots=True)
class VmSettings:
    """Choices that hold for the vm target only.

    `maker` is the way of getting a machine and `gpus` the provider of the fake GPUs, each empty
    when it was not said; `bundle` a folder with `bundle.yaml`, None to collect one; `language` the
    person's; `within` and `idle` the longest that a playbook, and a silence in it, may last, in
    seconds.
    """

    maker: str = ""
    bundle: Path | None = None
    gpus: str = ""
    language: str = "en"
    within: int = 2700
    idle: int = 900
    ssh: SshSettings = field(default_factory=SshSettings)
    qemu: QemuSettings = field(default_factory=QemuSettings)


def read_settings(environment: Mapping[str, str]) -> VmSettings:
    """The settings, from the environment first, then from `lab.toml`, then by default.

    Raises UsageError for an unknown key, naming file and nearest known key, and for a wrong value,
    naming the variable or the key.
    """
    reader = Reader.open(environment, PROJECT / LAB_TOML, KEYS)
    default, qemu = VmSettings(), QemuSettings()
    return VmSettings(
        maker=reader.choice("vm.machine", MAKERS, ""),
        bundle=reader.path("vm.bundle"),
        gpus=reader.choice("gpus.provider", PROVIDERS, ""),
        language=reader.language(LANGUAGES),
        within=reader.count("vm.within", default.within, least=60),
        idle=reader.count("vm.idle", default.idle, least=30),
        ssh=SshSettings(
            host=reader.text("vm.ssh.host"),
            key=reader.path("vm.ssh.key"),
            is_key_dropped=not environment.get("KEY", "unsaid").strip(),
        ),
        qemu=QemuSettings(
            cpus=reader.count("vm.qemu.cpus", qemu.cpus, least=1),
            memory=reader.size("vm.qemu.memory", qemu.memory, least=2048),
            disk=reader.size("vm.qemu.disk", qemu.disk, least=8192),
            image=reader.text("vm.qemu.image"),
            image_checksum=reader.text("vm.qemu.image_checksum"),
            accelerator=reader.choice("vm.qemu.accelerator", ACCELERATORS, qemu.accelerator),
        ),
    )


# Every key of lab.toml, and the environment variable that comes before it.
KEYS: Mapping[str, str] = {
    "vm.machine": "VM",
    "vm.bundle": "BUNDLE",
    "vm.within": "VM_WITHIN",
    "vm.idle": "VM_IDLE",
    "vm.ssh.host": "HOST",
    "vm.ssh.key": "KEY",
    "vm.qemu.cpus": "VM_CPUS",
    "vm.qemu.memory": "VM_MEMORY",
    "vm.qemu.disk": "VM_DISK",
    "vm.qemu.image": "VM_IMAGE",
    "vm.qemu.image_checksum": "VM_IMAGE_CHECKSUM",
    "vm.qemu.accelerator": "VM_ACCELERATOR",
    "gpus.provider": "GPUS",
}
