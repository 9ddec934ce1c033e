"""Fixtures of this lab's checks."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import TypeVar

import pytest

from checks.history import History
from checks.kit.cluster import Cluster
from checks.kit.expect import Patience
from checks.kit.typed import build
from checks.kueue_quota.facts import Facts
from checks.scene import Scene

T = TypeVar("T")


class Watch:
    """The scene, and waiting for what is on its way in it."""

    def __init__(self, scene: Scene, patience: Patience) -> None:
        self.scene = scene
        self._patience = patience

    def until(self, judge: Callable[[Scene], T]) -> T:
        """What `judge` returns for the scene, looked at again while it says that it is coming."""
        return self._patience.watch(lambda: judge(self.scene), afresh=self.scene.cluster.look_again)


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
