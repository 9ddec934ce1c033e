"""What manifests of the lab must say: every right spelling, and each fault by its field."""

import pytest

from checks.kit.expect import spell_path
from checks.kueue_quota.judge_jobs import judge_gpus, judge_no_label, judge_queued_job
from checks.kueue_quota.judge_queues import (
    judge_cluster_queue,
    judge_flavor,
    judge_local_queue,
    require_a_node,
)
from checks.outcome import Mismatch
from tests.unit.checks.conftest import cluster_queue, flavor, job, local_queue

LABEL = "kueue.x-k8s.io/queue-name"
GPU = "nvidia.com/gpu"


def told(fault):
    return f"{spell_path(fault.path)} {fault.expected} {fault.found} {fault.next_move}"


def groups(*flavors, covered=("cpu", "memory", GPU)):
    return [{"coveredResources": list(covered), "flavors": list(flavors)}]


def quotas(name="fake-gpu", **changes):
    amounts = {"cpu": 2, "memory": "2Gi", GPU: 2, **changes}
    return {
        "name": name,
        "resources": [{"name": k, "nominalQuota": v} for k, v in amounts.items()],
    }


def test_right_manifests_pass(lab):
    assert judge_flavor(flavor(), lab) is None
    more = {"nvidia.com/gpu.present": "true", "kubernetes.io/os": "linux"}
    assert judge_flavor(flavor(labels=more), lab) is None
    assert judge_local_queue(local_queue(), lab) is None
    assert judge_queued_job(job(), lab, 1) is None


@pytest.mark.parametrize(
    "spec",
    [
        {},
        {"namespaceSelector": {"matchLabels": {}}},
        {"stopPolicy": "None"},
        {"resourceGroups": groups(quotas(cpu="2000m", memory="2048Mi"))},
        {"resourceGroups": groups(quotas(cpu=2.0, memory=2147483648))},
        {"cohortName": "lab"},
        {
            "cohortName": "lab",
            "resourceGroups": groups(
                quotas()
                | {
                    "resources": [
                        {"name": "cpu", "nominalQuota": 2, "borrowingLimit": 0},
                        {"name": "memory", "nominalQuota": "2Gi"},
                        {"name": GPU, "nominalQuota": 2},
                    ]
                }
            ),
        },
    ],
)
def test_right_cluster_queues(lab, spec):
    assert judge_cluster_queue(cluster_queue(**spec), lab) is None


def test_any_order_that_agrees_is_right(lab):
    resources = [
        {"name": GPU, "nominalQuota": 2},
        {"name": "cpu", "nominalQuota": 2},
        {"name": "memory", "nominalQuota": "2Gi"},
    ]
    spec = groups({"name": "fake-gpu", "resources": resources}, covered=(GPU, "cpu", "memory"))
    assert judge_cluster_queue(cluster_queue(resourceGroups=spec), lab) is None


@pytest.mark.parametrize(
    ("content", "words"),
    [
        ({"spec": {}}, ["spec.nodeLabels", "nvidia.com/gpu.present"]),
        ({"spec": None}, ["spec.nodeLabels"]),
        (flavor(labels={"gpu.present": "true"}), ["spec.nodeLabels", '"gpu.present"']),
        (flavor(labels={"nvidia.com/gpu.present": True}), ["true", "quote"]),
        (flavor(labels={"nvidia.com/gpu.present": 1}), ["1", "quote"]),
        (flavor(labels={"nvidia.com/gpu.present": "yes"}), ["yes"]),
        (flavor(labels=[1]), ["spec.nodeLabels", "[1]"]),
        (flavor(labels="nvidia.com/gpu.present=true"), ["spec.nodeLabels", "present=true"]),
        ({"metadata": {"labels": {"nvidia.com/gpu.present": "true"}}}, ["metadata.labels"]),
        ({"spec": {"nodeSelector": {"nvidia.com/gpu.present": "true"}}}, ["spec.nodeSelector"]),
    ],
)
def test_flavors_that_are_off(lab, content, words):
    fault = judge_flavor(content, lab)
    assert all(word in told(fault) for word in words), told(fault)


