"""What a manifest says beyond what a step asks for, and whether the cluster holds it."""

import pytest
import yaml

from checks.kit.agreement import first_difference, judge_fields
from checks.kit.expect import spell_path
from checks.kit.files import Files
from checks.kit.paths import MISSING
from checks.kit.witness import look_in_cluster
from checks.kueue_quota.wanted import want_cluster_queue, want_first_job
from checks.outcome import Mismatch
from tests.unit.checks.conftest import ListedCluster, cluster_queue, job
from tests.unit.checks.readers import Desk, told

SPEC = (("spec",),)


def difference(said, held):
    found = first_difference({"spec": said}, {"spec": held}, SPEC)
    return None if found is None else (spell_path(found.path), found.said, found.held)


@pytest.mark.parametrize(
    ("said", "held"),
    [
        ({}, {}),
        ({"a": None, "b": {}, "c": [], "d": "", "e": False, "f": 0}, {}),
        ({"namespaceSelector": {"matchLabels": {}}}, {"namespaceSelector": {}}),
        ({"stopPolicy": "None"}, {"stopPolicy": "None", "queueingStrategy": "BestEffortFIFO"}),
        ({"quota": 2}, {"quota": "2"}),
        ({"quota": "2048Mi"}, {"quota": "2Gi"}),
        ({"quota": 2.0}, {"quota": 2}),
        ({"names": ["a", "b"]}, {"names": ["b", "c", "a"]}),
        ({"items": [{"name": "x", "n": 1}]}, {"items": [{"name": "y"}, {"name": "x", "n": "1"}]}),
        ({"labels": {"k": "true"}}, {"labels": {"k": "true", "more": "yes"}}),
    ],
)
def test_what_means_the_same_is_no_difference(said, held):
    assert difference(said, held) is None


@pytest.mark.parametrize(
    ("said", "held", "told"),
    [
        ({"a": "x"}, {}, ("spec.a", "x", MISSING)),
        ({"a": "x"}, {"a": "y"}, ("spec.a", "x", "y")),
        ({"a": True}, {"a": 1}, ("spec.a", True, 1)),
        ({"a": {"b": 1}}, {"a": "text"}, ("spec.a.b", 1, MISSING)),
        ({"a": ["x", "x"]}, {"a": ["x"]}, ("spec.a[1]", "x", MISSING)),
        ({"a": [{"name": "x", "n": 1}]}, {"a": [{"name": "x", "n": 2}]}, ("spec.a[0].n", 1, 2)),
        (
            {"a": [{"name": "x"}]},
            {"a": [{"name": "y"}]},
            ("spec.a[0]", {"name": "x"}, MISSING),
        ),
    ],
)
def test_a_difference_is_named_with_both_sides(said, held, told):
    assert difference(said, held) == told


@pytest.mark.parametrize(
    ("content", "field"),
    [
        ({"apiVersion": "v1", "kind": "Job", "metadata": {"name": "x"}, "spec": {}}, None),
        ({"kind": "Job", "data": {}}, "data"),
        ({"metadata": {"name": "x", "namespaces": "team-a"}}, "metadata.namespaces"),
        ({"metadata": {"lables": {}}}, "metadata.lables"),
        ({"metadata": None}, None),
    ],
)
def test_a_field_that_no_object_has_is_named(content, field):
    fault = judge_fields(content)
    assert (None if fault is None else spell_path(fault.path)) == field


def files_with(manifest):
    return Files(Desk(yaml.safe_dump(manifest).encode()))


def test_a_queue_s_file_with_more_than_the_cluster_holds_is_told(lab):
    checks = {"admissionChecks": [{"name": "x"}]}
    files = files_with(cluster_queue(admissionChecksStrategy=checks))
    cluster = ListedCluster(clusterqueues=[cluster_queue()])
    with pytest.raises(Mismatch) as error:
        look_in_cluster(files, cluster, want_cluster_queue(lab))
    assert "admissionChecksStrategy" in told(error.value)
    assert "as /w/cq.yaml, line" in told(error.value)
    assert "no such field" in told(error.value)


def test_where_a_job_may_run_must_be_as_in_its_file(lab):
    files = files_with(job(nodeSelector={"zone": "attic"}))
    with pytest.raises(Mismatch) as error:
        look_in_cluster(files, ListedCluster(jobs=[job()]), want_first_job(lab))
    assert "nodeSelector.zone" in told(error.value)
    assert "delete Job train-1" in told(error.value)


def test_what_a_job_s_file_leaves_to_the_learner_may_differ(lab):
    edited = job(terminationGracePeriodSeconds=1)
    edited["spec"]["backoffLimit"] = 9
    live = job(nodeSelector={"nvidia.com/gpu.present": "true"}, suspend=False)
    found = look_in_cluster(files_with(edited), ListedCluster(jobs=[live]), want_first_job(lab))
    assert found == live
