"""What cannot be is refused in one message with the next move, before the machine is touched."""

from __future__ import annotations

import shutil
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.integration.cli import Lab, Said
from tests.integration.vm.site import Site
from tests.machines.shell import run

pytestmark = [pytest.mark.vm, pytest.mark.timeout(1800)]

MARK = "/etc/gpu-queue-lab"


@pytest.fixture
def other(site: Site, tmp_path: Path) -> Iterator[Lab]:
    """Another place that is to live in the same machine."""
    lab = Lab({**site.lab.variables, "LAB_HOME": str(tmp_path / "home")})
    before = site.run(f"ls -lR --full-time {MARK} 2>&1").out
    yield lab
    lab.run("down")
    assert site.run(f"ls -lR --full-time {MARK} 2>&1").out == before


def refused(said: Said, *words: str) -> None:
    text = " ".join(said.err.split())
    assert said.code == 3, said
    assert "Next:" in text, said
    assert "Traceback" not in text, said
    for word in words:
        assert word in text, said


def test_host_that_does_not_answer(other: Lab):
    refused(other.run("provision", HOST="root@10.213.100.77"), "10.213.100.77")


def test_person_who_may_not_become_root(other: Lab, site: Site):
    refused(other.run("provision", HOST=f"guest@{site.record.address}"), "sudo")


def test_key_that_is_not_accepted(other: Lab, site: Site, tmp_path: Path):
    run("ssh-keygen", "-q", "-t", "ed25519", "-N", "", "-f", tmp_path / "id")
    refused(other.run("provision", KEY=str(tmp_path / "id")), site.record.address)


def test_host_key_that_has_changed(other: Lab, tmp_path: Path):
    refused(other.run("provision", HOST=other.variables["HOST"].replace("root", "guest")), "sudo")
    (known,) = (tmp_path / "home").rglob("known_hosts")
    run("ssh-keygen", "-q", "-t", "ed25519", "-N", "", "-f", tmp_path / "id")
    host, kind, _, where = known.read_text("utf-8").split()
    other_key = (tmp_path / "id.pub").read_text().split()[1]
    known.write_text(f"{host} {kind} {other_key} {where}\n", "utf-8")
    refused(other.run("provision"), "host key")


def test_bundle_that_lacks_and_alters_files(other: Lab, site: Site, tmp_path: Path):
    bundle = tmp_path / "bundle"
    shutil.copytree(site.bundle, bundle, copy_function=_link)
    (bundle / "images" / "busybox.tar").unlink()
    (bundle / "manifests" / "kueue.yaml").unlink()
    (bundle / "manifests" / "kueue.yaml").write_text("{}\n", "utf-8")
    said = other.run("provision", BUNDLE=str(bundle))
    refused(said, "images/busybox.tar is missing", "manifests/kueue.yaml is altered")


def _link(source: str, target: str) -> None:
    Path(target).hardlink_to(source)