@pytest.mark.parametrize(
    ("spec", "words"),
    [
        ({"cohort": "lab"}, ["spec.cohort", "cohortName"]),
        ({"namespaceSelector": None}, ["spec.namespaceSelector", "null", "{}"]),
        ({"namespaceSelector": {"matchLabels": {"a": "b"}}}, ["matchLabels", "{}"]),
        ({"stopPolicy": "Hold"}, ["spec.stopPolicy", "Hold"]),
        ({"resourceGroups": []}, ["spec.resourceGroups", "fake-gpu"]),
        ({"resourceGroups": "x"}, ["spec.resourceGroups", "fake-gpu", "not a list"]),
        ({"resourceGroups": [None]}, ["spec.resourceGroups[0].flavors"]),
        ({"resourceGroups": groups(quotas("gpu-fake"))}, ["gpu-fake", "fake-gpu"]),
        ({"resourceGroups": groups(quotas(), quotas("spare"))}, ["flavors[1].name", "spare"]),
        ({"resourceGroups": groups(quotas()) + groups(quotas())}, ["resourceGroups[1]", "again"]),
        (
            {"resourceGroups": groups(quotas(), covered=("cpu", GPU))},
            ["coveredResources", "memory"],
        ),
        ({"resourceGroups": [{"flavors": [quotas()]}]}, ["coveredResources", "no such list"]),
        (
            {"resourceGroups": groups(quotas(), covered=("cpu", GPU, "memory"))},
            ["resources", "order of coveredResources"],
        ),
        ({"resourceGroups": groups(quotas(**{GPU: 4}))}, ["nominalQuota", GPU, "4", "2"]),
        ({"resourceGroups": groups(quotas(memory="2G"))}, ["memory", "2G", "2Gi"]),
        ({"resourceGroups": groups(quotas(memory="2gb"))}, ["memory", "2gb", "unit"]),
        ({"resourceGroups": groups(quotas(cpu=None))}, ["cpu", "null"]),
    ],
)
def test_cluster_queues_that_are_off(lab, spec, words):
    fault = judge_cluster_queue(cluster_queue(**spec), lab)
    assert all(word in told(fault) for word in words), told(fault)


def test_a_missing_selector_and_a_limit_without_cohort(lab):
    content = cluster_queue()
    del content["spec"]["namespaceSelector"]
    assert "no such field" in told(judge_cluster_queue(content, lab))
    content = cluster_queue()
    resources = content["spec"]["resourceGroups"][0]["flavors"][0]["resources"]
    resources[2]["borrowingLimit"] = 2
    assert "borrowingLimit" in told(judge_cluster_queue(content, lab))


@pytest.mark.parametrize(
    ("content", "words"),
    [
        (local_queue(clusterQueue="teama"), ["spec.clusterQueue", "teama", "team-a"]),
        (local_queue(clusterQueue=3), ["spec.clusterQueue", "3"]),
        (local_queue(stopPolicy="HoldAndDrain"), ["stopPolicy", "HoldAndDrain", "admits nobody"]),
        (local_queue(stopPolicy="none"), ["stopPolicy", "none", "no such policy"]),
        ({"spec": {"clusterQueueName": "team-a"}}, ["clusterQueueName", "spec.clusterQueue"]),
        ({"spec": {}}, ["spec.clusterQueue"]),
        ({}, ["spec.clusterQueue"]),
    ],
)
def test_local_queues_that_are_off(lab, content, words):
    fault = judge_local_queue(content, lab)
    assert all(word in told(fault) for word in words), told(fault)


def on_template(labels, own=None):
    content = job(labels=own or {})
    content["spec"]["template"]["metadata"] = {"labels": labels}
    return content


@pytest.mark.parametrize(
    "content",
    [
        on_template({LABEL: "lq"}),
        job(limits={GPU: "1000m"}),
        job(limits={GPU: "1"}),
        job(suspend=False),
        job(containers=[{"resources": {"limits": {GPU: 1}}}, {"resources": {}}, {}]),
        job(containers=[{"resources": {"limits": {GPU: 1}, "requests": {GPU: 1}}}]),
    ],
)
def test_right_jobs(lab, content):
    assert judge_queued_job(content, lab, 1) is None


