"""Step 1: a ResourceFlavor that stands for the nodes with GPUs."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from checks.kit.cluster import Cluster
from checks.kit.files import Files
from checks.kit.proof import from_file, from_object
from checks.kit.witness import look_in_cluster, look_in_file
from checks.kueue_quota.facts import Facts
from checks.kueue_quota.judge_queues import require_a_node
from checks.kueue_quota.wanted import want_flavor
from checks.outcome import Evidence
from checks.watch import Watch

Note = Callable[[Evidence], None]


def test_flavor_file(files: Files, cluster: Cluster, lab: Facts, evidence: Note) -> None:
    """{flavor_file} holds the ResourceFlavor {flavor} with the node label {flavor_label_key}"""
    document = look_in_file(files, cluster, want_flavor(lab))
    evidence(from_file(document.file, f"ResourceFlavor {lab.flavor.name}"))


@pytest.mark.needs("flavor_file")
def test_flavor_applied(
    files: Files, cluster: Cluster, watch: Watch, lab: Facts, evidence: Note
) -> None:
    """the ResourceFlavor {flavor} is in the cluster as the file has it"""
    live = look_in_cluster(files, cluster, want_flavor(lab))
    require_a_node(live, watch.scene.node_labels(), lab)
    label = f"{lab.flavor.label_key}={lab.flavor.label_value}"
    evidence(from_object(lab.flavor_kind, live, f"nodeLabels {label}"))
