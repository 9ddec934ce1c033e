"""What the platform brings into a cluster, read as the data that it is."""

from string import Template

import pytest
import yaml

from provision.local.own_manifests import PROVISION
from provision.operators.platform import objects

FILES = sorted((PROVISION / "operators" / "platform" / "manifests").glob("*.yaml"))


@pytest.fixture(scope="module")
def documents():
    texts = [Template(file.read_text("utf-8")).substitute(word="amber-river") for file in FILES]
    return [d for text in texts for d in yaml.safe_load_all(text)]


def of_kind(documents, kind):
    return {d["metadata"]["name"]: d for d in documents if d["kind"] == kind}


def test_platform_has_its_four_classes(documents):
    classes = of_kind(documents, "WorkloadPriorityClass")
    values = {name: c["value"] for name, c in classes.items()}
    assert values == {"low": 100, "normal": 500, "high": 1000, "critical": 1500}


def test_definition_is_the_one_that_the_controller_reads(documents):
    (definition,) = of_kind(documents, "CustomResourceDefinition").values()
    spec = definition["spec"]
    assert definition["metadata"]["name"] == f"{objects.PLURAL}.{objects.GROUP}"
    assert (spec["group"], spec["names"]["kind"]) == (objects.GROUP, objects.KIND)
    assert spec["names"]["shortNames"] == ["cwpc"]
    (version,) = spec["versions"]
    assert version["name"] == objects.VERSION
    columns = [c["name"].upper() for c in version["additionalPrinterColumns"]]
    assert columns == ["VALUE", "READY", "REASON", "AGE"]


def test_each_policy_is_bound_and_carries_the_word(documents):
    policies = of_kind(documents, "ValidatingAdmissionPolicy")
    bindings = of_kind(documents, "ValidatingAdmissionPolicyBinding")
    assert set(policies) == {"trainjob-queue-is-kueue", "cwpc-name"}
    assert {b["spec"]["policyName"] for b in bindings.values()} == set(policies)
    for policy in policies.values():
        assert policy["metadata"]["annotations"] == {"gpu-queue-lab/word": "amber-river"}
        assert "[amber-river]" in policy["spec"]["validations"][0]["messageExpression"]


def test_role_allows_what_the_controller_does_and_no_more(documents):
    (role,) = of_kind(documents, "ClusterRole").values()
    allowed = {(r, v) for rule in role["rules"] for r in rule["resources"] for v in rule["verbs"]}
    look = {"get", "list", "watch"}
    assert allowed == {
        *((objects.PLURAL, verb) for verb in {*look, "patch"}),
        (f"{objects.PLURAL}/status", "patch"),
        *((objects.CLASS_PLURAL, verb) for verb in {*look, "create", "patch", "delete"}),
        ("events", "create"),
    }
