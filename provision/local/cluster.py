"""The objects that a lab's cluster starts with, as plain manifests. Reads data, asks nobody."""

from __future__ import annotations

import base64
import platform
from collections.abc import Iterable, Mapping
from pathlib import Path
from string import Template
from typing import Any

import yaml

from provision.local.components import DATA
from provision.target import NodeSpec

Document = dict[str, Any]
GRADER = "lab-grader"
ARCHITECTURES = {"x86_64": "amd64", "aarch64": "arm64"}


def namespaces(names: Iterable[str]) -> tuple[Document, ...]:
    """A Namespace for every name."""
    return tuple(
        {"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": name}} for name in names
    )


def default_accounts(names: Iterable[str]) -> tuple[Document, ...]:
    """The service account `default`, made early: pods are refused until a namespace has it."""
    return tuple(
        {
            "apiVersion": "v1",
            "kind": "ServiceAccount",
            "metadata": {"name": "default", "namespace": name},
        }
        for name in names
    )


def grader_access() -> tuple[Document, ...]:
    """The role of the grader, which may look at everything but Secrets, and its binding."""
    raw = yaml.load((DATA / "grader-role.yaml").read_text("utf-8"), Loader=yaml.CSafeLoader)
    binding = {
        "apiVersion": "rbac.authorization.k8s.io/v1",
        "kind": "ClusterRoleBinding",
        "metadata": {"name": GRADER},
        "roleRef": {
            "apiGroup": "rbac.authorization.k8s.io",
            "kind": "ClusterRole",
            "name": raw["metadata"]["name"],
        },
        "subjects": [{"apiGroup": "rbac.authorization.k8s.io", "kind": "User", "name": GRADER}],
    }
    return raw, binding


def kueue_secret(pki: Path) -> Document:
    """The pair that Kueue's rotator looks for in the cluster before it makes its own."""
    files = {
        "ca.crt": "kueue-ca.crt",
        "ca.key": "kueue-ca.key",
        "tls.crt": "kueue-webhook.crt",
        "tls.key": "kueue-webhook.key",
    }
    return {
        "apiVersion": "v1",
        "kind": "Secret",
        "metadata": {"name": "kueue-webhook-server-cert", "namespace": "kueue-system"},
        "data": {
            name: base64.b64encode((pki / file).read_bytes()).decode()
            for name, file in files.items()
        },
    }


def nodes(specs: Iterable[NodeSpec]) -> tuple[Document, ...]:
    """The lab's nodes, without status, labelled as fake-gpu-operator labels real ones."""
    data = _node_data()
    return tuple(
        {
            "apiVersion": "v1",
            "kind": "Node",
            "metadata": {
                "name": spec.name,
                "labels": _labels(spec, data),
                "annotations": dict(data["annotations"]),
            },
        }
        for spec in specs
    )


def node_statuses(
    specs: Iterable[NodeSpec], kubelet_port: int, kubelet_version: str
) -> tuple[Document, ...]:
    """What a kubelet would report of each node; conditions are KWOK's to write."""
    pods = _node_data()["pods"]
    return tuple(_status(spec, kubelet_port, kubelet_version, pods) for spec in specs)


def _status(spec: NodeSpec, kubelet_port: int, kubelet_version: str, pods: str) -> Document:
    size = {"cpu": spec.cpu, "memory": spec.memory, "pods": pods, "nvidia.com/gpu": str(spec.gpus)}
    return {
        "apiVersion": "v1",
        "kind": "Node",
        "metadata": {"name": spec.name},
        "status": {
            "capacity": size,
            "allocatable": size,
            "addresses": [
                {"type": "InternalIP", "address": "127.0.0.1"},
                {"type": "Hostname", "address": spec.name},
            ],
            "daemonEndpoints": {"kubeletEndpoint": {"Port": kubelet_port}},
            "nodeInfo": {
                "architecture": _architecture(),
                "bootID": "",
                "containerRuntimeVersion": "kwok://",
                "kernelVersion": "",
                "kubeProxyVersion": "",
                "kubeletVersion": kubelet_version,
                "machineID": "",
                "operatingSystem": "linux",
                "osImage": "played by KWOK",
                "systemUUID": "",
            },
        },
    }


def _labels(spec: NodeSpec, data: Mapping[str, Any]) -> dict[str, str]:
    memory = data["gpu_memory_mib"]
    blanks = {
        "name": spec.name,
        "arch": _architecture(),
        "gpus": str(spec.gpus),
        "product": spec.gpu_product,
        "memory": memory.get(spec.gpu_product, memory["default"]),
    }
    return {key: Template(value).substitute(blanks) for key, value in data["labels"].items()}


def _node_data() -> Mapping[str, Any]:
    raw: Mapping[str, Any] = yaml.load(
        (DATA / "nodes.yaml").read_text("utf-8"), Loader=yaml.CSafeLoader
    )
    return raw


def _architecture() -> str:
    return ARCHITECTURES.get(platform.machine(), platform.machine())
