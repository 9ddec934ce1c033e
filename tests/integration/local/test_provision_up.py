"""What a place is once it is up, and that it comes back as it was."""

from __future__ import annotations

import json
import ssl
import stat
import time
import urllib.request
from pathlib import Path

import pytest

from tests.integration.places import TestPlace, pod

pytestmark = pytest.mark.integration


def test_everything_runs_and_is_ready(place: TestPlace):
    status = place.target.status()
    assert status.is_provisioned
    assert status.is_ready
    assert [c.name for c in status.components][:2] == ["etcd", "kube-apiserver"]
    assert {c.version[0] for c in status.components} == {"v"}


def test_second_up_changes_nothing(place: TestPlace):
    pids = place.pids
    began = time.monotonic()
    again = place.target.up(place.tell)
    assert not again.is_changed
    assert time.monotonic() - began < 2
    assert place.pids == pids


def test_node_is_as_the_exporter_labels_it(place: TestPlace):
    node = place.get("node", "gpu-node-0")
    labels = node["metadata"]["labels"]
    assert labels["run.ai/simulated-gpu-node-pool"] == "default"
    assert labels["nvidia.com/gpu.present"] == "true"
    assert labels["nvidia.com/gpu.count"] == "4"
    assert labels["nvidia.com/gpu.memory"] == "81920"
    size = node["status"]["allocatable"]
    assert (size["cpu"], size["memory"], size["nvidia.com/gpu"]) == ("8", "16Gi", "4")
    ready = [c for c in node["status"]["conditions"] if c["type"] == "Ready"]
    assert ready[0]["status"] == "True"


def test_kueue_serves_only_the_new_version(place: TestPlace):
    served = place.kubectl("api-versions").split()
    assert "kueue.x-k8s.io/v1beta2" in served
    assert "kueue.x-k8s.io/v1beta1" not in served
    assert "v1beta1 is not served" in str(place.target.info().note)


def test_kueue_reports_as_the_newer_one(place: TestPlace):
    for manifest in (
        {"kind": "ResourceFlavor", "metadata": {"name": "f"}},
        {
            "kind": "ClusterQueue",
            "metadata": {"name": "q"},
            "spec": {
                "namespaceSelector": {},
                "resourceGroups": [
                    {
                        "coveredResources": ["cpu"],
                        "flavors": [
                            {"name": "f", "resources": [{"name": "cpu", "nominalQuota": "0"}]}
                        ],
                    }
                ],
            },
        },
        {
            "kind": "LocalQueue",
            "metadata": {"name": "l", "namespace": "team-a"},
            "spec": {"clusterQueue": "q"},
        },
    ):
        document = {"apiVersion": "kueue.x-k8s.io/v1beta2", **manifest}
        place.kubectl("apply", "-f", "-", stdin=json.dumps(document))
    place.kubectl("create", "job", "waits", "-n", "team-a", "--image=x", "--dry-run=client")
    job = {
        "apiVersion": "batch/v1",
        "kind": "Job",
        "metadata": {
            "name": "waits",
            "namespace": "team-a",
            "labels": {"kueue.x-k8s.io/queue-name": "l"},
        },
        "spec": {
            "template": {
                "spec": {
                    "restartPolicy": "Never",
                    "containers": [
                        {"name": "c", "image": "x", "resources": {"requests": {"cpu": "1"}}}
                    ],
                }
            }
        },
    }
    place.kubectl("apply", "-f", "-", stdin=json.dumps(job))

    def reasons() -> set[str]:
        items = place.get("workloads.kueue.x-k8s.io", "-n", "team-a")["items"]
        conditions = [c for i in items for c in i.get("status", {}).get("conditions", ())]
        return {c["reason"] for c in conditions}

    expected = {"ExceedsMaxQuota", "WaitingForQuota"}
    place.await_true(lambda: bool(reasons() & expected), 10, "no reason of the newer Kueue")
    place.kubectl("delete", "job", "waits", "-n", "team-a")
    place.kubectl("delete", "localqueue.kueue.x-k8s.io", "l", "-n", "team-a")
    place.kubectl("delete", "clusterqueue.kueue.x-k8s.io", "q")
    place.kubectl("delete", "resourceflavor.kueue.x-k8s.io", "f")


