"""Step 2: a ClusterQueue that owns the quota and is open."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from checks.kit.cluster import Cluster
from checks.kit.files import Files
from checks.kit.proof import from_file, from_object
from checks.kit.witness import look_in_cluster, look_in_file
from checks.kueue_quota.facts import Facts
from checks.kueue_quota.ground import require_ground, require_open_cluster_queue
from checks.kueue_quota.wanted import want_cluster_queue
from checks.outcome import Evidence
from checks.watch import Watch

Note = Callable[[Evidence], None]


def test_ground(watch: Watch, lab: Facts) -> None:
    """the ResourceFlavor {flavor} of step 1 stands"""
    watch.until(lambda scene: require_ground(scene, lab, upto=1))


@pytest.mark.needs("ground")
def test_queue_file(files: Files, cluster: Cluster, lab: Facts, evidence: Note) -> None:
    """{cluster_queue_file} holds the ClusterQueue {cluster_queue} with its quota"""
    document = look_in_file(files, cluster, want_cluster_queue(lab))
    evidence(from_file(document.file, f"ClusterQueue {lab.cluster_queue.name}"))


@pytest.mark.needs("queue_file")
def test_queue_applied(files: Files, cluster: Cluster, lab: Facts, evidence: Note) -> None:
    """the ClusterQueue {cluster_queue} is in the cluster as the file has it"""
    live = look_in_cluster(files, cluster, want_cluster_queue(lab))
    quota = ", ".join(f"{name} {amount}" for name, amount in lab.cluster_queue.quota.items())
    evidence(from_object(lab.cluster_queue_kind, live, f"quota {quota}"))


@pytest.mark.needs("queue_applied")
def test_queue_active(watch: Watch, lab: Facts, evidence: Note) -> None:
    """the ClusterQueue {cluster_queue} is Active"""
    queue = watch.until(lambda scene: require_open_cluster_queue(scene, lab))
    since = queue.conditions["Active"].since
    evidence(from_object(lab.cluster_queue_kind, queue.raw, "Active=True", time=since))
