"""Step 3: a class whose name somebody else has already."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from checks.gpu_preemption.facts import Facts
from checks.gpu_preemption.judge_classes import require_conflict, require_noted, require_taken
from checks.gpu_preemption.wanted import want_class
from checks.kit.cluster import Cluster
from checks.kit.files import Files
from checks.kit.proof import from_file, from_object
from checks.kit.witness import look_in_cluster, look_in_file
from checks.outcome import Evidence
from checks.watch import Watch

Note = Callable[[Evidence], None]


def test_name_taken(watch: Watch, lab: Facts, evidence: Note) -> None:
    """a class {batch} was there before, which the platform did not make"""
    raw = require_taken(watch.scene, lab)
    evidence(from_object(lab.class_kind, raw, "not made by the platform"))


@pytest.mark.needs("name_taken")
def test_batch_file(files: Files, cluster: Cluster, lab: Facts, evidence: Note) -> None:
    """{batch_manifest} holds the CustomWorkloadPriorityClass {batch} with its value"""
    document = look_in_file(files, cluster, want_class(lab, lab.batch))
    evidence(from_file(document.file, f"CustomWorkloadPriorityClass {lab.batch.name}"))


@pytest.mark.needs("batch_file")
def test_batch_applied(files: Files, cluster: Cluster, lab: Facts, evidence: Note) -> None:
    """the CustomWorkloadPriorityClass {batch} is in the cluster as the file has it"""
    live = look_in_cluster(files, cluster, want_class(lab, lab.batch))
    evidence(from_object(lab.custom_class_kind, live, f"value {lab.batch.value}"))


@pytest.mark.needs("batch_applied")
def test_conflict_file(watch: Watch, files: Files, lab: Facts, evidence: Note) -> None:
    """{batch} is not READY, and {batch_file} says so: {batch_ready_key}= and {batch_reason_key}="""
    thing, ready = watch.until(lambda scene: require_conflict(scene, lab))
    fact = f"Ready={ready.status} {ready.reason}"
    evidence(from_object(lab.custom_class_kind, thing.raw, fact, time=ready.since))
    file = files.text(lab.batch.file)
    require_noted(file, lab, ready)
    evidence(from_file(file, fact))
