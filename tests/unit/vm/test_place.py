"""The controller's side: forwards as components, kubeconfigs that lead through them, choices."""

import base64
import os
import subprocess
import sys
from dataclasses import replace
from pathlib import Path

import pytest
import testinfra.backend
import yaml

from provision.errors import TargetError, UsageError
from provision.local.supervising import supervisor_config
from provision.state import kind_of, new_state, save_state
from provision.target import Companion, NodeSpec, PlaceSpec
from provision.vm.choosing import Choices, choose, keep_choices
from provision.vm.kubeconfigs import Kubeconfigs, lay
from provision.vm.looking import host_spec, note_on
from provision.vm.machine import Machine, save_machine, ssh_config
from provision.vm.place import VmPlace
from provision.vm.settings import SshSettings, VmSettings

PORTS = {"apiserver": 21001, "recorder": 21002, "page": 21003}
RECORDER = Companion(
    name="recorder",
    module="checks.recording",
    args=("--kubeconfig=$home/grader.kubeconfig", "--port=$port_recorder"),
    needs=("kube-apiserver", "@definitions"),
)
PAGE = Companion(name="page", module="lab.web", ready_path="/learn/ready", is_on_demand=True)


def place(home: Path, agent: str = "") -> VmPlace:
    node = NodeSpec("gpu-node-0", "8", "16Gi", 4, "")
    spec = PlaceSpec(
        "kueue_quota", home, Path("/root/gsb-kueue"), ("team-a",), (node,), (), (RECORDER, PAGE)
    )
    return VmPlace(spec, agent)


def test_the_forwards_share_no_connection_and_end_when_they_cannot_listen(tmp_path):
    tunnel, recorder, page = place(tmp_path).plan(PORTS, {})
    assert tunnel.argv[:3] == ("ssh", "-F", str(tmp_path / "machine" / "ssh_config"))
    assert "127.0.0.1:21001:127.0.0.1:6443" in tunnel.argv
    assert "127.0.0.1:21003:127.0.0.1:18080" in page.argv
    for forward in (tunnel, page):
        assert {"ControlPath=none", "ExitOnForwardFailure=yes", "-N"} <= set(forward.argv)
        assert forward.argv[-1] == "machine"
    assert tunnel.probe.url == "https://127.0.0.1:21001/readyz"
    assert page.probe.url == "http://127.0.0.1:21003/learn/ready"
    assert tunnel.is_needed
    assert not recorder.is_needed
    assert page.is_on_demand


def test_the_recorder_runs_here_after_the_tunnel(tmp_path):
    recorder = place(tmp_path).plan(PORTS, {})[1]
    assert recorder.argv[0] == sys.executable
    assert f"--kubeconfig={tmp_path}/grader.kubeconfig" in recorder.argv
    assert "--port=21002" in recorder.argv
    assert recorder.after == ("tunnel",)


def test_an_agent_is_handed_on_only_where_no_key_file_is_named(tmp_path):
    config = tmp_path / "machine" / "ssh_config"
    config.parent.mkdir()
    config.write_text("Host machine\n")
    assert place(tmp_path, "/agent").plan(PORTS, {})[0].env == (("SSH_AUTH_SOCK", "/agent"),)
    config.write_text("Host machine\n  IdentityFile /x\n")
    assert place(tmp_path, "/agent").plan(PORTS, {})[0].env == ()


def test_without_kept_ports_there_is_no_plan(tmp_path):
    assert place(tmp_path).plan_of({"apiserver": 1}, {}) == ()
    assert len(place(tmp_path).plan_of(PORTS, {})) == 3


def test_the_digest_follows_configuration_key_and_machine(tmp_path):
    one = place(tmp_path)
    config = supervisor_config(one.plan(PORTS, {}), tmp_path, tmp_path / "s", "id")
    first = one.digest(config, "key")
    assert one.digest(config, "key") == first
    assert one.digest(config, "other") != first
    (tmp_path / "machine").mkdir()
    one.ssh_config.write_text("Host machine\n")
    assert one.digest(config, "key") != first


