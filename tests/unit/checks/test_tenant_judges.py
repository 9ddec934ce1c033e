"""What the manifests of the second lab must say: each fault at its field, in its words."""

import copy

import pytest
import yaml

from checks.gpu_preemption.facts import Facts
from checks.gpu_preemption.judge_tenant import (
    judge_cluster_queue,
    judge_local_queue,
    judge_weight,
)
from checks.gpu_preemption.judge_training import judge_training
from checks.gpu_preemption.wanted import judge_value
from checks.kit.expect import spell_path
from checks.kit.typed import build
from checks.outcome import CannotTell
from tests.unit.checks.conftest import ROOT

NAME = "kubernetes.io/metadata.name"
NOT_DEFAULT = {"key": NAME, "operator": "NotIn", "values": ["default"]}
BOTH = {"key": NAME, "operator": "In", "values": ["team-b", "default"]}
BASE = ROOT / "tests" / "grading" / "base" / "gpu_preemption"
FACTS = yaml.safe_load((ROOT / "lab/content/gpu_preemption/lab.yaml").read_text())["facts"]


@pytest.fixture(scope="module")
def lab():
    return build(Facts, FACTS)


def manifest(name, position=0):
    return list(yaml.safe_load_all((BASE / name).read_text()))[position]


def changed(content, path, value):
    """A copy with one field set, or (None) taken out."""
    found = inner = copy.deepcopy(content)
    *above, last = path
    for part in above:
        inner = inner[part] if isinstance(inner, list) else inner.setdefault(part, {})
    if value is None:
        del inner[last]
    else:
        inner[last] = value
    return found


def test_the_right_answers_are_right(lab):
    assert judge_cluster_queue(manifest("tenant.yaml"), lab) is None
    assert judge_local_queue(manifest("tenant.yaml", 1), lab) is None
    assert judge_training(manifest("low.yaml"), lab, lab.low_job) is None
    assert judge_training(manifest("high.yaml"), lab, lab.high_job) is None
    assert judge_value(manifest("urgent.yaml"), lab.urgent.value) is None


@pytest.mark.parametrize(
    ("path", "value", "words"),
    [
        (("spec", "preemption"), None, "means Never"),
        (("spec", "preemption", "withinClusterQueue"), "Never", "Never"),
        (("spec", "admissionScope"), None, "NoAdmissionFairSharing"),
        (("spec", "queueingStrategy"), "StrictFIFO", "StrictFIFO"),
        (("spec", "cohortName"), "c", "c"),
        (("spec", "stopPolicy"), "Hold", "Hold"),
        (("spec", "namespaceSelector"), {"matchLabels": {"a": "b"}}, "a"),
        (("spec", "namespaceSelector"), {"matchExpressions": [NOT_DEFAULT]}, "NotIn"),
        (("spec", "namespaceSelector"), {"matchExpressions": [BOTH]}, "team-b"),
        (("spec", "namespaceSelector"), {"matchExpressions": [{"key": ["a"]}]}, "key"),
    ],
)
def test_what_is_off_with_the_cluster_queue(lab, path, value, words):
    fault = judge_cluster_queue(changed(manifest("tenant.yaml"), path, value), lab)
    assert words in str(fault.found)
    assert spell_path(fault.path).startswith(".".join(path))


@pytest.mark.parametrize(
    "selector",
    [
        {},
        {"matchLabels": {NAME: "team-b"}},
        {"matchExpressions": [{"key": NAME, "operator": "In", "values": ["team-b"]}]},
        {"matchExpressions": [{"key": NAME, "operator": "Exists"}]},
    ],
)
def test_all_namespaces_or_just_the_own_one(lab, selector):
    path = ("spec", "namespaceSelector")
    assert judge_cluster_queue(changed(manifest("tenant.yaml"), path, selector), lab) is None


def test_a_queue_made_without_its_mode_is_to_be_made_anew(lab):
    fault = judge_cluster_queue(
        changed(manifest("tenant.yaml"), ("spec", "admissionScope"), None), lab
    )
    assert "when a ClusterQueue is made" in str(fault.remedy)
    barer = changed(manifest("tenant.yaml"), ("spec", "preemption"), None)
    fault = judge_cluster_queue(changed(barer, ("spec", "admissionScope"), None), lab)
    assert "when a ClusterQueue is made" in str(fault.remedy)
    strict = changed(manifest("tenant.yaml"), ("spec", "queueingStrategy"), "StrictFIFO")
    assert judge_cluster_queue(strict, lab).remedy is None


def test_a_weight_of_one_need_not_be_written(lab):
    content = changed(manifest("tenant.yaml", 1), ("spec", "fairSharing"), None)
    assert judge_weight(content, "1") is None
    content["spec"]["weight"] = "1"
    assert judge_weight(content, "1") is not None


@pytest.mark.parametrize(
    ("path", "value", "words"),
    [
        (("spec", "fairSharing"), None, "weight of 1"),
        (("spec", "fairSharing", "weight"), "two", "number"),
        (("spec", "fairSharing", "weight"), 1, "1"),
        (("spec", "clusterQueue"), "training", "training"),
    ],
)
def test_what_is_off_with_the_local_queue(lab, path, value, words):
    fault = judge_local_queue(changed(manifest("tenant.yaml", 1), path, value), lab)
    assert words in str(fault.found)


@pytest.mark.parametrize(
    ("path", "value", "field"),
    [
        (("metadata", "labels"), None, "metadata.labels"),
        (("metadata", "labels", "kueue.x-k8s.io/priority-class"), "high", "priority-class"),
        (("spec", "runtimeRef", "kind"), "TrainingRuntime", "runtimeRef.kind"),
        (("spec", "runtimeRef"), None, "runtimeRef.name"),
        (("spec", "trainer", "numNodes"), True, "numNodes"),
        (("spec", "trainer", "numNodes"), None, "numNodes"),
        (("spec", "trainer", "resourcesPerNode", "limits"), None, "nvidia.com/gpu"),
        (("spec", "trainer", "resourcesPerNode", "requests"), {"nvidia.com/gpu": 2}, "requests"),
        (("spec", "trainer", "resourcesPerNode", "limits", "cpu"), "1", "cpu"),
    ],
)
def test_what_is_off_with_a_train_job(lab, path, value, field):
    fault = judge_training(changed(manifest("low.yaml"), path, value), lab, lab.low_job)
    assert field in spell_path(fault.path)
    assert fault.is_fixed or "delete it" in str(fault.remedy)


@pytest.mark.parametrize("value", ["1200", 1201, True, 1200.5, None])
def test_a_value_is_that_number(value):
    assert judge_value({"spec": {"value": value}}, 1200).path == ("spec", "value")


def test_the_scene_of_the_kit_is_the_one_of_the_lab():
    from jinja2 import Template

    scene = (ROOT / "lab/content/gpu_preemption/scenes/step_3/taken.yaml").read_text()
    assert yaml.safe_load(Template(scene).render(**FACTS)) == manifest("taken.yaml")


def test_facts_that_are_numbers_are_read_strictly():
    spoilt = copy.deepcopy(FACTS)
    spoilt["classes"]["values"]["low"] = "100"
    with pytest.raises(CannotTell, match=r"classes\.values"):
        build(Facts, spoilt)
