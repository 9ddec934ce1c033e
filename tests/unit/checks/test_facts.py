"""The lab's facts are read strictly; what is off is named by its path in lab.yaml."""

import copy

import pytest

from checks.kit.typed import build
from checks.kueue_quota.facts import Facts
from checks.outcome import CannotTell


def test_the_facts_of_the_lab(lab):
    assert lab.flavor.file == "flavor.yaml"
    assert dict(lab.cluster_queue.quota)["nvidia.com/gpu"] == "2"
    assert lab.workload_kind.root == "/apis/kueue.x-k8s.io/v1beta2"


@pytest.mark.parametrize(
    ("change", "words"),
    [
        (lambda f: f["flavor"].update(flie="x"), ["facts.flavor.flie"]),
        (lambda f: f["flavor"].pop("file"), ["facts.flavor.file", "missing"]),
        (lambda f: f.update(gpu=3), ["facts.gpu", "str"]),
        (lambda f: f["first_job"].update(gpus="1"), ["facts.first_job.gpus", "int"]),
        (lambda f: f["first_job"].update(gpus=True), ["facts.first_job.gpus"]),
        (lambda f: f["cluster_queue"].update(quota=[]), ["facts.cluster_queue.quota"]),
        (lambda f: f["cluster_queue"]["quota"].update(cpu=2), ["facts.cluster_queue.quota"]),
        (lambda f: f.update(usage="x"), ["facts.usage", "map"]),
    ],
)
def test_facts_that_are_off(raw_facts, change, words):
    facts = copy.deepcopy(raw_facts)
    change(facts)
    with pytest.raises(CannotTell) as error:
        build(Facts, facts)
    text = str(error.value.what)
    assert "lab.yaml" in text
    assert all(word in text for word in words), text
