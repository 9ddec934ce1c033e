"""What a new machine reads at its first boot: keys, root's login, a disk that grows.

cloud-init's datasource NoCloud takes it from a volume called `cidata` with the files `user-data`
and `meta-data` (https://docs.cloud-init.io/en/latest/reference/datasources/nocloud.html). Without
`network-config` cloud-init asks for an address by DHCP on the first interface.
"""

from __future__ import annotations

import io
from dataclasses import dataclass
from pathlib import Path

import pycdlib
import yaml
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey
from cryptography.hazmat.primitives.serialization import (
    Encoding,
    NoEncryption,
    PrivateFormat,
    PublicFormat,
)

from provision.files import write_atomically

VOLUME = "cidata"
# Timers that take apt's lock minutes after the first boot, when provisioning wants it.
_TIMERS = ("apt-daily.timer", "apt-daily-upgrade.timer")


@dataclass(frozen=True, slots=True)
class KeyPair:
    """An ed25519 key in OpenSSH's forms; `private` must not be shown."""

    private: str
    public: str


@dataclass(frozen=True, slots=True)
class Seed:
    """One machine: cloud-init runs again when `instance` differs from what it saw last."""

    instance: str
    hostname: str
    host_key: KeyPair
    login: str


def new_pair() -> KeyPair:
    """A fresh key."""
    key = Ed25519PrivateKey.generate()
    private = key.private_bytes(Encoding.PEM, PrivateFormat.OpenSSH, NoEncryption())
    public = key.public_key().public_bytes(Encoding.OpenSSH, PublicFormat.OpenSSH)
    return KeyPair(private.decode(), public.decode())


def user_data(seed: Seed) -> str:
    """The cloud-config: our host key and no other, root by our key and no password, no upgrade."""
    config = {
        "disable_root": False,
        "ssh_pwauth": False,
        "users": [
            {"name": "root", "lock_passwd": True, "ssh_authorized_keys": [seed.login]},
        ],
        "ssh_deletekeys": True,
        "ssh_keys": {
            "ed25519_private": seed.host_key.private,
            "ed25519_public": seed.host_key.public,
        },
        "ssh": {"emit_keys_to_console": False},
        "growpart": {"mode": "auto", "devices": ["/"], "ignore_growroot_disabled": False},
        "resize_rootfs": True,
        "locale": "C.UTF-8",
        "package_update": False,
        "package_upgrade": False,
        "bootcmd": [["systemctl", "mask", "--now", "--no-block", *_TIMERS]],
    }
    return "#cloud-config\n" + yaml.safe_dump(config, sort_keys=False, width=1000)


def meta_data(seed: Seed) -> str:
    """What the machine is called, and which one it is."""
    return yaml.safe_dump(
        {"instance-id": seed.instance, "local-hostname": seed.hostname}, sort_keys=False
    )


def write_seed(path: Path, seed: Seed) -> None:
    """Put the seed at `path` as an ISO 9660 image that only we may read. Raises OSError."""
    image = pycdlib.PyCdlib()
    image.new(interchange_level=3, vol_ident=VOLUME, joliet=3, rock_ridge="1.09")
    for name, text in (("user-data", user_data(seed)), ("meta-data", meta_data(seed))):
        data = text.encode()
        image.add_fp(
            io.BytesIO(data),
            len(data),
            f"/{name.replace('-', '').upper()}.;1",
            rr_name=name,
            joliet_path=f"/{name}",
        )
    content = io.BytesIO()
    image.write_fp(content)
    image.close()
    write_atomically(path, content.getvalue())
