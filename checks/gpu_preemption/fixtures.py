"""Fixtures of this lab's checks."""

from __future__ import annotations

from collections.abc import Mapping

import pytest

from checks.gpu_preemption.facts import Facts
from checks.history import History
from checks.kit.cluster import Cluster
from checks.kit.expect import Patience
from checks.kit.typed import build
from checks.scene import Scene
from checks.watch import Watch


@pytest.fixture(scope="session")
def lab(facts: Mapping[str, object]) -> Facts:
    """The lab's facts, typed."""
    return build(Facts, facts)


@pytest.fixture(scope="session", autouse=True)
def kueue_is_served(cluster: Cluster, lab: Facts) -> None:
    """Nothing is judged when the API server is silent or does not know Kueue's kinds."""
    cluster.require_served(lab.cluster_queue_kind)


@pytest.fixture(scope="session")
def watch(cluster: Cluster, lab: Facts, patience: Patience, history: History) -> Watch:
    """The cluster as this lab sees it, and what was recorded of it."""
    return Watch(Scene(cluster, lab.namespace, lab.api_version, history), patience)
