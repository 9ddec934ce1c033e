"""What the role gpus writes onto a machine.

fake-gpu-operator itself is not to be had here: its HelmChart object is compared with a text that
was reviewed, and no more is proven of it.
"""

import subprocess

import pytest
import yaml

from tests.unit.vm.qemu_fakes import golden
from tests.unit.vm.roles import ANSIBLE, play

GOLDEN = ANSIBLE.parents[2] / "tests" / "golden" / "vm"
TEMPLATES = ANSIBLE / "roles" / "gpus" / "templates"
PROVIDERS = ("fake-gpu-operator", "extended-resource", "device-plugin")
GIVEN = {
    "k3s_node_name": "gpu-node-0",
    "gpus_count": 4,
    "gpus_product": "NVIDIA-A100-SXM4-80GB",
    "gpus_chart_version": "0.2.0",
    "gpus_chart_here": {"stat": {"checksum": "0123456789abcdef" * 4}},
}


@pytest.fixture(scope="module")
def written(tmp_path_factory):
    """The files by name, as Ansible renders them."""
    folder = tmp_path_factory.mktemp("gpus")
    files = {"fake-gpu-operator.yaml": ("fake-gpu-operator.yaml.j2", PROVIDERS[0])}
    files |= {f"bring-gpus-back.{name}": ("bring-gpus-back.j2", name) for name in PROVIDERS}
    tasks = [
        {
            "ansible.builtin.template": {
                "src": str(TEMPLATES / template),
                "dest": str(folder / name),
                "mode": "0600",
            },
            "vars": {"gpus_provider": provider},
        }
        for name, (template, provider) in files.items()
    ]
    labels = "{{ gpus_labels | to_json }}"
    tasks.append(
        {
            "ansible.builtin.copy": {
                "content": labels,
                "dest": str(folder / "labels"),
                "mode": "0600",
            }
        }
    )
    play(folder, "gpus", GIVEN, tasks)
    return {name: (folder / name).read_text() for name in [*files, "labels"]}


@pytest.mark.golden
def test_the_helm_chart_object_is_the_reviewed_one(written):
    golden(GOLDEN / "fake-gpu-operator.yaml", written["fake-gpu-operator.yaml"])


def test_the_helm_chart_object_avoids_what_is_known_to_fail(written):
    namespace, chart = yaml.safe_load_all(written["fake-gpu-operator.yaml"])
    assert namespace["metadata"]["name"] == chart["spec"]["targetNamespace"] == "gpu-operator"
    values = yaml.safe_load(chart["spec"]["valuesContent"])
    assert values["runtimeClass"] == {"enabled": False}
    assert values["kwokGpuDevicePlugin"] == {"enabled": False}
    pool = values["topology"]["nodePools"]["default"]
    assert (pool["gpuCount"], pool["gpuProduct"]) == (4, "NVIDIA-A100-SXM4-80GB")
    for part in ("devicePlugin", "statusUpdater", "statusExporter", "topologyServer"):
        assert values[part]["image"]["pullPolicy"] == "IfNotPresent"
    # Another archive under the same version is another text, so that helm-controller looks at it.
    assert "0.2.0-0123456789ab.tgz" in chart["spec"]["chart"]


def test_the_node_is_labelled_as_on_the_local_target(written):
    local = yaml.safe_load((ANSIBLE.parents[1] / "local/data/nodes.yaml").read_text())["labels"]
    labels = yaml.safe_load(written["labels"])
    both = set(labels) & set(local)
    assert both == set(labels)
    assert labels["nvidia.com/gpu.present"] == local["nvidia.com/gpu.present"] == "true"
    assert labels["nvidia.com/gpu.product"] == "NVIDIA-A100-SXM4-80GB"
    assert {str(value) for value in labels.values()} >= {"4", "81920", "mixed", "default"}


@pytest.mark.parametrize("provider", PROVIDERS)
def test_what_brings_gpus_back_is_a_shell_script(written, provider, tmp_path):
    text = written[f"bring-gpus-back.{provider}"]
    done = subprocess.run(["sh", "-n"], input=text, text=True, capture_output=True, check=False)
    assert done.returncode == 0, done.stderr
    assert ("--subresource=status" in text) == (provider == "extended-resource")


K3S = """#!/bin/sh
echo "$@" >>{log}
case "$*" in
  *"get pods"*) printf 'old 2026-01-01T00:00:00Z\\nnew 2026-01-01T02:00:00Z\\nstarting \\n' ;;
  *"get node"*) printf 1 ;;
esac
"""


@pytest.mark.parametrize("provider", PROVIDERS)
def test_gpus_are_brought_back(written, provider, tmp_path):
    """k3s began at 01:00: the older plugin is started anew; a count that was lost is written."""
    log = tmp_path / "log"
    programs = {
        "k3s": K3S.format(log=log),
        "systemctl": "#!/bin/sh\necho ExecMainStartTimestamp=@1767229200\n",
    }
    for name, text in programs.items():
        (tmp_path / name).write_text(text)
        (tmp_path / name).chmod(0o755)
    script = written[f"bring-gpus-back.{provider}"].replace("/usr/local/bin/k3s", f"{tmp_path}/k3s")
    done = subprocess.run(
        ["sh", "-c", script, "bring-gpus-back", "once"],
        env={"PATH": f"{tmp_path}:/usr/bin:/bin"},
        capture_output=True,
        text=True,
        timeout=30,
        check=True,
    )
    assert done.stdout.count("changed") == 1
    calls = log.read_text()
    if provider == "extended-resource":
        assert "patch node gpu-node-0 --subresource=status" in calls
        assert '"nvidia.com/gpu": "4"' in calls
    else:
        assert "delete pod old" in calls
        assert "delete pod new" not in calls
        assert "delete pod starting" not in calls
