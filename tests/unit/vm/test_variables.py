"""What the roles are told fits what they say that they take."""

import hashlib
from dataclasses import replace
from pathlib import Path

import pytest
import yaml

from provision.errors import TargetError
from provision.target import NodeSpec, PlaceSpec
from provision.vm.bundle.checking import Artefact, Bundle, Kind
from provision.vm.machine import Machine
from provision.vm.variables import (
    inventory,
    require_one_node,
    reset_variables,
    site_variables,
)

ROLES = Path(__file__).parents[3] / "provision" / "vm" / "ansible" / "roles"
NODE = NodeSpec("gpu-node-0", "8", "16Gi", 4, "NVIDIA-A100-SXM4-80GB")
BUNDLE = Bundle(
    Path("/bundle"),
    "linux/amd64",
    "debian-12",
    (
        Artefact("k3s", Kind.BINARY, "v1.36.3+k3s1", "k3s", "aa"),
        Artefact("pause", Kind.IMAGES, "1", "images/pause.tar", "bb"),
        Artefact("kueue", Kind.IMAGES, "v0.20.3", "images/kueue.tar", "cc"),
        Artefact("kueue", Kind.MANIFEST, "v0.20.3", "manifests/kueue.yaml", "dd"),
        Artefact("device-plugin", Kind.MANIFEST, "1", "manifests/plugin.yaml", "ee"),
        Artefact("fake-gpu-operator", Kind.CHART, "0.2.0", "charts/fgo.tgz", "ff"),
        Artefact("gpu-queue-lab", Kind.WHEEL, "0.1.0", "wheels/lab.whl", "00"),
        Artefact("tmux", Kind.DEB, "3.3", "debs/tmux.deb", "11"),
    ),
)


def spec(*nodes: NodeSpec) -> PlaceSpec:
    home = Path("/home/lab")
    return PlaceSpec("kueue_quota", home, Path("/root/gsb-kueue"), ("team-a",), nodes or (NODE,))


def machine(user: str = "root") -> Machine:
    return Machine("box", "192.0.2.1", 22, user, Path("/home/my lab/ssh_config"))


def site(gpus: str = "device-plugin") -> dict[str, object]:
    return dict(site_variables(spec(), BUNDLE, machine(), gpus=gpus, language="ko"))


def test_paths_are_those_of_the_bundle():
    found = site()
    assert found["k3s_binary"] == "/bundle/k3s"
    assert found["prereq_debs"] == ["/bundle/debs/tmux.deb"]
    assert found["grader_wheels"] == ["/bundle/wheels/lab.whl"]
    assert found["kueue_manifest"] == "/bundle/manifests/kueue.yaml"
    assert found["k3s_images"] == [
        {"name": "pause", "path": "/bundle/images/pause.tar", "sha256": "bb"},
        {"name": "kueue", "path": "/bundle/images/kueue.tar", "sha256": "cc"},
    ]


def test_node_and_gpus_are_the_labs():
    found = site()
    assert found["k3s_node_name"] == "gpu-node-0"
    assert (found["gpus_count"], found["gpus_product"]) == (4, NODE.gpu_product)


@pytest.mark.parametrize(
    ("gpus", "named"),
    [
        ("device-plugin", {"gpus_manifest": "/bundle/manifests/plugin.yaml"}),
        (
            "fake-gpu-operator",
            {"gpus_chart": "/bundle/charts/fgo.tgz", "gpus_chart_version": "0.2.0"},
        ),
        ("extended-resource", {}),
    ],
)
def test_each_provider_gets_what_it_needs_and_no_more(gpus, named):
    found = site(gpus)
    extra = {"gpus_manifest", "gpus_chart", "gpus_chart_version"} & found.keys()
    assert {name: found[name] for name in extra} == named


@pytest.mark.parametrize("gpus", ["device-plugin", "fake-gpu-operator", "extended-resource"])
def test_every_role_is_given_all_that_it_requires(gpus):
    found = site(gpus)
    roles = {name.partition("_")[0] for name in found}
    assert roles == {"prereq", "k3s", "gpus", "kueue", "training", "grader"}
    for role in roles:
        text = (ROLES / role / "meta" / "argument_specs.yml").read_text("utf-8")
        options = yaml.safe_load(text)["argument_specs"]["main"].get("options", {})
        needed = {name for name, option in options.items() if option.get("required")}
        assert needed <= found.keys(), role
        given = {name for name in found if name.startswith(f"{role}_")}
        assert given <= options.keys() | set(_defaults(role)), role


