"""Step 10: of two equal Jobs that wait, the one whose LocalQueue has used less enters first."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from checks.gpu_preemption.facts import Facts
from checks.gpu_preemption.ground import require_ground
from checks.gpu_preemption.judge_order import require_exams, require_fair, require_outcome
from checks.gpu_preemption.judge_order_file import read_order_file, require_true
from checks.gpu_preemption.wanted_later import want_research
from checks.judging.ground import require_open_local_queue
from checks.kit.cluster import JOB, Cluster
from checks.kit.files import Files
from checks.kit.proof import from_file, from_object
from checks.kit.witness import look_in_cluster, look_in_file
from checks.outcome import Evidence
from checks.watch import Watch

Note = Callable[[Evidence], None]


def test_ground(watch: Watch, lab: Facts) -> None:
    """the tenant of step 1 stands"""
    watch.until(lambda scene: require_ground(scene, lab))


@pytest.mark.needs("ground")
def test_research_file(files: Files, cluster: Cluster, lab: Facts, evidence: Note) -> None:
    """{research_manifest} holds the LocalQueue {research} with its weight"""
    document = look_in_file(files, cluster, want_research(lab))
    evidence(from_file(document.file, f"LocalQueue {lab.research.name}"))


@pytest.mark.needs("research_file")
def test_research_open(
    watch: Watch, files: Files, cluster: Cluster, lab: Facts, evidence: Note
) -> None:
    """the LocalQueue {research} is in the namespace {namespace} as the file has it, and open"""
    live = look_in_cluster(files, cluster, want_research(lab))
    watch.until(lambda scene: require_open_local_queue(scene, want_research(lab)))
    evidence(from_object(lab.local_queue_kind, live, "Active=True"))


@pytest.mark.needs("research_open")
def test_exams_sent(watch: Watch, lab: Facts, evidence: Note) -> None:
    """{order_training_job} and {order_research_job} are equal, each in its own LocalQueue"""
    for one in watch.until(lambda scene: require_exams(scene, lab)):
        evidence(from_object(JOB, one.job.raw, f"{lab.queue_label}={one.queue}"))


@pytest.mark.needs("exams_sent")
def test_one_entered(watch: Watch, lab: Facts, evidence: Note) -> None:
    """both waited at the same time, and one of them was let in first"""
    outcome = watch.until(lambda scene: require_outcome(scene, lab))
    workload = outcome.first.workload
    since = workload.conditions["QuotaReserved"].since
    evidence(from_object(lab.workload_kind, workload.raw, "QuotaReserved=True", time=since))


@pytest.mark.needs("one_entered")
def test_fair(watch: Watch, lab: Facts) -> None:
    """it is the one whose LocalQueue had used less for its weight"""
    require_fair(watch.scene, lab, watch.until(lambda scene: require_outcome(scene, lab)))


@pytest.mark.needs("fair")
def test_order_form(files: Files, lab: Facts, evidence: Note) -> None:
    """{order_file} is JSON with {order_first_key}, {order_consumed_key} and {order_weight_key}"""
    file = files.text(lab.order.file)
    evidence(from_file(file, read_order_file(file, lab).first))


@pytest.mark.needs("order_form")
def test_order_true(watch: Watch, files: Files, lab: Facts, evidence: Note) -> None:
    """it names the Job that came first, and the use and the weights that explain it"""
    file = files.text(lab.order.file)
    noted = read_order_file(file, lab)
    outcome = watch.until(lambda scene: require_outcome(scene, lab))
    require_true(watch.scene, lab, file, noted, outcome)
    evidence(from_file(file, f"{noted.first} first"))