def test_kubectl_hands_every_word_on_as_it_is(tmp_path, monkeypatch):
    fakes = tmp_path / "fakes"
    fakes.mkdir()
    ssh = fakes / "ssh"
    ssh.write_text('#!/bin/sh\nwhile [ "$1" != -- ]; do shift; done; shift; exec sh -c "$*"\n')
    kubectl = fakes / "kubectl"
    kubectl.write_text(f"#!{sys.executable}\nimport sys\nprint(sys.argv[1:], sys.stdin.read())\n")
    for program in (ssh, kubectl):
        program.chmod(0o755)
    monkeypatch.setenv("PATH", f"{fakes}{os.pathsep}{os.environ['PATH']}")
    one = place(tmp_path / "it's a home")
    one.make_folders()
    one.lay_kubectl(is_root=True)
    odd = ["get", "a b", "it's", "$HOME", '"', "{.a[?(@.b=='c')]}", "", "*", "\\n"]
    done = subprocess.run(
        [one.tools / "kubectl", *odd], input="in", capture_output=True, text=True, check=False
    )
    assert done.stdout.strip() == f"{odd} in"


def kubeconfig(**user: str) -> str:
    data = {"certificate-authority-data": base64.b64encode(b"ca").decode()}
    return yaml.safe_dump(
        {
            "clusters": [{"name": "x", "cluster": {"server": "https://127.0.0.1:6443", **data}}],
            "users": [{"name": "x", "user": user}],
        }
    )


def test_kubeconfigs_lead_through_the_forward_and_are_private(tmp_path):
    certificate, key = (base64.b64encode(word).decode() for word in (b"crt", b"key"))
    admin = kubeconfig(**{"client-certificate-data": certificate, "client-key-data": key})
    lay(Kubeconfigs(admin, kubeconfig(token="t")), tmp_path, 21001)
    for name in ("kubeconfig", "grader.kubeconfig"):
        file = tmp_path / name
        content = yaml.safe_load(file.read_text())
        assert content["clusters"][0]["cluster"]["server"] == "https://127.0.0.1:21001"
        assert file.stat().st_mode & 0o777 == 0o600
    assert (tmp_path / "pki" / "admin.key").read_bytes() == b"key"
    assert (tmp_path / "pki" / "admin.key").stat().st_mode & 0o777 == 0o600


@pytest.mark.parametrize("text", ["", "a: [", "clusters: []", "just words"])
def test_an_odd_kubeconfig_is_a_named_error(tmp_path, text):
    with pytest.raises(TargetError, match="is not as it should be"):
        lay(Kubeconfigs(text, text), tmp_path, 21001)


def test_the_host_spec_is_what_testinfra_understands(tmp_path):
    config = tmp_path / "a folder" / "ssh_config"
    for user, has_sudo in (("root", False), ("debian", True)):
        spec = host_spec(Machine("box", "192.0.2.1", 22, user, config))
        backend = testinfra.backend.get_backend(spec)
        command, arguments = backend._build_ssh_command("true")
        assert backend.sudo is has_sudo
        assert (command[0], command[1], arguments[0]) == ("ssh", "-F %s", str(config))
        assert "-o ConnectTimeout=10" in command
        assert not any("ControlMaster" in word for word in command)
        assert arguments[-2] == "machine"


def test_the_ssh_config_is_read_by_ssh_as_it_is_meant(tmp_path):
    home = tmp_path / "it is 100% home"
    text = ssh_config(
        home=home,
        address="192.0.2.1",
        port=2222,
        user="debian",
        known_hosts=home / "known_hosts",
        runtime=tmp_path,
        key=home / "id",
    )
    file = tmp_path / "ssh_config"
    file.write_text(text)
    command = ["ssh", "-F", str(file), "-G", "machine"]
    shown = subprocess.run(command, capture_output=True, text=True, check=True).stdout
    found = dict(line.split(" ", 1) for line in shown.splitlines() if " " in line)
    assert (found["hostname"], found["port"], found["user"]) == ("192.0.2.1", "2222", "debian")
    assert found["stricthostkeychecking"] in ("true", "yes")
    assert found["hostkeyalias"] == "machine"
    assert "100%% home" not in found["controlpath"]


