"""Step 3: a LocalQueue, the counter of the namespace."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from checks.kit.cluster import Cluster
from checks.kit.files import Files
from checks.kit.proof import from_file, from_object
from checks.kit.witness import look_in_cluster, look_in_file
from checks.kueue_quota.facts import Facts
from checks.kueue_quota.ground import require_ground, require_open_local_queue
from checks.kueue_quota.wanted import want_local_queue
from checks.outcome import Evidence
from checks.watch import Watch

Note = Callable[[Evidence], None]


def test_ground(watch: Watch, lab: Facts) -> None:
    """the flavor and the ClusterQueue {cluster_queue} of steps 1 and 2 stand"""
    watch.until(lambda scene: require_ground(scene, lab, upto=2))


@pytest.mark.needs("ground")
def test_queue_file(files: Files, cluster: Cluster, lab: Facts, evidence: Note) -> None:
    """{local_queue_file} holds the LocalQueue {local_queue} for the ClusterQueue {cluster_queue}"""
    document = look_in_file(files, cluster, want_local_queue(lab))
    evidence(from_file(document.file, f"LocalQueue {lab.local_queue.name}"))


@pytest.mark.needs("queue_file")
def test_queue_applied(files: Files, cluster: Cluster, lab: Facts, evidence: Note) -> None:
    """the LocalQueue {local_queue} is in the namespace {namespace} as the file has it"""
    live = look_in_cluster(files, cluster, want_local_queue(lab))
    fact = f"clusterQueue {lab.cluster_queue.name}"
    evidence(from_object(lab.local_queue_kind, live, fact))


@pytest.mark.needs("queue_applied")
def test_queue_active(watch: Watch, lab: Facts, evidence: Note) -> None:
    """the LocalQueue {local_queue} is Active"""
    local = watch.until(lambda scene: require_open_local_queue(scene, lab))
    since = local.conditions["Active"].since
    evidence(from_object(lab.local_queue_kind, local.raw, "Active=True", time=since))