@pytest.mark.parametrize(
    ("content", "words"),
    [
        (job(labels={}), [LABEL, "no such label"]),
        (job(labels={"queue": "lq"}), [LABEL, "queue:"]),
        (job(labels={"kueue.x-k8s.io/queuename": "lq"}), ["kueue.x-k8s.io/queuename"]),
        (job(labels={LABEL: "team-a"}), [LABEL, "team-a", "lq"]),
        (on_template({LABEL: "lq"}, {"app": "x"}), ["spec.template", LABEL]),
        ({"metadata": {"annotations": {LABEL: "lq"}}}, ["metadata.annotations", LABEL]),
        (job(limits={}), [GPU, "no nvidia.com/gpu"]),
        (job(limits={}, resources={"limits": {GPU: 1}}), [GPU, "in spec.template.spec.resources."]),
        (job(limits={GPU: 2}), [GPU, "2", "1"]),
        (job(limits={GPU: "0.5"}), [GPU, "0.5", "whole"]),
        (job(limits={GPU: "one"}), [GPU, "one"]),
        (job(limits={GPU: -1}), [GPU, "-1"]),
        (job(containers=[{"resources": {"requests": {GPU: 1}}}]), ["limits", GPU, "requests"]),
        (job(containers=None), [GPU]),
        (job(containers="x"), [GPU]),
        (job() | {"spec": job()["spec"] | {"parallelism": 3}}, ["spec.parallelism", "3"]),
        (job(restartPolicy="Always"), ["restartPolicy", "Always", "Never"]),
        (job(restartPolicy=None), ["restartPolicy", "Never"]),
        (job(containers=[{"name": 7, "resources": {"limits": {GPU: 1}}}]), ["containers[0].name"]),
        (job(containers=[{"image": "", "resources": {"limits": {GPU: 1}}}]), ["[0].image", "any"]),
    ],
)
def test_jobs_that_are_off(lab, content, words):
    fault = judge_queued_job(content, lab, 1)
    assert all(word in told(fault) for word in words), told(fault)


def test_a_job_that_must_have_no_label(lab):
    assert judge_no_label(job(labels={"app": "x"}), lab) is None
    assert judge_no_label(on_template({LABEL: "lq"}, {"app": "x"}), lab) is None
    assert LABEL in told(judge_no_label(job(), lab))
    assert "spec.template" in told(judge_no_label(on_template({LABEL: "lq"}), lab))
    assert "LocalQueue default" in told(judge_no_label(job(labels={LABEL: "default"}), lab))


def with_gpus(*containers, init):
    parts = [{"resources": {"limits": {GPU: gpus}}} for gpus in containers]
    starts = [
        {"resources": {"limits": {GPU: gpus}}, **({"restartPolicy": "Always"} if stays else {})}
        for gpus, stays in init
    ]
    return job(containers=parts or [{}], initContainers=starts)


@pytest.mark.parametrize(
    ("content", "gpus"),
    [
        (with_gpus(1, init=[(1, False)]), 1),
        (with_gpus(1, init=[(2, False)]), 2),
        (with_gpus(1, init=[(1, False), (1, False)]), 1),
        (with_gpus(init=[(1, True)]), 1),
        (with_gpus(1, init=[(1, True)]), 2),
        (with_gpus(init=[(1, True), (1, False)]), 2),
        (with_gpus(init=[(1, False), (1, True)]), 1),
        (with_gpus(1, init=[(1, True), (2, False)]), 3),
    ],
)
def test_gpus_are_counted_as_the_scheduler_does(lab, content, gpus):
    assert judge_gpus(content, lab, gpus) is None
    assert f"{GPU}: {gpus} " in told(judge_gpus(content, lab, gpus + 1))


def test_an_init_container_that_asks_too_much_is_named(lab):
    fault = judge_gpus(with_gpus(1, init=[(2, False)]), lab, 1)
    assert "initContainers[0].resources.limits" in told(fault)
    fault = judge_gpus(with_gpus(1, init=[("0.5", False)]), lab, 1)
    assert "initContainers[0]" in told(fault)
    assert "whole" in told(fault)


@pytest.mark.parametrize(
    ("spec", "where"),
    [
        ({"template": {"containers": [{"name": "c"}]}}, "spec.template.containers"),
        ({"containers": [{"name": "c"}]}, "spec.containers"),
    ],
)
def test_containers_at_another_level_are_pointed_at(lab, spec, where):
    assert told(judge_gpus(job() | {"spec": spec}, lab, 1)).startswith(f"{where} ")


def test_the_count_of_gpus_is_over_all_containers(lab):
    two = [{"resources": {"limits": {GPU: 1}}}] * 2
    assert judge_gpus(job(containers=two), lab, 2) is None
    assert "2" in told(judge_gpus(job(containers=two), lab, 1))


def test_a_flavor_label_that_no_gpu_node_has_is_named(lab):
    flavor = {"spec": {"nodeLabels": {"nvidia.com/gpu.present": "true", "zone": "attic"}}}
    node = {"nvidia.com/gpu.present": "true", "zone": "cellar"}
    with pytest.raises(Mismatch) as told:
        require_a_node(flavor, [node, {"zone": "attic"}], lab)
    assert "zone" in str(told.value.finding.found)
    assert "flavor.yaml" in str(told.value.finding.next_move)
    require_a_node(flavor, [{**node, "zone": "attic"}], lab)
    require_a_node(flavor, [], lab)