def test_grader_reads_but_never_writes_nor_sees_secrets(place: TestPlace):
    def can(verb: str, what: str) -> bool:
        done = place.run(
            "--kubeconfig", str(place.target.info().grader_kubeconfig), "auth", "can-i", verb, what
        )
        return done.stdout.strip() == "yes"

    for what in ("pods", "nodes", "events", "jobs.batch", "workloads.kueue.x-k8s.io", "crds"):
        assert can("list", what), what
    assert not can("get", "secrets")
    for verb in ("create", "update", "patch", "delete"):
        assert not can(verb, "pods"), verb
        assert not can(verb, "workloads.kueue.x-k8s.io"), verb


def test_keys_are_private_and_only_loopback_is_used(place: TestPlace):
    for path in place.home.rglob("*"):
        if path.suffix == ".key" or path.name.endswith("kubeconfig"):
            assert stat.S_IMODE(path.stat().st_mode) == 0o600, path
    listening = _listening_addresses()
    for port in place.state["ports"].values():
        assert listening.get(port) == {"127.0.0.1"}, port


def test_etcd_takes_only_its_own_certificates(place: TestPlace):
    pki, port = place.home / "pki", place.state["ports"]["etcd"]
    url = f"https://127.0.0.1:{port}/health"

    def ask(identity: str | None) -> int:
        context = ssl.create_default_context(cafile=pki / "etcd-ca.crt")
        if identity:
            context.load_cert_chain(pki / f"{identity}.crt", pki / f"{identity}.key")
        return urllib.request.urlopen(url, context=context, timeout=5).status

    assert ask("etcd-client") == 200
    for stranger in (None, "admin"):
        with pytest.raises(OSError, match=r"certificate|alert|ssl|SSL|reset"):
            ask(stranger)


def test_nobody_is_served_without_a_certificate(place: TestPlace):
    context = ssl.create_default_context(cafile=place.home / "pki" / "ca.crt")
    url = f"https://127.0.0.1:{place.state['ports']['apiserver']}/api"
    with pytest.raises(urllib.request.HTTPError) as caught:
        urllib.request.urlopen(url, context=context, timeout=5)
    caught.value.close()
    assert caught.value.code == 401


def test_down_and_up_keep_jobs(place: TestPlace):
    place.kubectl(
        "apply", "-f", "-", stdin=pod("stays", ["sh", "-c", "trap : TERM; sleep 1d & wait"])
    )
    before = place.get("pod", "stays", "-n", "team-a")["metadata"]["uid"]
    place.target.down(place.tell)
    status = place.target.status()
    assert status.is_provisioned
    assert not any(c.is_running or c.is_ready for c in status.components)
    began = time.monotonic()
    assert place.target.up(place.tell).is_changed
    assert time.monotonic() - began < 20
    assert place.get("pod", "stays", "-n", "team-a")["metadata"]["uid"] == before
    place.kubectl("delete", "pod", "stays", "-n", "team-a")


def test_own_kubeconfig_of_the_person_is_never_touched(place: TestPlace):
    assert not (Path(place.settings.environ["HOME"]) / ".kube").exists()


def test_reset_goes_back_to_the_first_state(place: TestPlace):
    first = place.get("namespace", "team-a")["metadata"]["uid"]
    place.kubectl("create", "namespace", "made-later")
    place.kubectl("delete", "node", "gpu-node-0")
    assert place.target.reset(place.tell).is_changed
    assert place.target.status().is_ready
    assert place.get("namespace", "team-a")["metadata"]["uid"] == first
    names = {n["metadata"]["name"] for n in place.get("namespaces")["items"]}
    assert "made-later" not in names
    assert place.get("node", "gpu-node-0")["status"]["allocatable"]["nvidia.com/gpu"] == "4"
    place.kubectl("create", "namespace", "works-again")


def test_workspace_outlives_reset_and_destroy(place: TestPlace):
    note = place.spec.workspace / "mine.txt"
    note.write_text("learner's own")
    place.target.reset(place.tell)
    place.target.destroy(place.tell)
    assert note.read_text() == "learner's own"
    assert [p.name for p in place.home.iterdir()] == ["gsb-kueue"]
    assert not place.target.status().is_provisioned
    note.unlink()


def _listening_addresses() -> dict[int, set[str]]:
    """Ports that someone listens on, from the kernel's own tables."""
    found: dict[int, set[str]] = {}
    for name in ("tcp", "tcp6"):
        for line in Path(f"/proc/net/{name}").read_text().splitlines()[1:]:
            _, local, _, state, *_ = line.split()
            if state == "0A":
                address, _, port = local.partition(":")
                is_loopback = address in ("0100007F", "0" * 24 + "01000000")
                found.setdefault(int(port, 16), set()).add("127.0.0.1" if is_loopback else address)
    return found
