"""Step 1: a tenant's ClusterQueue with its rules, and a LocalQueue with a weight."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from checks.gpu_preemption.facts import Facts
from checks.gpu_preemption.ground import require_open_cluster_queue, require_open_local_queue
from checks.gpu_preemption.judge_mode import require_mode_from_start
from checks.gpu_preemption.wanted import want_cluster_queue, want_local_queue
from checks.kit.cluster import Cluster
from checks.kit.files import Files
from checks.kit.proof import from_file, from_object
from checks.kit.witness import look_in_cluster, look_in_file
from checks.outcome import Evidence
from checks.watch import Watch

Note = Callable[[Evidence], None]


def test_queue_file(files: Files, cluster: Cluster, lab: Facts, evidence: Note) -> None:
    """{tenant_file} holds the ClusterQueue {tenant_cluster_queue} with its quota and its rules"""
    document = look_in_file(files, cluster, want_cluster_queue(lab))
    evidence(from_file(document.file, f"ClusterQueue {lab.tenant.cluster_queue}"))


@pytest.mark.needs("queue_file")
def test_counter_file(files: Files, cluster: Cluster, lab: Facts, evidence: Note) -> None:
    """{tenant_file} holds the LocalQueue {tenant_local_queue} with its weight, too"""
    document = look_in_file(files, cluster, want_local_queue(lab))
    evidence(from_file(document.file, f"LocalQueue {lab.tenant.local_queue}"))


@pytest.mark.needs("counter_file")
def test_queue_applied(
    watch: Watch, files: Files, cluster: Cluster, lab: Facts, evidence: Note
) -> None:
    """the ClusterQueue {tenant_cluster_queue} is in the cluster as the file has it"""
    live = look_in_cluster(files, cluster, want_cluster_queue(lab))
    require_mode_from_start(watch.scene, lab, live)
    fact = f"withinClusterQueue {lab.tenant.within}, {lab.gpu} {lab.tenant.gpus}"
    evidence(from_object(lab.cluster_queue_kind, live, fact))


@pytest.mark.needs("queue_applied")
def test_counter_applied(files: Files, cluster: Cluster, lab: Facts, evidence: Note) -> None:
    """the LocalQueue {tenant_local_queue} is in the namespace {namespace} as the file has it"""
    live = look_in_cluster(files, cluster, want_local_queue(lab))
    fact = f"clusterQueue {lab.tenant.cluster_queue}, weight {lab.tenant.weight}"
    evidence(from_object(lab.local_queue_kind, live, fact))


@pytest.mark.needs("counter_applied")
def test_queues_active(watch: Watch, lab: Facts, evidence: Note) -> None:
    """the ClusterQueue and the LocalQueue are Active"""
    queue = watch.until(lambda scene: require_open_cluster_queue(scene, lab))
    local = watch.until(lambda scene: require_open_local_queue(scene, lab))
    for kind, one in ((lab.cluster_queue_kind, queue), (lab.local_queue_kind, local)):
        since = one.conditions["Active"].since
        evidence(from_object(kind, one.raw, "Active=True", time=since))
