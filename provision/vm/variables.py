"""What the roles are told: names and values of `site.yml` and `reset.yml`, and their inventory."""

from __future__ import annotations

import shlex
from collections.abc import Mapping

from provision.errors import TargetError
from provision.message import say
from provision.target import PlaceSpec
from provision.vm.bundle.checking import Artefact, Bundle, Kind, file_sum
from provision.vm.collecting.plan import PARTS
from provision.vm.machine import ALIAS, Machine
from provision.vm.overlaying import overlaid

GROUP = "lab"
# Namespaces of the parts: Kueue's webhooks leave them alone, so that their pods start without it.
SPACES = {"jobset": "jobset-system", "trainer": "kubeflow-system"}
GPU_PRODUCT = "NVIDIA-A100-SXM4-80GB"

Variables = Mapping[str, object]


def site_variables(
    spec: PlaceSpec, bundle: Bundle, machine: Machine, *, gpus: str, language: str
) -> Variables:
    """Everything that `site.yml` reads; paths are those of the bundle's files on this machine.

    `gpus` is the provider, `language` the learner's.
    """
    return {
        "prereq_debs": _paths(bundle, Kind.DEB),
        **_k3s(spec, bundle, machine),
        **_gpus(spec, bundle, gpus),
        **_kueue(spec, bundle),
        "training_parts": _training(spec, bundle),
        "grader_wheels": _paths(bundle, Kind.WHEEL),
        **_grader(spec, language),
    }


def reset_variables(spec: PlaceSpec, *, gpus: str, language: str, depth: str) -> Variables:
    """What `reset.yml` reads. `depth` is `lab`, the learner's things, or `all` that was put on.

    It needs no bundle: what was put on is known by its names.
    """
    return {
        "reset_depth": depth,
        "k3s_node_name": _node(spec),
        "gpus_provider": gpus,
        **_grader(spec, language),
    }


def inventory(machine: Machine) -> Mapping[str, object]:
    """The inventory, as Ansible's yaml plugin reads it: one host, reached by its ssh_config."""
    host: dict[str, object] = {
        "ansible_connection": "ssh",
        "ansible_ssh_common_args": f"-F {shlex.quote(str(machine.ssh_config))}",
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


def _gpus(spec: PlaceSpec, bundle: Bundle, gpus: str) -> Variables:
    node = spec.nodes[0]
    values: dict[str, object] = {
        "gpus_provider": gpus,
        "gpus_count": node.gpus,
        "gpus_product": node.gpu_product or GPU_PRODUCT,
    }
    if gpus == "fake-gpu-operator":
        chart = bundle.one("fake-gpu-operator", Kind.CHART)
        values |= {"gpus_chart": str(bundle.path(chart)), "gpus_chart_version": chart.version}
    if gpus == "device-plugin":
        manifest = bundle.one("device-plugin", Kind.MANIFEST)
        values["gpus_manifest"] = str(bundle.path(manifest))
    return values


def _kueue(spec: PlaceSpec, bundle: Bundle) -> Variables:
    """A lab's own settings go into a copy of the manifest, which the role takes as it is."""
    kueue = bundle.one("kueue", Kind.MANIFEST)
    values: dict[str, object] = {
        "kueue_version": kueue.version,
        "kueue_manifest": str(bundle.path(kueue)),
        "kueue_manifest_sha256": kueue.sha256,
    }
    if laid_over := overlaid(bundle.path(kueue), spec):
        values["kueue_manifest"] = str(laid_over)
        values["kueue_manifest_sha256"] = file_sum(laid_over)
    if spaces := [SPACES[name] for name in PARTS if name in spec.parts]:
        values["kueue_spared"] = ["gpu-operator", *spaces]
    return values


def _training(spec: PlaceSpec, bundle: Bundle) -> list[Mapping[str, str]]:
    found = [bundle.one(name, Kind.MANIFEST) for name in PARTS if name in spec.parts]
    return [{"name": p.name, "version": p.version, "file": str(bundle.path(p))} for p in found]


def _grader(spec: PlaceSpec, language: str) -> Variables:
    return {
        "grader_lab": spec.lab,
        "grader_namespaces": list(spec.namespaces),
        "grader_workspace": str(spec.workspace),
        "grader_language": language,
        "grader_parts": list(spec.parts),
    }


def _image(bundle: Bundle, artefact: Artefact) -> Mapping[str, str]:
    return {
        "name": artefact.name,
        "path": str(bundle.path(artefact)),
        "sha256": artefact.sha256,
    }


def require_one_node(spec: PlaceSpec) -> None:
    """TargetError for a lab that wants more nodes than the one that a machine is."""
    if len(spec.nodes) != 1:
        raise TargetError(
            say(
                "The lab {lab} wants {count} nodes; the vm target has one.",
                lab=spec.lab,
                count=len(spec.nodes),
            ),
            next_move=say("Use the local target for it: make provision TARGET=local."),
        )


def _node(spec: PlaceSpec) -> str:
    return spec.nodes[0].name


def _paths(bundle: Bundle, kind: Kind) -> list[str]:
    return [str(bundle.path(artefact)) for artefact in bundle.all(kind)]
