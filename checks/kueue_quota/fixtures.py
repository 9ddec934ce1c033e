"""Fixtures of this lab's checks."""

from __future__ import annotations

from collections.abc import Mapping

import pytest

from checks.kit.cluster import Cluster
from checks.kit.typed import build
from checks.kueue_quota.facts import Facts


@pytest.fixture(scope="session")
def lab(facts: Mapping[str, object]) -> Facts:
    """The lab's facts, typed."""
    return build(Facts, facts)


@pytest.fixture(scope="session", autouse=True)
def kueue_is_served(cluster: Cluster, lab: Facts) -> None:
    """Nothing is judged when the API server is silent or does not know Kueue's kinds."""
    cluster.require_served(lab.cluster_queue_kind)