@pytest.mark.parametrize("name", ['a"b', "a${HOME}b", "a\nb"])
def test_a_path_that_ssh_cannot_be_told_of_is_refused(tmp_path, name):
    with pytest.raises(UsageError, match="ssh cannot be told"):
        ssh_config(
            home=tmp_path,
            address="fe80::1%eth0",
            port=22,
            user="root",
            known_hosts=tmp_path / name,
            runtime=tmp_path,
        )


def test_a_note_tells_of_the_provider_for_tests_and_of_another_kueue():
    assert note_on({"kueue": "v0.20.3", "gpus": "fake-gpu-operator 0.2.0"}) is None
    assert "v0.19.2 runs here" in str(note_on({"kueue": "v0.19.2", "gpus": "extended-resource"}))
    assert "made for tests" in str(note_on({"kueue": "v0.20.3", "gpus": "device-plugin 1"}))


class TestChoices:
    def test_what_was_used_before_is_used_again(self, tmp_path):
        bundle = tmp_path / "bundle"
        bundle.mkdir()
        kept = Choices("ssh", "device-plugin", str(bundle), "ko")
        keep_choices(tmp_path, kept)
        assert choose(tmp_path, VmSettings()) == replace(kept, maker="qemu")
        save_machine(tmp_path, "ssh", Machine("box", "h", 22, "root", tmp_path))
        assert choose(tmp_path, VmSettings()) == kept

    def test_what_is_said_now_comes_first_but_a_machine_stays_what_it_is(self, tmp_path):
        keep_choices(tmp_path, Choices("ssh", "device-plugin", ""))
        save_machine(tmp_path, "ssh", Machine("box", "h", 22, "root", tmp_path))
        assert choose(tmp_path, VmSettings(gpus="extended-resource")).gpus == "extended-resource"
        with pytest.raises(UsageError, match="came by VM=ssh, not by VM=qemu"):
            choose(tmp_path, VmSettings(maker="qemu"))

    def test_the_machine_keeps_its_language_whoever_provisions_it_again(self, tmp_path):
        first = choose(tmp_path, VmSettings(language="ko"))
        assert first.language == "ko"
        keep_choices(tmp_path, first)
        assert choose(tmp_path, VmSettings(language="en")) == first
        keep_choices(tmp_path, replace(first, language="fr"))
        assert choose(tmp_path, VmSettings(language="en")).language == "en"

    def test_a_host_alone_means_ssh_and_nothing_means_qemu(self, tmp_path):
        assert choose(tmp_path, VmSettings(ssh=SshSettings("root@h"))).maker == "ssh"
        # Some shells keep the name of this machine in HOST.
        assert choose(tmp_path, VmSettings(ssh=SshSettings("laptop"))).maker == "qemu"
        assert choose(tmp_path, VmSettings()).gpus == "fake-gpu-operator"

    def test_a_bundle_that_is_gone_is_not_insisted_on(self, tmp_path):
        keep_choices(tmp_path, Choices("ssh", "", str(tmp_path / "gone")))
        assert choose(tmp_path, VmSettings()).bundle == ""


def test_a_place_knows_its_kind_even_when_its_state_is_damaged(tmp_path):
    assert kind_of(tmp_path) is None
    save_state(tmp_path, new_state("kueue_quota", "vm"))
    assert kind_of(tmp_path) == "vm"
    for name in ("place.json", ".place.json.copy"):
        (tmp_path / name).write_text("{")
    (tmp_path / ".gpu-queue-lab-place").write_text('{"lab": "x", "foreign": [], "kind": "vm"}')
    assert kind_of(tmp_path) == "vm"
