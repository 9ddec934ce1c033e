"""What is pulled from a registry is an image to the real containerd, as k3s has it inside."""

from __future__ import annotations

import gzip
import io
import os
import subprocess
import tarfile
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from provision.message import Message, say
from provision.vm.collecting.http import Web
from provision.vm.collecting.images import pull_image
from provision.vm.collecting.oci import Reference, Registry
from provision.waiting import wait_until
from tests.fakes.http_host import FakeRegistry, http_host
from tests.machines import parts

# The first to ask for parts may have to build them.
pytestmark = [
    pytest.mark.skipif(os.geteuid() != 0, reason="containerd is tried as root only"),
    pytest.mark.timeout(1800),
]

Ctr = Callable[..., str]


@pytest.fixture
def ctr(tmp_path: Path) -> Iterator[Ctr]:
    """Run `ctr` on a containerd of its own, which is there for this test only."""
    programs = parts.standin_folders()["containerd"]
    config, socket = tmp_path / "config.toml", tmp_path / "c.sock"
    config.write_text(
        f'version = 3\nroot = "{tmp_path}/root"\nstate = "{tmp_path}/state"\n'
        f'disabled_plugins = ["io.containerd.cri.v1.runtime", "io.containerd.cri.v1.images", '
        f'"io.containerd.grpc.v1.cri"]\n[grpc]\naddress = "{socket}"\n'
    )
    with (tmp_path / "log").open("wb") as log:
        process = subprocess.Popen(
            [programs / "containerd", "--config", config], stdout=log, stderr=log
        )

    def run(*words: object) -> str:
        command = [programs / "ctr", "--address", socket, "--namespace", "k8s.io", *words]
        done = subprocess.run(command, capture_output=True, text=True, timeout=60, check=False)
        assert done.returncode == 0, done.stderr
        return done.stdout

    def missing() -> Message | None:
        assert process.poll() is None, (tmp_path / "log").read_text()
        return None if socket.exists() else say("no socket")

    try:
        wait_until(missing, within=30)
        yield run
    finally:
        process.terminate()
        process.wait(30)


def layer_of(name: str, content: bytes) -> bytes:
    plain = io.BytesIO()
    with tarfile.open(fileobj=plain, mode="w") as tar:
        info = tarfile.TarInfo(name)
        info.size = len(content)
        tar.addfile(info, io.BytesIO(content))
    return gzip.compress(plain.getvalue(), mtime=0)


@pytest.mark.parametrize("way", ["--local", "--no-unpack"])
def test_containerd_takes_what_was_pulled(ctr: Ctr, tmp_path: Path, way: str):
    with http_host() as host, Web({}) as web:
        fake = FakeRegistry(host)
        index = fake.push("library/busybox", "1.36", [layer_of("hello", b"hello")])
        reference = Reference.of(fake.name("library/busybox", "1.36"))
        out = tmp_path / "busybox.tar"
        pull_image(Registry(web), reference, "linux/amd64", index, out)
    ctr("images", "import", "--snapshotter", "native", way, out)
    assert ctr("images", "list", "--quiet").split() == [str(reference)]
    assert "linux/amd64" in ctr("images", "list")
    ctr("images", "check", "--snapshotter", "native")
