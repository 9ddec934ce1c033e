"""What the roles are told: names and values of `site.yml` and `reset.yml`, and their inventory."""

from __future__ import annotations

from collections.abc import Mapping

from provision.errors import TargetError
from provision.message import say
from provision.target import PlaceSpec
from provision.vm.bundle import Artefact, Bundle, Kind
from provision.vm.machine import ALIAS, Machine
from provision.vm.settings import VmSettings

WORKSPACE = "/root/gsb-kueue"
GROUP = "lab"
GPU_PRODUCT = "NVIDIA-A100-SXM4-80GB"

Variables = Mapping[str, object]


def site_variables(
    spec: PlaceSpec, bundle: Bundle, settings: VmSettings, machine: Machine
) -> Variables:
    """Everything that `site.yml` reads; paths are those of the bundle's files on this machine."""
    return {
        "prereq_debs": _paths(bundle, Kind.DEB),
        **_k3s(spec, bundle, machine),
        **_gpus(spec, bundle, settings),
        **_kueue(bundle),
        "grader_wheels": _paths(bundle, Kind.WHEEL),
        **_grader(spec, settings),
    }


def reset_variables(spec: PlaceSpec, settings: VmSettings, depth: str) -> Variables:
    """What `reset.yml` reads. `depth` is `lab`, the learner's things, or `all` that was put on.

    It needs no bundle: what was put on is known by its names.
    """
    return {
        "reset_depth": depth,
        "k3s_node_name": _node(spec),
        "gpus_provider": settings.gpus,
        **_grader(spec, settings),
    }


def inventory(machine: Machine) -> Mapping[str, object]:
    """The inventory, as Ansible's yaml plugin reads it: one host, reached by its ssh_config."""
    host: dict[str, object] = {
        "ansible_connection": "ssh",
        "ansible_ssh_common_args": f"-F '{machine.ssh_config}'",
        "ansible_python_interpreter": "/usr/bin/python3",
    }
    if not machine.is_root:
        host["ansible_become"] = True
    return {GROUP: {"hosts": {ALIAS: host}}}


def _k3s(spec: PlaceSpec, bundle: Bundle, machine: Machine) -> Variables:
    k3s = bundle.one("k3s", Kind.BINARY)
    return {
        "k3s_version": k3s.version,
        "k3s_binary": str(bundle.path(k3s)),
        "k3s_binary_sha256": k3s.sha256,
        "k3s_images": [_image(bundle, artefact) for artefact in bundle.all(Kind.IMAGES)],
        "k3s_node_name": _node(spec),
        "k3s_tls_sans": sorted({"127.0.0.1", machine.address}),
    }


def _gpus(spec: PlaceSpec, bundle: Bundle, settings: VmSettings) -> Variables:
    node = spec.nodes[0]
    values: dict[str, object] = {
        "gpus_provider": settings.gpus,
        "gpus_count": node.gpus,
        "gpus_product": node.gpu_product or GPU_PRODUCT,
    }
    if settings.gpus == "fake-gpu-operator":
        chart = bundle.one("fake-gpu-operator", Kind.CHART)
        values |= {"gpus_chart": str(bundle.path(chart)), "gpus_chart_version": chart.version}
    if settings.gpus == "device-plugin":
        manifest = bundle.one("device-plugin", Kind.MANIFEST)
        values["gpus_manifest"] = str(bundle.path(manifest))
    return values


def _kueue(bundle: Bundle) -> Variables:
    kueue = bundle.one("kueue", Kind.MANIFEST)
    return {
        "kueue_version": kueue.version,
        "kueue_manifest": str(bundle.path(kueue)),
        "kueue_manifest_sha256": kueue.sha256,
    }


def _grader(spec: PlaceSpec, settings: VmSettings) -> Variables:
    return {
        "grader_lab": spec.lab,
        "grader_namespaces": list(spec.namespaces),
        "grader_workspace": WORKSPACE,
        "grader_language": settings.language,
    }


def _image(bundle: Bundle, artefact: Artefact) -> Mapping[str, str]:
    return {
        "name": artefact.name,
        "path": str(bundle.path(artefact)),
        "sha256": artefact.sha256,
    }


def _node(spec: PlaceSpec) -> str:
    if len(spec.nodes) != 1:
        raise TargetError(
            say(
                "The lab {lab} wants {count} nodes; the vm target has one.",
                lab=spec.lab,
                count=len(spec.nodes),
            ),
            next_move=say("Use the local target for it: make provision TARGET=local."),
        )
    return spec.nodes[0].name


def _paths(bundle: Bundle, kind: Kind) -> list[str]:
    return [str(bundle.path(artefact)) for artefact in bundle.all(kind)]
