"""What the recorded past proves: waits, who made room, the line of step 5, the books of step 7."""

import pytest

from checks.history import History
from checks.journal import Journal
from checks.judging.past import EVENTS, RECORDER, TIMES, find_wait
from checks.kit.following import Late
from checks.kueue_quota.history import books_while_waiting, find_leaving
from checks.kueue_quota.judge_handover import require_same_job
from checks.kueue_quota.judge_ledger import Ledger, require_same_ledger
from checks.outcome import Mismatch
from checks.recording.keeper import Keeper
from tests.unit.checks.conftest import (
    ADMITTED,
    NOW,
    WAITING,
    cluster_queue,
    flavor,
    job,
    local_queue,
    workload,
)


class Recorded:
    """A history made by hand: one second and one version for each change."""

    def __init__(self, folder):
        (folder / "cluster.id").write_text("life")
        self.file = folder / "history.jsonl"
        self.time, self.version = NOW - 600, 100
        self.keeper = Keeper(Journal(self.file, "life"), now=lambda: self.time)
        self.keeper.begin(0.0)

    def see(self, kind, raw, **how):
        self.time += 1
        self.version += 1
        metadata = {**raw["metadata"], "resourceVersion": str(self.version)}
        self.keeper.see(kind, {**raw, "metadata": metadata}, **how)

    def line(self, quota=2):
        """Steps 1 to 5: two Jobs hold the quota, the third waits."""
        self.see("ClusterQueue", books(quota, admitted=2, pending=0))
        for name in ("train-1", "train-2"):
            self.see("Job", job(name, suspend=False))
            self.see("Workload", workload(name, ADMITTED))
        self.see("Job", job("train-3"))
        self.see("Workload", workload("train-3", WAITING))
        self.see("ClusterQueue", books(quota, admitted=2, pending=1))

    def leave(self, **how):
        """The first Job is deleted, and its Workload with it."""
        self.see("Job", job("train-1", suspend=False), is_gone=True, **how)
        self.see("Workload", workload("train-1", ADMITTED), is_gone=True, **how)

    def enter(self):
        self.see("Workload", workload("train-3", ADMITTED))
        self.see("Job", job("train-3", suspend=False))


def books(quota, admitted, pending):
    raw = cluster_queue()
    raw["spec"]["resourceGroups"][0]["flavors"][0]["resources"][2]["nominalQuota"] = quota
    raw["metadata"] |= {"uid": "uid-q"}
    raw["status"] |= {
        "admittedWorkloads": admitted,
        "pendingWorkloads": pending,
        "flavorsReservation": [
            {"name": "fake-gpu", "resources": [{"name": "nvidia.com/gpu", "total": str(admitted)}]}
        ],
    }
    return raw


@pytest.fixture
def recorded(tmp_path):
    return Recorded(tmp_path)


@pytest.fixture
def after(make_scene, recorded):
    """The cluster after step 8, with what is recorded."""

    def make(**changes):
        things = {
            "jobs": [job("train-2", suspend=False), job("train-3", suspend=False)],
            "workloads": [workload("train-2", ADMITTED), workload("train-3", ADMITTED)],
            "localqueues": [local_queue()],
            "clusterqueues": [books(2, admitted=2, pending=0)],
            "resourceflavors": [flavor()],
            **changes,
        }
        scene = make_scene(**things)
        scene.history = History(recorded.file)
        return scene

    return make


def third(scene):
    return scene.workload_of(scene.job("train-3"))


def test_the_recorder_proves_a_wait_that_nothing_else_shows(recorded, after):
    assert find_wait(after(), third(after())) is None
    recorded.line()
    recorded.leave()
    recorded.enter()
    wait = find_wait(after(), third(after()))
    assert wait.source is RECORDER
    assert wait.remark is None
    assert wait.since == WAITING[0]["lastTransitionTime"]


def test_without_the_recorder_a_wait_says_what_it_rests_on(after):
    event = {
        "metadata": {"name": "e", "namespace": "team-a"},
        "involvedObject": {"uid": "uid-w-train-3"},
        "type": "Warning",
        "eventTime": ADMITTED[0]["lastTransitionTime"],
    }
    wait = find_wait(after(events=[event]), third(after()))
    assert wait.source is EVENTS
    assert "events" in str(wait.remark)
    late = workload("train-3", ADMITTED, created="2027-01-15T06:59:00Z")
    scene = after(workloads=[workload("train-2", ADMITTED), late])
    assert find_wait(scene, third(scene)).source is TIMES


def test_admission_without_a_wait_is_none(recorded, after):
    recorded.see("Workload", workload("train-3", ADMITTED))
    assert find_wait(after(), third(after())) is None


def test_who_made_room(recorded, after, lab):
    recorded.line()
    recorded.leave()
    recorded.enter()
    leaving = find_leaving(after(), lab, third(after()))
    assert (leaving.name, leaving.what, leaving.uid) == ("train-1", "deleted", "uid-train-1")


