"""The target before there is a machine: what is refused, and that nothing was touched."""

import hashlib
from pathlib import Path

import pytest

from provision.errors import LabError, TargetError, UsageError
from provision.settings import Settings
from provision.state import kind_of
from provision.target import NodeSpec, PlaceSpec, silent
from provision.vm.bundle.checking import Artefact, Bundle, Kind, write_index
from provision.vm.target import VmTarget

NODE = NodeSpec("gpu-node-0", "8", "16Gi", 4, "NVIDIA-A100-SXM4-80GB")


@pytest.fixture
def bundle(tmp_path) -> Path:
    folder = tmp_path / "bundle"
    folder.mkdir()
    rows = (("k3s", Kind.BINARY), ("kueue", Kind.MANIFEST), ("gpu-queue-lab", Kind.WHEEL))
    artefacts = []
    for name, kind in rows:
        content = name.encode()
        (folder / name).write_bytes(content)
        artefacts.append(Artefact(name, kind, "1", name, hashlib.sha256(content).hexdigest()))
    write_index(Bundle(folder, "linux/amd64", "debian-12", tuple(artefacts)))
    return folder


def target(tmp_path: Path, nodes: tuple[NodeSpec, ...] = (NODE,), **environment: str) -> VmTarget:
    home = tmp_path / "home"
    environment = {
        "GPUS": "extended-resource",
        "LAB_TOML": str(tmp_path / "lab.toml"),
    } | environment
    (tmp_path / "lab.toml").touch()
    settings = Settings(cache=tmp_path / "cache", runtime=tmp_path, environ=environment)
    spec = PlaceSpec("kueue_quota", home, Path("/root/gsb-kueue"), ("team-a",), nodes)
    return VmTarget(spec, settings)


def refused(one: VmTarget) -> str:
    with pytest.raises(LabError) as error:
        one.up(silent)
    return f"{error.value.what} {error.value.next_move}"


def test_an_altered_bundle_is_refused_before_anything_is_touched(tmp_path, bundle):
    (bundle / "k3s").write_text("altered")
    (bundle / "kueue").unlink()
    one = target(tmp_path, BUNDLE=str(bundle), HOST="root@127.0.0.1:1")
    words = refused(one)
    assert "k3s" in words
    assert "kueue" in words
    assert not (tmp_path / "home").exists()


def test_a_bundle_without_what_the_provider_needs_is_refused(tmp_path, bundle):
    one = target(tmp_path, BUNDLE=str(bundle), HOST="root@127.0.0.1:1", GPUS="device-plugin")
    assert "device-plugin" in refused(one)
    assert not (tmp_path / "home").exists()


def test_a_bundle_without_fake_gpu_operator_can_be_used_with_gpus_that_need_none(tmp_path, bundle):
    more = {"BUNDLE": str(bundle), "HOST": "root@127.0.0.1:1"}
    words = refused(target(tmp_path, GPUS="", **more))
    assert "fake-gpu-operator (chart) is not in it" in words
    assert "GPUS=extended-resource needs nothing from a bundle" in words
    assert "127.0.0.1 does not answer" in refused(target(tmp_path, **more))


@pytest.mark.parametrize(
    ("environment", "words"),
    [
        ({"VM": "ssh"}, "HOST names none"),
        ({"VM": "ssh", "HOST": "box"}, "not a login"),
        ({"HOST": "root@box", "KEY": "/nowhere/id"}, "There is no private key"),
        ({"VM": "lima"}, "one of qemu, ssh"),
    ],
)
def test_what_cannot_be_meant_is_refused_before_a_bundle_is_looked_at(tmp_path, environment, words):
    one = target(tmp_path, BUNDLE=str(tmp_path / "none"), **environment)
    assert words in refused(one)
    assert not (tmp_path / "home").exists()


def test_a_lab_with_two_nodes_is_refused_first(tmp_path):
    assert "wants 2 nodes" in refused(target(tmp_path, (NODE, NODE), HOST="root@box"))


def test_after_a_machine_that_did_not_answer_the_place_knows_its_kind_and_goes(tmp_path, bundle):
    one = target(tmp_path, BUNDLE=str(bundle), HOST="root@127.0.0.1:1")
    assert "does not answer on port 1" in refused(one)
    assert kind_of(tmp_path / "home") == "vm"
    assert not one.status().is_provisioned
    with pytest.raises(TargetError, match="There is no machine"):
        one.machine()
    assert any("not provisioned yet" in str(found.what) for found in one.examine())
    one.destroy(silent)
    assert not (tmp_path / "home").exists()
    assert (bundle / "k3s").exists()


def test_another_host_may_be_named_as_long_as_there_is_no_machine(tmp_path, bundle):
    assert "port 1:" in refused(target(tmp_path, BUNDLE=str(bundle), HOST="root@127.0.0.1:1"))
    assert "port 2:" in refused(target(tmp_path, BUNDLE=str(bundle), HOST="root@127.0.0.1:2"))


@pytest.mark.parametrize("call", ["down", "reset"])
def test_without_a_place_there_is_nothing_to_do(tmp_path, call):
    with pytest.raises(TargetError, match="There is no machine for kueue_quota yet"):
        getattr(target(tmp_path), call)(silent)
    target(tmp_path).destroy(silent)


def test_what_was_there_before_the_place_stays(tmp_path, bundle):
    (tmp_path / "home").mkdir()
    (tmp_path / "home" / "thesis.tex").write_text("mine")
    one = target(tmp_path, BUNDLE=str(bundle), HOST="root@127.0.0.1:1")
    refused(one)
    one.destroy(silent)
    assert [path.name for path in (tmp_path / "home").iterdir()] == ["thesis.tex"]


def test_a_log_that_is_not_there_is_told_with_the_known_ones(tmp_path):
    for name in ("", "etcd"):
        with pytest.raises(UsageError, match=r"there are: .*tunnel.*k3s.*page-inside|Whose log"):
            target(tmp_path).log_path(name)
    assert target(tmp_path).log_path("provision") == tmp_path / "home" / "logs" / "provision.log"
