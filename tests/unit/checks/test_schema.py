"""What the published schemas refuse; the forms are those in which the API server writes them."""

import pytest

from checks.kit.expect import spell_path
from checks.kit.schema import find_refusal
from checks.kit.witness import look_in_cluster
from checks.kueue_quota.wanted import want_cluster_queue
from checks.outcome import Mismatch
from tests.unit.checks.conftest import ListedCluster, cluster_queue
from tests.unit.checks.readers import told
from tests.unit.checks.test_agreement import files_with

TEXT, COUNT = {"type": "string"}, {"type": "integer", "format": "int32"}
SPEC = {
    "type": "object",
    "required": ["template"],
    "properties": {
        "count": COUNT,
        "share": {"type": "number"},
        "on": {"type": "boolean"},
        "policy": {"type": "string", "enum": ["Never", "Always"]},
        "name": {"type": "string", "pattern": "^[a-z]+$"},
        "odd": {"type": "string", "pattern": r"^\p{L}+$"},
        "words": {"type": "array", "items": TEXT},
        "labels": {"type": "object", "additionalProperties": TEXT},
        "amount": {"anyOf": [COUNT, TEXT], "pattern": "^[0-9]+$"},
        "quantity": {"allOf": [{"$ref": "#/components/schemas/Quantity"}]},
        "free": {"type": "object", "x-kubernetes-preserve-unknown-fields": True},
        "bare": {"type": "object"},
        "template": {"type": "object", "properties": {"text": TEXT}},
    },
}
SCHEMAS = {
    "Spec": SPEC,
    "Quantity": {"description": "a fixed-point number", "oneOf": [TEXT, {"type": "number"}]},
    "Thing": {
        "type": "object",
        "properties": {
            "apiVersion": TEXT,
            "kind": TEXT,
            "spec": {"default": {}, "allOf": [{"$ref": "#/components/schemas/Spec"}]},
        },
        "x-kubernetes-group-version-kind": [{"group": "lab", "version": "v1", "kind": "Thing"}],
    },
}


def refusal(**spec):
    thing = {"apiVersion": "lab/v1", "kind": "Thing", "spec": {"template": {}} | spec}
    fault = find_refusal(thing, "Thing", SCHEMAS)
    return None if fault is None else f"{spell_path(fault.path)}: {fault.expected}; {fault.found}"


@pytest.mark.parametrize(
    "spec",
    [
        {},
        {"count": 2, "share": 1.5, "on": True, "policy": "Never", "name": "ab"},
        {"count": 2.0, "share": 1},
        {"words": ["a"], "labels": {"x": "y"}, "amount": "2", "quantity": "2Gi"},
        {"amount": 2, "quantity": 1.5},
        {"free": {"any": {"thing": 1}}, "bare": {"any": 1}},
        {"odd": "unreadable for Python, so not judged"},
        {"words": None, "labels": None},
    ],
)
def test_what_is_allowed_is_not_refused(spec):
    assert refusal(**spec) is None


@pytest.mark.parametrize(
    ("spec", "told"),
    [
        ({"cuont": 2}, "spec.cuont: only fields that exist; cuont, which does not exist; count"),
        ({"xyz": 2}, "spec.xyz: only fields that exist; xyz, which does not exist"),
        ({"count": "2"}, 'spec.count: a whole number; "2"'),
        ({"count": 2.5}, "spec.count: a whole number; 2.5"),
        ({"count": True}, "spec.count: a whole number; true"),
        ({"on": "yes"}, 'spec.on: true or false; "yes"'),
        ({"policy": "Sometimes"}, 'spec.policy: one of Never, Always; "Sometimes"'),
        ({"name": "A"}, 'spec.name: a text of the form ^[a-z]+$; "A"'),
        ({"words": "a"}, 'spec.words: a list; "a"'),
        ({"words": ["a", 1]}, "spec.words[1]: a text; 1"),
        ({"labels": {"x": 1}}, "spec.labels.x: a text; 1"),
        ({"labels": ["x"]}, 'spec.labels: fields below it; ["x"]'),
        ({"amount": []}, "spec.amount: a number or a text; []"),
        ({"amount": "x"}, 'spec.amount: a text of the form ^[0-9]+$; "x"'),
        ({"quantity": "2Gib"}, 'spec.quantity: a quantity; "2Gib": the unit Gib does not exist'),
        ({"template": {"txt": 1}}, "spec.template.txt: only fields that exist; txt"),
        ({"template": None}, "spec.template: the field template; no such field"),
    ],
)
def test_what_no_schema_allows_is_named(spec, told):
    assert str(refusal(**spec)).startswith(told)


@pytest.mark.parametrize("version", ["lab/v2", "v1", 7])
def test_what_is_not_published_is_not_judged(version):
    assert find_refusal({"apiVersion": version, "nothing": 1}, "Thing", SCHEMAS) is None


def test_a_file_that_the_api_refuses_is_told_before_what_is_missing(lab):
    class Publishing(ListedCluster):
        def schemas(self, kind):
            strategy = {"type": "string", "enum": ["StrictFIFO", "BestEffortFIFO"]}
            return {
                kind.name: {
                    "type": "object",
                    "properties": {
                        **dict.fromkeys(("apiVersion", "kind"), TEXT),
                        "metadata": {"type": "object"},
                        "status": {"type": "object"},
                        "spec": {
                            "type": "object",
                            "properties": {
                                "queueingStrategy": strategy,
                                "namespaceSelector": {"type": "object"},
                                "resourceGroups": {"type": "array"},
                            },
                        },
                    },
                    "x-kubernetes-group-version-kind": [
                        {"group": "kueue.x-k8s.io", "version": "v1beta2", "kind": kind.name}
                    ],
                }
            }

    files = files_with(cluster_queue(queueingStrategy="FIFO"))
    with pytest.raises(Mismatch) as error:
        look_in_cluster(files, Publishing(), want_cluster_queue(lab))
    assert "spec.queueingStrategy" in told(error.value)
    assert "one of StrictFIFO, BestEffortFIFO" in told(error.value)
