"""The roles alone on a machine of their own: what the whole way through the lab leaves out.

GPUs as an extended resource, check mode, a k3s of others, and a version of Kueue that has less.
"""

from __future__ import annotations

import contextlib
import fcntl
import json
import os
import re
import subprocess
import sys
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
import yaml

from provision.message import Message, say
from provision.vm.bundle.checking import Kind, file_sum, read_bundle
from provision.waiting import wait_until
from tests.machines.booting import boot, halt
from tests.machines.places import cache
from tests.machines.record import Record

pytestmark = [pytest.mark.full, pytest.mark.timeout(1500)]

NAME, SUBNET, NODE = "labroles", 102, "gpu-node-0"
ROLES = ("prereq", "k3s", "gpus", "kueue")
ANSIBLE = Path(__file__).parents[3] / "provision" / "vm" / "ansible"
RECAP = re.compile(r"^machine +: ok=\d+ +changed=(\d+) +unreachable=0 +failed=(\d+)", re.M)
FLAVORS = "resourceflavors.kueue.x-k8s.io"
# Another manager's, so that it is nobody's to take off when the manifest no longer has it.
CONVERSION = {
    "strategy": "Webhook",
    "webhook": {
        "conversionReviewVersions": ["v1"],
        "clientConfig": {
            "service": {"name": "gone", "namespace": "kueue-system", "path": "/convert"}
        },
    },
}


@dataclass(frozen=True, slots=True)
class Run:
    """What a playbook came to."""

    changes: int
    failures: int
    out: str


@dataclass(frozen=True, slots=True)
class Bench:
    """The machine, the variables of the roles, and how both are used."""

    record: Record
    folder: Path
    variables: Mapping[str, Any]

    def ssh(self, script: str) -> str:
        """What a script prints on the machine."""
        record = self.record
        options = ["-i", record.identity, "-o", f"UserKnownHostsFile={record.known_hosts}"]
        command = ["ssh", *options, "-o", "BatchMode=yes", f"root@{record.address}", script]
        return subprocess.run(
            command, text=True, capture_output=True, timeout=120, check=True
        ).stdout

    def kubectl(self, *words: str) -> Any:
        """An object of the cluster."""
        return json.loads(self.ssh("k3s kubectl get --output json " + " ".join(words)))

    def play(self, *options: str, reset: bool = False, **other: Any) -> Run:
        """The roles, or their resets, with `other` variables than the usual ones."""
        tasks = [
            {"ansible.builtin.import_role": {"name": name, "tasks_from": "reset"}}
            for name in ROLES[::-1]
        ]
        plan = {"tasks": tasks} if reset else {"roles": list(ROLES)}
        book, given = self.folder / "book.yml", self.folder / "given.json"
        book.write_text(json.dumps([{"hosts": "lab", "gather_facts": False, **plan}]))
        given.write_text(json.dumps({**self.variables, **other}))
        program = Path(sys.executable).with_name("ansible-playbook")
        command = [program, "-i", self.folder / "hosts.json", "-e", f"@{given}", book, *options]
        done = subprocess.run(
            command, env=self.environ(), text=True, capture_output=True, timeout=900, check=False
        )
        recap = RECAP.search(done.stdout)
        assert recap, done.stdout[-3000:] + done.stderr[-3000:]
        return Run(int(recap.group(1)), int(recap.group(2)), done.stdout + done.stderr)

    def done(self, *options: str, **other: Any) -> Run:
        """As `play`, and it must not fail."""
        run = self.play(*options, **other)
        assert run.failures == 0, run.out[-4000:]
        return run

    def environ(self) -> dict[str, str]:
        """Ansible's settings."""
        return {
            **os.environ,
            "ANSIBLE_CONFIG": str(self.folder / "ansible.cfg"),
            "ANSIBLE_ROLES_PATH": str(ANSIBLE / "roles"),
            "ANSIBLE_LOCAL_TEMP": str(self.folder / "tmp"),
            "ANSIBLE_PIPELINING": "True",
            "ANSIBLE_NOCOLOR": "True",
            "LC_ALL": "C.UTF-8",
        }


