"""Step 9: what the platform refuses, and a Job whose class is gone."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from checks.gpu_preemption.facts import Facts
from checks.gpu_preemption.ground import require_ground
from checks.gpu_preemption.judge_refused import (
    Credit,
    class_was_deleted_at,
    refusal_file,
    require_class_gone,
    require_forgotten,
    require_not_taken,
    require_orphan,
    require_refusal_noted,
)
from checks.kit.cluster import JOB
from checks.kit.files import Files
from checks.kit.proof import from_file, from_object, rfc3339
from checks.outcome import Evidence
from checks.watch import Watch

Note = Callable[[Evidence], None]


def test_ground(watch: Watch, lab: Facts) -> None:
    """the tenant of step 1 stands"""
    watch.until(lambda scene: require_ground(scene, lab))


@pytest.mark.needs("ground")
def test_refused_file(watch: Watch, files: Files, lab: Facts, evidence: Note) -> None:
    """{refused_file} holds the API server's refusal of the TrainJob {refused}"""
    file = refusal_file(files, lab)
    require_refusal_noted(watch.scene, lab, file)
    evidence(from_file(file, f"the refusal of {lab.refused.name}"))


@pytest.mark.needs("refused_file")
def test_not_taken(watch: Watch, lab: Facts) -> None:
    """no TrainJob {refused} exists"""
    require_not_taken(watch.scene, lab)


@pytest.mark.needs("ground")
def test_class_gone(watch: Watch, lab: Facts, credit: Credit, evidence: Note) -> None:
    """the class {urgent} is deleted, the tenant's and Kueue's"""
    watch.until(lambda scene: require_class_gone(scene, lab, credit))
    when = class_was_deleted_at(watch.scene, lab) or rfc3339(watch.scene.cluster.now)
    kind, name = lab.custom_class_kind.name, lab.urgent.name
    evidence(Evidence(kind, name, "absent", when, namespace=lab.namespace))


@pytest.mark.needs("class_gone")
def test_orphan_sent(watch: Watch, lab: Facts, evidence: Note) -> None:
    """the Job {orphan} names that class"""
    job = watch.until(lambda scene: require_orphan(scene, lab))
    evidence(from_object(JOB, job.raw, f"{lab.priority_label}={lab.urgent.name}"))


@pytest.mark.needs("orphan_sent")
def test_orphan_waits(watch: Watch, lab: Facts, evidence: Note) -> None:
    """it stays suspended, and Kueue makes no Workload for it"""
    job = watch.until(lambda scene: require_forgotten(scene, lab))
    evidence(from_object(JOB, job.raw, "no Workload"))
