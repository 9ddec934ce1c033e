"""What QEMU and cloud-init are told, as it was reviewed."""

import io
from pathlib import Path

import pycdlib
import pytest
import yaml
from cryptography.hazmat.primitives.serialization import (
    Encoding,
    PublicFormat,
    load_ssh_private_key,
)

from provision.vm.machines.qemu.command import (
    KVM,
    TCG,
    Files,
    Hardware,
    disk_arguments,
    machine_command,
)
from provision.vm.machines.qemu.image import Image
from provision.vm.machines.qemu.making import hostname_of
from provision.vm.machines.qemu.seed import (
    KeyPair,
    Seed,
    meta_data,
    new_pair,
    user_data,
    write_seed,
)
from provision.vm.machines.qemu.tools import Tools
from tests.unit.vm.qemu_fakes import golden

pytestmark = pytest.mark.golden
GOLDEN = Path(__file__).parents[2] / "golden" / "vm"
TOOLS = Tools(Path("/usr/bin/qemu-system-x86_64"), Path("/usr/bin/qemu-img"))
FOLDER = Path("/home/eun/labs, old/kueue_quota/machine")
HOST = KeyPair("-----BEGIN KEY-----\nhost\n-----END KEY-----\n", "ssh-ed25519 AAAAhost")
SEED = Seed("gpu-queue-lab-0123", "kueue-quota", HOST, "ssh-ed25519 AAAAlogin gpu-queue-lab")


def hardware(accelerator: str) -> Hardware:
    return Hardware(
        name="gpu-queue-lab kueue-quota",
        cpus=2,
        memory=4096,
        port=25301,
        monitor=FOLDER / "monitor.sock",
        accelerator=accelerator,
    )


def as_text(words: tuple[str, ...]) -> str:
    """A line for each option, with its value."""
    return " ".join(words).replace(" -", "\n  -") + "\n"


@pytest.mark.parametrize("accelerator", [KVM, TCG])
def test_the_command_line_is_as_it_was_reviewed(accelerator):
    command = machine_command(TOOLS, hardware(accelerator), Files(FOLDER))
    golden(GOLDEN / f"qemu.{accelerator}.txt", as_text(command))


def test_the_disk_is_as_it_was_reviewed():
    image = Image(Path("/cache/machine-images/sha512-6c26.img"), "qcow2", 2048)
    words = disk_arguments(image, FOLDER / "disk.qcow2", 20480)
    golden(GOLDEN / "qemu-img.txt", as_text(("qemu-img", *words)))


def test_the_seed_is_as_it_was_reviewed():
    golden(GOLDEN / "user-data", user_data(SEED))
    golden(GOLDEN / "meta-data", meta_data(SEED))


def test_the_only_way_in_is_one_forward_on_loopback():
    command = machine_command(TOOLS, hardware(TCG), Files(FOLDER))
    ways = [word for word in command if "hostfwd" in word]
    assert ways == ["user,id=net,hostfwd=tcp:127.0.0.1:25301-:22"]
    assert sum(word == "-netdev" for word in command) == 1
    assert not {"-vnc", "-spice", "-monitor", "-gdb", "-s"} & set(command)


def test_root_logs_in_by_our_key_only_and_nothing_is_upgraded():
    config = yaml.safe_load(user_data(SEED))
    assert config["users"] == [
        {"name": "root", "lock_passwd": True, "ssh_authorized_keys": [SEED.login]}
    ]
    assert config["disable_root"] is False
    assert config["ssh_pwauth"] is False
    assert config["ssh_deletekeys"] is True
    assert config["ssh_keys"] == {
        "ed25519_private": HOST.private,
        "ed25519_public": HOST.public,
    }
    assert config["package_upgrade"] is False
    assert "chpasswd" not in config


def test_cloud_init_finds_the_volume_and_its_files(tmp_path):
    path = tmp_path / "machine" / "seed.iso"
    path.parent.mkdir()
    write_seed(path, SEED)
    assert path.stat().st_mode & 0o777 == 0o600, "it holds the private host key"
    content = path.read_bytes()
    assert content[0x8001:0x8006] == b"CD001"
    assert content[0x8028:0x8048].rstrip() == b"cidata", "the label that cloud-init looks for"
    image = pycdlib.PyCdlib()
    image.open(str(path))
    for name, text in (("user-data", user_data(SEED)), ("meta-data", meta_data(SEED))):
        for way in ({"rr_path": f"/{name}"}, {"joliet_path": f"/{name}"}):
            found = io.BytesIO()
            image.get_file_from_iso_fp(found, **way)
            assert found.getvalue().decode() == text
    image.close()


def test_keys_are_fresh_and_openssh_reads_them():
    one, other = new_pair(), new_pair()
    assert one.private != other.private
    key = load_ssh_private_key(one.private.encode(), None)
    public = key.public_key()
    assert public.public_bytes(Encoding.OpenSSH, PublicFormat.OpenSSH).decode() == one.public
    assert one.public.startswith("ssh-ed25519 ")


@pytest.mark.parametrize(
    ("lab", "hostname"),
    [("kueue_quota", "kueue-quota"), ("A__b", "a-b"), ("__", "lab"), ("x" * 90, "x" * 40)],
)
def test_a_hostname_is_one_that_dns_allows(lab, hostname):
    assert hostname_of(lab) == hostname