@pytest.fixture(scope="module")
def bench(bundle: Path, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Bench]:
    """A fresh machine and the roles' variables."""
    folder = tmp_path_factory.mktemp("roles")
    with (cache() / ".roles.lock").open("w") as lock:
        try:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            pytest.fail(f"the machine {NAME} is in use by another run of the tests")
        halt(NAME)
        record = boot(NAME, SUBNET)
        master = f"-o ControlMaster=auto -o ControlPath={folder}/c -o ControlPersist=15s"
        options = f"-o UserKnownHostsFile={record.known_hosts} {master}"
        host = {
            "ansible_host": record.address,
            "ansible_user": "root",
            "ansible_ssh_private_key_file": str(record.identity),
            "ansible_ssh_common_args": options,
            "ansible_python_interpreter": "/usr/bin/python3",
        }
        (folder / "hosts.json").write_text(json.dumps({"lab": {"hosts": {"machine": host}}}))
        (folder / "ansible.cfg").write_text("[defaults]\n")
        yield Bench(record, folder, variables_of(bundle, record))
        assert halt(NAME) == (), "left behind"


def variables_of(folder: Path, record: Record) -> dict[str, Any]:
    """What the four roles are told."""
    bundle = read_bundle(folder)
    k3s, kueue = bundle.one("k3s", Kind.BINARY), bundle.one("kueue", Kind.MANIFEST)
    return {
        "prereq_debs": [str(bundle.path(deb)) for deb in bundle.all(Kind.DEB)],
        "k3s_version": k3s.version,
        "k3s_binary": str(bundle.path(k3s)),
        "k3s_binary_sha256": k3s.sha256,
        "k3s_images": [
            {"name": image.name, "path": str(bundle.path(image)), "sha256": image.sha256}
            for image in bundle.all(Kind.IMAGES)
        ],
        "k3s_node_name": NODE,
        "k3s_tls_sans": ["127.0.0.1", record.address],
        "gpus_provider": "extended-resource",
        "gpus_count": 4,
        "kueue_version": kueue.version,
        "kueue_manifest": str(bundle.path(kueue)),
        "kueue_manifest_sha256": kueue.sha256,
        "reset_depth": "all",
    }


@pytest.fixture
def provisioned(bench: Bench) -> Bench:
    """The machine with all roles played, in whatever state the test before left it."""
    bench.done()
    return bench


def test_check_mode_says_what_would_change_and_changes_nothing(bench: Bench):
    before = bench.ssh("ls -R /etc /usr/local /var/lib/dpkg/info | sha256sum")
    assert bench.done("--check").changes > 5
    assert bench.ssh("ls -R /etc /usr/local /var/lib/dpkg/info | sha256sum") == before
    bench.done()
    assert bench.done("--check").changes == 0
    bench.ssh(f"k3s kubectl label node {NODE} nvidia.com/gpu.present-")
    seen = bench.done("--check")
    assert seen.changes == 1, seen.out
    assert "nvidia.com/gpu.present" not in bench.kubectl("node", NODE)["metadata"]["labels"]
    assert bench.done().changes == 1
    assert bench.done().changes == 0


def test_gpus_come_back_with_a_node_that_is_registered_anew(provisioned: Bench):
    def missing() -> Message | None:
        with contextlib.suppress(subprocess.CalledProcessError):
            there = provisioned.kubectl("node", NODE)["status"]["allocatable"]
            if there.get("nvidia.com/gpu") == "4":
                return None
        return say("the GPUs are not back")

    provisioned.ssh(f"k3s kubectl delete node {NODE} --wait=false; systemctl restart k3s")
    wait_until(missing, within=120)
    labels = provisioned.done()
    assert labels.changes == 1, labels.out
    assert provisioned.done().changes == 0


def test_kueue_runs_with_the_configuration_of_its_manifest(provisioned: Bench):
    pod = pod_of_kueue(provisioned)
    provisioned.ssh(
        "k3s kubectl -n kueue-system get configmap kueue-manager-config -o yaml"
        " | sed 's/Job.batch: 5/Job.batch: 6/' | k3s kubectl replace -f -"
    )
    mended = provisioned.done()
    assert mended.changes == 2, mended.out
    assert pod_of_kueue(provisioned) != pod
    config = provisioned.kubectl("-n kueue-system configmap kueue-manager-config")
    assert "Job.batch: 5" in config["data"]["controller_manager_config.yaml"]
    assert provisioned.done().changes == 0


