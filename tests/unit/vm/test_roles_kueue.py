"""What the role kueue makes of Kueue's manifest, and what it reads of what is live."""

import pytest
import yaml

from tests.unit.vm.roles import plugin

kueue = plugin("kueue", "kueue_manifest")

NAMESPACE = "apiVersion: v1\nkind: Namespace\nmetadata:\n  name:   kueue-system   # as it is\n"
DEPLOYMENT = """\
apiVersion: apps/v1
kind: Deployment
metadata: {name: kueue-controller-manager, namespace: kueue-system}
spec:
  template:
    spec:
      containers:
      - {name: manager, image: "registry.k8s.io/kueue/kueue:v0.20.3", imagePullPolicy: Always}
"""
HOOKS = """\
apiVersion: admissionregistration.k8s.io/v1
kind: MutatingWebhookConfiguration
metadata: {name: kueue-mutating}
webhooks:
- name: mpod.kb.io
  namespaceSelector:
    matchExpressions:
    - {key: kubernetes.io/metadata.name, operator: NotIn, values: [kube-system, kueue-system]}
- name: mlabelled.kb.io
  namespaceSelector:
    matchExpressions:
    - {key: team, operator: NotIn, values: [a]}
- name: mworkload.kb.io
"""


def crd(name, served=(False, True), conversion=""):
    return f"""\
apiVersion: apiextensions.k8s.io/v1
kind: CustomResourceDefinition
metadata: {{name: {name}.kueue.x-k8s.io}}
spec:
  description: "imagePullPolicy: Always stands in a description, too"
  {conversion}
  versions:
  - {{name: v1beta1, served: {str(served[0]).lower()}, storage: false}}
  - {{name: v1beta2, served: {str(served[1]).lower()}, storage: true}}
"""


MANIFEST = "---\n".join(
    [
        NAMESPACE,
        crd("alone"),
        crd("both", served=(True, True)),
        crd("named", conversion="conversion: {strategy: Webhook}"),
        DEPLOYMENT,
        HOOKS,
    ]
)


@pytest.fixture(scope="module")
def applied():
    return kueue.kueue_text(MANIFEST, ["gpu-operator"])


def documents(text):
    return {d["kind"] + "/" + d["metadata"]["name"]: d for d in yaml.safe_load_all(text)}


def test_images_that_were_brought_along_are_used(applied):
    found = documents(applied)["Deployment/kueue-controller-manager"]
    container = found["spec"]["template"]["spec"]["containers"][0]
    assert container["imagePullPolicy"] == "IfNotPresent"
    assert container["image"] == "registry.k8s.io/kueue/kueue:v0.20.3"


def test_pods_that_bring_the_gpus_do_not_wait_for_kueue(applied):
    hooks = documents(applied)["MutatingWebhookConfiguration/kueue-mutating"]["webhooks"]
    values = [h["namespaceSelector"]["matchExpressions"][0]["values"] for h in hooks[:2]]
    assert values == [["kube-system", "kueue-system", "gpu-operator"], ["a"]]
    assert "namespaceSelector" not in hooks[2]


def test_the_rest_stays_byte_by_byte(applied):
    assert NAMESPACE in applied
    for name in ("alone", "both"):
        assert f"metadata: {{name: {name}.kueue.x-k8s.io}}" in applied
    before, after = documents(MANIFEST), documents(applied)
    assert set(before) == set(after)
    assert sum(before[name] != after[name] for name in before) == 2


def test_the_same_text_comes_of_what_was_rewritten(applied):
    assert kueue.kueue_text(applied, ["gpu-operator"]) == applied


def test_what_stands_in_the_manifest():
    facts = kueue.kueue_facts(MANIFEST)
    assert "Deployment/kueue-system/kueue-controller-manager" in facts["objects"]
    assert "Namespace//kueue-system" in facts["objects"]
    assert len(facts["objects"]) == 6
    assert facts["images"] == ["registry.k8s.io/kueue/kueue:v0.20.3"]
    hooks = ["mlabelled.kb.io", "mpod.kb.io", "mworkload.kb.io"]
    assert facts["webhooks"] == {"MutatingWebhookConfiguration/kueue-mutating": hooks}


def test_only_kinds_that_need_no_conversion_lose_one():
    """Kueue waits at its start where the manifest names a conversion; two versions need one."""
    assert kueue.kueue_facts(MANIFEST)["unconverted"] == ["alone.kueue.x-k8s.io"]


def test_configurations_with_webhooks_of_other_versions_are_found():
    wanted = {
        "MutatingWebhookConfiguration/m": ["a", "b"],
        "ValidatingWebhookConfiguration/v": ["a"],
    }
    there = [
        "MutatingWebhookConfiguration/m=a",
        "ValidatingWebhookConfiguration/v=a gone",
        "MutatingWebhookConfiguration/others=x",
    ]
    assert kueue.kueue_outdated(there, wanted) == [["ValidatingWebhookConfiguration", "v"]]


def test_only_ready_pods_and_addresses_count():
    ready = {"status": {"conditions": [{"type": "Ready", "status": "True"}]}}
    waiting = {"status": {"conditions": [{"type": "Ready", "status": "False"}]}}
    assert kueue.kueue_ready([ready, waiting, {"status": {}}]) == [ready]
    service = {"labels": {"kubernetes.io/service-name": "w"}}
    slices = [
        {
            "metadata": service,
            "endpoints": [
                {"addresses": ["10.0.0.1"], "conditions": {"ready": True}},
                {"addresses": ["10.0.0.2"], "conditions": {"ready": False}},
            ],
        },
        {"metadata": service, "endpoints": None},
        {"metadata": {}, "endpoints": [{"addresses": ["10.0.0.3"], "conditions": {"ready": True}}]},
    ]
    assert kueue.kueue_served(slices, "w") == ["10.0.0.1"]