def test_a_job_deleted_with_its_pods_first_makes_room_when_its_deletion_begins(
    recorded, after, lab
):
    recorded.line()
    going = job("train-1", suspend=False)
    going["metadata"]["deletionTimestamp"] = "2027-01-15T07:59:00Z"
    recorded.see("Job", going)
    recorded.see("Workload", workload("train-1", ADMITTED), is_gone=True)
    recorded.enter()
    recorded.see("Job", going, is_gone=True)
    assert find_leaving(after(), lab, third(after())).deleting == "2027-01-15T07:59:00Z"


def test_a_train_3_made_again_counts_when_it_waited_before_train_1_went(recorded, after, lab):
    recorded.line()
    again = job("train-3")
    again["metadata"]["uid"] = "uid-again"
    recorded.see("Job", job("train-3"), is_gone=True)
    recorded.see("Workload", workload("train-3", WAITING), is_gone=True)
    recorded.see("Job", again)
    recorded.see("Workload", made_again(WAITING))
    recorded.leave()
    recorded.see("Workload", made_again(ADMITTED))
    jobs = [job("train-2", suspend=False), again]
    scene = after(jobs=jobs, workloads=[workload("train-2", ADMITTED), made_again(ADMITTED)])
    assert require_same_job(scene, lab, {}).uid == "uid-again"


def test_a_wait_that_began_after_train_1_went_is_another_one(recorded, after, lab):
    recorded.line()
    recorded.leave()
    recorded.enter()
    again = job("train-3")
    again["metadata"]["uid"] = "uid-again"
    recorded.see("Job", again)
    recorded.see("Workload", made_again(WAITING))
    recorded.see("Workload", made_again(ADMITTED))
    jobs = [job("train-2", suspend=False), again]
    scene = after(jobs=jobs, workloads=[workload("train-2", ADMITTED), made_again(ADMITTED)])
    with pytest.raises(Mismatch) as told:
        require_same_job(scene, lab, {})
    assert "in the line before train-1 was deleted" in str(told.value.finding.expected)
    assert "uid uid-agai waits since" in str(told.value.finding.found)


def made_again(conditions):
    owner = {"kind": "Job", "name": "train-3", "uid": "uid-again", "controller": True}
    return workload("train-3", conditions, uid="uid-w-again", ownerReferences=[owner])


def test_room_that_came_from_elsewhere_is_told(recorded, after, lab):
    recorded.line()
    recorded.see("ClusterQueue", books(3, admitted=2, pending=1))
    recorded.enter()
    recorded.see("ClusterQueue", books(2, admitted=3, pending=0))
    recorded.leave()
    with pytest.raises(Mismatch) as told:
        find_leaving(after(), lab, third(after()))
    assert "train-1 held its quota" in str(told.value.finding.found)
    assert "make reset" in str(told.value.finding.next_move)


def test_a_deletion_that_nobody_saw_in_time_proves_nothing(recorded, after, lab):
    recorded.line()
    recorded.enter()
    recorded.keeper.relist("Job", "team-a", [job("train-3", suspend=False)], Late())
    assert find_leaving(after(), lab, third(after())) is None


def test_a_workload_whose_deletion_nobody_saw_is_no_refusal(recorded, after, lab):
    recorded.line()
    rest = [workload("train-2", ADMITTED), workload("train-3", WAITING)]
    recorded.keeper.relist("Workload", "team-a", rest, Late())
    recorded.enter()
    recorded.see("Job", job("train-1", suspend=False), is_gone=True)
    assert find_leaving(after(), lab, third(after())) is None


def test_an_ended_job_that_is_deleted_later_is_no_refusal(recorded, after, lab):
    recorded.line()
    ended = (*ADMITTED, {**ADMITTED[0], "type": "Finished"})
    recorded.see("Workload", workload("train-1", ended))
    recorded.enter()
    recorded.leave()
    assert find_leaving(after(), lab, third(after())) is None


class File:
    path = "/w/usage.json"

    def __init__(self, mtime):
        self.mtime = mtime


def ledger(lab, admitted, pending, gpus):
    return Ledger(
        {
            lab.usage.admitted_key: admitted,
            lab.usage.pending_key: pending,
            lab.usage.gpu_key: gpus,
        }
    )


def test_the_books_of_the_moment_when_the_file_was_written(recorded, after, lab):
    empty = recorded.time + 1
    recorded.line()
    full = recorded.time
    recorded.see("ClusterQueue", books(2, admitted=2, pending=2))
    two = recorded.time
    recorded.leave()
    recorded.enter()
    scene, now = after(), third(after())
    assert books_while_waiting(scene, lab, now, empty) is None
    assert books_while_waiting(scene, lab, now, full).count("pending") == 1
    entered = workload("train-3", _at("2027-01-15T07:59:30Z"))
    scene = after(workloads=[workload("train-2", ADMITTED), entered])
    fact, since = require_same_ledger(scene, lab, File(two), ledger(lab, 2, 2, 2))
    assert "pending 2" in fact
    assert "pending 0" in str(since)
    with pytest.raises(Mismatch):
        require_same_ledger(scene, lab, File(two), ledger(lab, 1, 0, 1))


def _at(time):
    return tuple({**one, "lastTransitionTime": time} for one in ADMITTED)
