"""Step 2: the platform's classes of priority, and one of the tenant's own."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from checks.gpu_preemption.facts import Facts
from checks.gpu_preemption.judge_classes import read_values, require_ready, require_values
from checks.gpu_preemption.wanted import want_class
from checks.kit.cluster import Cluster
from checks.kit.files import Files
from checks.kit.proof import from_file, from_object
from checks.kit.witness import look_in_cluster, look_in_file
from checks.outcome import Evidence
from checks.watch import Watch

Note = Callable[[Evidence], None]


def test_values_file(files: Files, lab: Facts, evidence: Note) -> None:
    """{classes_file} is JSON with the value of each of the platform's classes, as a number"""
    file = files.text(lab.classes.file)
    evidence(from_file(file, ", ".join(read_values(file, lab))))


@pytest.mark.needs("values_file")
def test_values_true(watch: Watch, files: Files, lab: Facts, evidence: Note) -> None:
    """its values are those that the classes in the cluster have"""
    file = files.text(lab.classes.file)
    written = read_values(file, lab)
    require_values(watch.scene, lab, file, written)
    evidence(from_file(file, ", ".join(f"{name} {value}" for name, value in written.items())))


@pytest.mark.needs("values_true")
def test_urgent_file(files: Files, cluster: Cluster, lab: Facts, evidence: Note) -> None:
    """{urgent_file} holds the CustomWorkloadPriorityClass {urgent} with its value"""
    document = look_in_file(files, cluster, want_class(lab, lab.urgent))
    evidence(from_file(document.file, f"CustomWorkloadPriorityClass {lab.urgent.name}"))


@pytest.mark.transient
@pytest.mark.needs("urgent_file")
def test_urgent_applied(files: Files, cluster: Cluster, lab: Facts, evidence: Note) -> None:
    """the CustomWorkloadPriorityClass {urgent} is in the cluster as the file has it"""
    live = look_in_cluster(files, cluster, want_class(lab, lab.urgent))
    evidence(from_object(lab.custom_class_kind, live, f"value {lab.urgent.value}"))


@pytest.mark.transient
@pytest.mark.needs("urgent_applied")
def test_urgent_ready(watch: Watch, lab: Facts, evidence: Note) -> None:
    """{urgent} is READY, and Kueue has a class of that name"""
    thing, ready = watch.until(lambda scene: require_ready(scene, lab))
    evidence(from_object(lab.custom_class_kind, thing.raw, "Ready=True", time=ready.since))
    made = watch.scene.priority_class(lab.urgent.name)
    if made is not None:
        evidence(from_object(lab.class_kind, made, f"value {lab.urgent.value}"))
