from __future__ import annotations

import json
from pathlib import Path

import pytest

from provision.errors import TargetError
from provision.local import cluster
from provision.local.api import object_path
from provision.local.components import load_inventory
from provision.local.manifests import Endpoint, rewrite_manifests
from provision.target import NodeSpec

KUEUE, JOBSET, *_ = load_inventory().controllers
HERE = Endpoint(21006, "Q0E=")


def definition(plural: str) -> dict:
    return {
        "apiVersion": "apiextensions.k8s.io/v1",
        "kind": "CustomResourceDefinition",
        "metadata": {"name": f"{plural}.kueue.x-k8s.io"},
        "spec": {
            "group": "kueue.x-k8s.io",
            "names": {"plural": plural},
            "versions": [
                {"name": "v1beta1", "served": True, "storage": False},
                {"name": "v1beta2", "served": True, "storage": True},
            ],
        },
        "status": {"acceptedNames": {}},
    }


def test_old_version_is_not_served_and_conversion_calls_loopback():
    original = definition("workloads")
    before = json.dumps(original)
    (found,) = rewrite_manifests([original], KUEUE, HERE)
    served = {v["name"]: v["served"] for v in found["spec"]["versions"]}
    assert served == {"v1beta1": False, "v1beta2": True}
    assert found["spec"]["conversion"]["webhook"]["clientConfig"] == {
        "url": "https://127.0.0.1:21006/convert",
        "caBundle": "Q0E=",
    }
    assert "status" not in found
    assert json.dumps(original) == before


def test_definition_without_conversion_stays_so():
    (found,) = rewrite_manifests([definition("resourceflavors")], KUEUE, HERE)
    assert "conversion" not in found["spec"]


@pytest.mark.parametrize("kind", ["MutatingWebhookConfiguration", "ValidatingWebhookConfiguration"])
def test_webhook_calls_loopback_instead_of_a_service(kind: str):
    service = {"name": "webhook-service", "namespace": "system", "path": "/mutate-batch-v1-job"}
    original = {
        "apiVersion": "admissionregistration.k8s.io/v1",
        "kind": kind,
        "metadata": {"name": "webhook-configuration"},
        "webhooks": [{"name": "mjob.kb.io", "clientConfig": {"service": service}}],
    }
    (found,) = rewrite_manifests([original], KUEUE, HERE)
    assert found["metadata"]["name"] == "kueue-webhook-configuration"
    assert found["webhooks"][0]["clientConfig"] == {
        "url": "https://127.0.0.1:21006/mutate-batch-v1-job",
        "caBundle": "Q0E=",
    }


def test_webhook_is_asked_only_about_what_has_its_label():
    hooks = [{"name": name, "clientConfig": {"service": {}}} for name in ("mpod.kb.io", "other")]
    original = {
        "kind": "MutatingWebhookConfiguration",
        "metadata": {"name": "configuration"},
        "webhooks": hooks,
    }
    (found,) = rewrite_manifests([original], JOBSET, HERE)
    label = {"key": "jobset.sigs.k8s.io/jobset-name", "operator": "Exists"}
    assert found["metadata"]["name"] == "jobset-configuration"
    assert found["webhooks"][0]["objectSelector"] == {"matchExpressions": [label]}
    assert "objectSelector" not in found["webhooks"][1]


def test_kind_without_a_rule_is_an_error():
    with pytest.raises(TargetError, match="kueue ships a APIService, which has no rule"):
        rewrite_manifests([{"kind": "APIService"}], KUEUE, HERE)


def test_paths_of_objects():
    secret = {"apiVersion": "v1", "kind": "Secret", "metadata": {"name": "s", "namespace": "n"}}
    role = {
        "apiVersion": "rbac.authorization.k8s.io/v1",
        "kind": "ClusterRole",
        "metadata": {"name": "r"},
    }
    assert object_path(secret) == "/api/v1/namespaces/n/secrets/s"
    assert object_path(role) == "/apis/rbac.authorization.k8s.io/v1/clusterroles/r"
    with pytest.raises(TargetError, match="no rule for preparing a Pod"):
        object_path({"apiVersion": "v1", "kind": "Pod", "metadata": {"name": "p"}})


def test_grader_role_names_no_secret_and_no_verb_that_writes():
    role, binding = cluster.grader_access()
    assert {v for rule in role["rules"] for v in rule["verbs"]} <= {"get", "list", "watch"}
    core = [
        r for rule in role["rules"] if "" in rule.get("apiGroups", ()) for r in rule["resources"]
    ]
    assert "pods" in core
    assert not [r for r in core if r == "*" or r.startswith("secrets")]
    assert not any("*" in rule.get("apiGroups", ()) for rule in role["rules"])
    assert binding["roleRef"]["name"] == role["metadata"]["name"]


def test_node_has_its_size_and_labels():
    spec = NodeSpec("gpu-node-0", "8", "16Gi", 4, "Tesla-K80")
    (node,) = cluster.nodes([spec])
    labels = node["metadata"]["labels"]
    assert labels["nvidia.com/gpu.count"] == "4"
    assert labels["nvidia.com/gpu.memory"] == "11441"
    assert all(isinstance(value, str) for value in labels.values())
    assert node["metadata"]["annotations"] == {"kwok.x-k8s.io/node": "fake"}
    (status,) = cluster.node_statuses([spec], 21009, "v1.36.3")
    assert status["status"]["allocatable"]["nvidia.com/gpu"] == "4"
    assert status["status"]["daemonEndpoints"]["kubeletEndpoint"]["Port"] == 21009


def test_kueue_secret_holds_its_own_pair(tmp_path: Path):
    for name in ("kueue-ca.crt", "kueue-ca.key", "kueue-webhook.crt", "kueue-webhook.key"):
        (tmp_path / name).write_text(name)
    secret = cluster.kueue_secret(tmp_path)
    assert set(secret["data"]) == {"ca.crt", "ca.key", "tls.crt", "tls.key"}
    assert secret["metadata"]["namespace"] == "kueue-system"