def test_what_a_version_of_kueue_no_longer_has_is_taken_off(provisioned: Bench):
    patch = json.dumps({"spec": {"conversion": CONVERSION}})
    provisioned.ssh(f"k3s kubectl patch crd {FLAVORS} --type=merge --patch '{patch}'")
    less = provisioned.folder / "less.yaml"
    less.write_text(with_less(Path(provisioned.variables["kueue_manifest"]).read_text()))
    other = {"kueue_manifest": str(less), "kueue_manifest_sha256": file_sum(less)}
    provisioned.done(**other)
    names = provisioned.ssh("k3s kubectl get clusterroles -o name")
    assert "kueue-topology-editor-role" in names
    assert "kueue-topology-viewer-role" not in names
    for kind in ("mutating", "validating"):
        name = f"{kind}webhookconfiguration kueue-{kind}-webhook-configuration"
        hooks = provisioned.kubectl(name)["webhooks"]
        assert hooks
        assert not [hook["name"] for hook in hooks if "jaxjob" in hook["name"]]
        assert all(hook["clientConfig"]["caBundle"] for hook in hooks)
    assert provisioned.kubectl("crd", FLAVORS)["spec"]["conversion"] == {"strategy": "None"}
    assert provisioned.done(**other).changes == 0


def test_all_that_was_put_on_is_taken_off(provisioned: Bench):
    provisioned.done(reset=True)
    left = provisioned.ssh(
        "ls -d /etc/gpu-queue-lab /var/lib/gpu-queue-lab /usr/local/lib/gpu-queue-lab"
        " /usr/local/bin/* /var/lib/rancher/k3s /var/lib/cni 2>/dev/null;"
        "find /etc/rancher 2>/dev/null;"
        "ls /var/lib/kubelet; pgrep -a 'containerd|kube|etcd|k3s|pause';"
        "grep -e /run/k3s -e /var/lib/kubelet/ -e cni- /proc/self/mounts;"
        "ip -brief link | grep -e cni0 -e veth;"
        "iptables-save | grep KUBE; dpkg-query --show tmux 2>/dev/null; true"
    )
    assert left == ""
    again = provisioned.done(reset=True)
    assert again.changes == 0, again.out


def test_a_k3s_of_others_is_not_touched(bench: Bench):
    bench.done(reset=True)
    bench.ssh("echo theirs >/usr/local/bin/k3s")
    try:
        refused = bench.play()
        assert (refused.changes, refused.failures) == (0, 1)
        assert "a k3s on the machine already" in refused.out
        assert bench.ssh("cat /usr/local/bin/k3s") == "theirs\n"
        assert bench.ssh("ls /etc/gpu-queue-lab 2>/dev/null; true") == ""
    finally:
        bench.ssh("rm /usr/local/bin/k3s")


def pod_of_kueue(bench: Bench) -> str:
    """The uid of Kueue's pod; the newest while another one ends."""
    pods = bench.kubectl("-n kueue-system pods --sort-by=.metadata.creationTimestamp")["items"]
    return str(pods[-1]["metadata"]["uid"])


def with_less(manifest: str) -> str:
    """Kueue's manifest without a role, without the webhooks of one kind, one version unserved."""
    loader = getattr(yaml, "CSafeLoader", yaml.SafeLoader)
    documents = [document for document in yaml.load_all(manifest, Loader=loader) if document]
    kept = [d for d in documents if d["metadata"]["name"] != "kueue-topology-viewer-role"]
    assert len(kept) == len(documents) - 1
    for document in kept:
        if document["kind"].endswith("WebhookConfiguration"):
            hooks = [hook for hook in document["webhooks"] if "jaxjob" not in hook["name"]]
            assert len(hooks) < len(document["webhooks"])
            document["webhooks"] = hooks
        if document["metadata"]["name"] == FLAVORS:
            for version in document["spec"]["versions"]:
                version["served"] = version["name"] == "v1beta2"
    return yaml.dump_all(kept, Dumper=getattr(yaml, "CSafeDumper", yaml.SafeDumper))