def _defaults(role: str) -> dict[str, object]:
    file = ROLES / role / "defaults" / "main.yml"
    return yaml.safe_load(file.read_text("utf-8")) or {} if file.is_file() else {}


MANIFEST = """\
kind: Namespace
metadata: {name:   kueue-system}
---
kind: ConfigMap
metadata: {name: kueue-manager-config, namespace: kueue-system}
data:
  controller_manager_config.yaml: |
    manageJobsWithoutQueueName: false
    leaderElection: {leaderElect: true}
    integrations: {frameworks: [batch/job, ray.io/rayjob]}
---
kind: Deployment
metadata: {name:   kueue-controller-manager}
"""


@pytest.fixture
def training(tmp_path):
    """A bundle with parts, and a lab that asks for them."""
    (tmp_path / "bundle").mkdir()
    (tmp_path / "bundle" / "kueue.yaml").write_text(MANIFEST)
    more = (
        Artefact("jobset", Kind.MANIFEST, "v0.12.0", "manifests/jobset.yaml", "22"),
        Artefact("trainer", Kind.MANIFEST, "v2.3.0", "manifests/trainer.zip", "33"),
    )
    kueue = Artefact("kueue", Kind.MANIFEST, "v0.20.3", "kueue.yaml", "dd")
    others = tuple(a for a in BUNDLE.artefacts if (a.name, a.kind) != ("kueue", Kind.MANIFEST))
    bundle = Bundle(tmp_path / "bundle", "linux/amd64", "debian-12", (kueue, *others, *more))
    lab = replace(
        spec(),
        lab="gpu_preemption",
        home=tmp_path / "home",
        workspace=Path("/root/gsb-preempt"),
        parts=("jobset", "trainer", "platform"),
        kueue={"manageJobsWithoutQueueName": True},
        frameworks=("pod",),
    )
    return lab, bundle


def test_a_lab_with_parts_brings_them_and_its_own_configuration_of_kueue(training):
    lab, bundle = training
    found = site_variables(lab, bundle, machine(), gpus="extended-resource", language="en")
    assert [part["name"] for part in found["training_parts"]] == ["jobset", "trainer"]  # type: ignore[attr-defined]
    assert found["grader_workspace"] == "/root/gsb-preempt"
    assert found["grader_parts"] == ["jobset", "trainer", "platform"]
    assert found["kueue_spared"] == ["gpu-operator", "jobset-system", "kubeflow-system"]
    written = Path(str(found["kueue_manifest"]))
    assert written.is_relative_to(lab.home)
    assert found["kueue_manifest_sha256"] == hashlib.sha256(written.read_bytes()).hexdigest()
    texts, before = written.read_text().split("\n---"), MANIFEST.split("\n---")
    assert (texts[0], texts[2]) == (before[0], before[2])
    config = yaml.safe_load(yaml.safe_load(texts[1])["data"]["controller_manager_config.yaml"])
    assert config == {
        "manageJobsWithoutQueueName": True,
        "leaderElection": {"leaderElect": True},
        "integrations": {
            "frameworks": [
                *("batch/job", "jobset.x-k8s.io/jobset", "trainer.kubeflow.org/trainjob", "pod")
            ]
        },
    }


def test_a_manifest_without_a_configuration_is_refused(training):
    lab, bundle = training
    (bundle.folder / "kueue.yaml").write_text("kind: Namespace\n")
    with pytest.raises(TargetError, match="no configuration of Kueue"):
        site_variables(lab, bundle, machine(), gpus="extended-resource", language="en")


def test_a_lab_without_parts_takes_kueues_manifest_as_it_is():
    found = site()
    assert (found["training_parts"], found["grader_parts"]) == ([], [])
    assert found["kueue_manifest"] == "/bundle/manifests/kueue.yaml"
    assert "kueue_spared" not in found


def test_a_reset_needs_no_bundle():
    found = reset_variables(spec(), gpus="device-plugin", language="en", depth="all")
    assert found["reset_depth"] == "all"
    assert not any("/" in str(v) for k, v in found.items() if k != "grader_workspace")


def test_only_who_is_not_root_becomes_it():
    root = inventory(machine())["lab"]["hosts"]["machine"]  # type: ignore[index]
    other = inventory(machine("debian"))["lab"]["hosts"]["machine"]  # type: ignore[index]
    assert "ansible_become" not in root
    assert other["ansible_become"] is True
    assert root["ansible_ssh_common_args"] == "-F '/home/my lab/ssh_config'"


def test_a_lab_with_two_nodes_is_refused():
    with pytest.raises(TargetError, match="wants 2 nodes; the vm target has one"):
        require_one_node(spec(NODE, NODE))
