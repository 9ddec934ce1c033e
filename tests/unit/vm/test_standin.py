"""What the test machine is made of, as far as it can be seen without one."""

from __future__ import annotations

import hashlib
import json
import subprocess
import sys
import tarfile
from pathlib import Path

import pytest

from tests.machines import cgroups, needs
from tests.machines.images import Image, write_image
from tests.machines.manifests import FAKE_GPU_IMAGE, FAKE_GPUS
from tests.machines.standin_file import SOURCES, pack_standin


def test_standin_is_one_program_that_tells_the_version_it_was_packed_with(tmp_path: Path):
    program = tmp_path / "k3s"
    program.write_bytes(pack_standin("v9.8.7+k3s6"))
    assert program.read_bytes() == pack_standin("v9.8.7+k3s6") != pack_standin("v9.8.7+k3s7")
    said = subprocess.run(
        [sys.executable, program, "--version"], capture_output=True, text=True, check=True
    )
    assert said.stdout == "k3s version v9.8.7+k3s6 (stand-in)\n"
    refused = subprocess.run(
        [sys.executable, program, "agent"], capture_output=True, text=True, check=False
    )
    assert refused.returncode == 1
    assert "no command agent" in refused.stderr


@pytest.fixture
def options(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.syspath_prepend(SOURCES)
    monkeypatch.delitem(sys.modules, "options", raising=False)
    import options

    yield options
    del sys.modules["options"]


def test_settings_of_k3s_are_read_as_the_role_writes_them(options, tmp_path: Path):
    path = tmp_path / "config.yaml"
    path.write_text(
        "# a remark\n"
        "node-name: gpu-node-0\n"
        'write-kubeconfig-mode: "0600"  # so\n'
        "disable:\n  - traefik\n  - servicelb\n"
        "tls-san: [127.0.0.1, 'lab.example']\n"
        "kubelet-arg:\n- sync-frequency=10s\n"
        "node-label: []\n"
    )
    read = options.read_options(path, ["--node-ip=10.0.0.1", "--kubelet-arg", "v=2"])
    assert read == {
        "node-name": ["gpu-node-0"],
        "write-kubeconfig-mode": ["0600"],
        "disable": ["traefik", "servicelb"],
        "tls-san": ["127.0.0.1", "lab.example"],
        "kubelet-arg": ["sync-frequency=10s", "v=2"],
        "node-label": [],
        "node-ip": ["10.0.0.1"],
    }
    assert options.last(read, "node-label", "none") == "none"


def test_settings_that_cannot_be_read_are_refused(options):
    with pytest.raises(SystemExit, match="cannot read"):
        options.parse("node name is gpu\n")


def test_image_is_what_docker_would_save(tmp_path: Path):
    program = tmp_path / "program"
    program.write_bytes(b"\x7fELF")
    image = Image("docker.io/library/x:1", {"/bin/x": program}, {"/bin/sh": "x"}, ("/bin/x",))
    write_image(image, tmp_path / "a.tar")
    write_image(image, tmp_path / "b.tar")
    assert (tmp_path / "a.tar").read_bytes() == (tmp_path / "b.tar").read_bytes()
    with tarfile.open(tmp_path / "a.tar") as archive:
        (index,) = json.load(archive.extractfile("manifest.json"))
        config = archive.extractfile(index["Config"]).read()
        layer = archive.extractfile(index["Layers"][0]).read()
    assert index["RepoTags"] == ["docker.io/library/x:1"]
    assert index["Config"] == f"{hashlib.sha256(config).hexdigest()}.json"
    told = json.loads(config)
    assert told["rootfs"]["diff_ids"] == [f"sha256:{hashlib.sha256(layer).hexdigest()}"]
    assert told["config"]["Entrypoint"] == ["/bin/x"]
    (tmp_path / "layer.tar").write_bytes(layer)
    with tarfile.open(tmp_path / "layer.tar") as archive:
        assert archive.getnames() == ["bin", "tmp", "bin/x", "bin/sh"]
        assert archive.getmember("bin/sh").linkname == "x"
        assert archive.getmember("bin/x").mode == 0o755


def test_manifest_of_the_pretend_gpus_names_the_image_that_is_made():
    assert f"image: {FAKE_GPU_IMAGE}\n" in FAKE_GPUS


def test_what_is_missing_is_said_in_words(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(needs.shutil, "which", lambda program: None)
    monkeypatch.setattr(needs, "BUSYBOX", Path("/nonexistent/busybox"))
    monkeypatch.setattr(needs.os, "geteuid", lambda: 1000)
    said = needs.missing()
    assert "systemd-nspawn (Debian package systemd-container)" in said
    assert "/nonexistent/busybox (Debian package busybox-static)" in said
    assert said[-1] == "root"


def test_command_line_ends_with_3_where_no_machine_can_be_had(tmp_path: Path):
    said = subprocess.run(
        [sys.executable, "-m", "tests.machines", "needs"],
        env={"PATH": str(tmp_path), "HOME": str(tmp_path)},
        cwd=Path(__file__).parents[3],
        capture_output=True,
        text=True,
        check=False,
    )
    assert said.returncode == 3, said.stderr
    assert "systemd-nspawn (Debian package systemd-container)" in said.stderr


def test_groups_are_below_ones_own(monkeypatch: pytest.MonkeyPatch, tmp_path: Path):
    monkeypatch.setattr(cgroups, "hierarchies", lambda: {"memory": tmp_path, "": tmp_path / "two"})
    monkeypatch.setattr(cgroups, "is_unified", lambda: False)
    monkeypatch.setattr(cgroups, "ROOT", tmp_path)
    (tmp_path / "two").mkdir()
    groups = cgroups.make_groups("labx")
    assert groups == (tmp_path / "labx", tmp_path / "two" / "labx")
    (groups[0] / "kubepods" / "pod1").mkdir(parents=True)
    assert set(cgroups.find_groups("labx")) == set(groups)
    cgroups.remove_groups(groups)
    assert cgroups.find_groups("labx") == ()
