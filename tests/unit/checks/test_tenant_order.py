"""Step 10 of the second lab: who could come first, and what the numbers explain."""

import pytest

from checks.gpu_preemption.judge_order import Entrant, Outcome, require_outcome
from checks.gpu_preemption.judge_order_file import Noted, require_explained
from checks.outcome import Mismatch
from checks.scene import Scene
from checks.watching import read_job, read_workload
from tests.unit.checks.conftest import ListedCluster, condition
from tests.unit.checks.test_manifests import text_file
from tests.unit.checks.test_preemption import history, workload
from tests.unit.checks.test_tenant_judges import lab, manifest

__all__ = ["lab"]  # a fixture

FIRST, OTHER = "exam-research", "exam-training"


def exam(name):
    job = manifest(f"{name}.yaml")
    job["metadata"]["uid"] = f"tj-{name}"
    return job


def at(second):
    return f"2027-01-15T07:00:{second:02}Z"


def line(kind, name, second, version, **facts):
    about = {"kind": kind, "name": name, "uid": f"wl-{name}", "version": str(version)}
    return about | {"seen": at(second), "facts": facts}


def stop(policy, second):
    return line("LocalQueue", "training", second, second, stop=policy)


RESERVED = {"conditions": {"QuotaReserved": ["True", "QuotaReserved", at(20), ""]}}
STORY = (
    line("Workload", OTHER, 1, 1),
    line("Workload", FIRST, 2, 2),
    line("Workload", FIRST, 20, 20, **RESERVED),
)


def outcome_of(lab, tmp_path, *changes):
    entered = workload(FIRST, condition("QuotaReserved", "True"), held="2")
    lists = {"jobs": [exam(FIRST), exam(OTHER)], "workloads": [entered, workload(OTHER)]}
    past = history(tmp_path, *changes)
    here = Scene(ListedCluster(**lists), "team-b", "kueue.x-k8s.io/v1beta2", past)
    return require_outcome(here, lab)


@pytest.mark.parametrize("stops", [[], [stop("None", 3)], [stop("Hold", 3), stop("None", 4)]])
def test_both_could_come_first(lab, tmp_path, stops):
    assert outcome_of(lab, tmp_path, *stops, *STORY).first.job.name == FIRST


def test_one_whose_queue_was_closed_could_not(lab, tmp_path):
    with pytest.raises(Mismatch, match="LocalQueue training had stopPolicy: Hold"):
        outcome_of(lab, tmp_path, stop("Hold", 10), *STORY, stop("None", 30))


def switch(*, is_active, second):
    return line("Workload", OTHER, second, second, active=is_active)


def test_one_that_was_switched_off_could_not(lab, tmp_path):
    back = switch(is_active=True, second=30)
    with pytest.raises(Mismatch, match="Workload of exam-training was switched off"):
        outcome_of(lab, tmp_path, *STORY[:2], switch(is_active=False, second=10), STORY[2], back)
    early = switch(is_active=False, second=3), switch(is_active=True, second=4)
    assert outcome_of(lab, tmp_path, *STORY[:2], *early, STORY[2]).first.job.name == FIRST


@pytest.mark.parametrize(
    ("training", "research", "words"),
    [(0.2, 0.0, ""), (0.2, 0.1, "both had used the same"), (0.1, 0.2, "training had used less")],
)
def test_the_numbers_must_explain_the_order(lab, training, research, words):
    def entrant(name, queue):
        return Entrant(read_job(exam(name)), read_workload(workload(name)), queue, 0.0, 1.0)

    outcome = Outcome(entrant(FIRST, "research"), entrant(OTHER, "training"), 0.0)
    weight = {"training": 2.0, "research": 1.0}
    noted = Noted(FIRST, {"training": training, "research": research}, weight)
    file = text_file("{}", "order.json")
    if not words:
        require_explained(lab, file, noted, outcome)
        return
    with pytest.raises(Mismatch, match=words):
        require_explained(lab, file, noted, outcome)
