"""The recorder: what it writes, how its file survives, and how it takes up a watch again."""

import json
import os
import threading
from argparse import ArgumentTypeError
from contextlib import contextmanager

import pytest

from checks.history import History
from checks.journal import Journal, before, read_entries
from checks.kit.cluster import JOB
from checks.kit.following import Follower, Late
from checks.kit.stream import ApiStream, StreamLost
from checks.recording.__main__ import read_kind
from checks.recording.facts import facts_of
from checks.recording.keeper import Keeper
from provision.message import say
from provision.waiting import wait_until
from tests.fakes.api import FakeApi, serving
from tests.unit.checks.conftest import ADMITTED, WAITING, cluster_queue, flavor, job, workload

LIFE = "one"


@pytest.fixture
def file(tmp_path):
    (tmp_path / "cluster.id").write_text(LIFE)
    return tmp_path / "history.jsonl"


def keeper_of(file, largest=1 << 20):
    keeper = Keeper(Journal(file, LIFE, largest=largest))
    keeper.begin(0.0)
    return keeper


def versioned(raw, version):
    return {**raw, "metadata": {**raw["metadata"], "resourceVersion": str(version)}}


def story(file):
    return [(c.what, c.name, c.version, c.is_late) for c in History(file).changes]


def test_only_changes_that_matter_are_written(file):
    keeper = keeper_of(file)
    keeper.see("Job", versioned(job(), 5))
    keeper.see("Job", versioned(job(), 6))
    keeper.see("Job", versioned(job(suspend=False), 7))
    keeper.see("Job", versioned(job(suspend=False), 8), is_gone=True)
    keeper.see("Job", versioned(job(suspend=False), 8), is_gone=True)
    assert story(file) == [
        ("added", "train-1", 5, False),
        ("modified", "train-1", 7, False),
        ("deleted", "train-1", 8, False),
    ]
    assert keeper.version("Job", "team-a") == "8"


def test_facts_are_few_and_say_what_later_steps_need():
    found = facts_of("Workload", workload("train-3", WAITING))
    assert found["owner"] == "train-3"
    assert found["amounts"]["nvidia.com/gpu"] == "1"
    status, reason, since, message = found["conditions"]["QuotaReserved"]
    assert (status, reason) == ("False", "WaitingForQuota")
    assert since
    assert "insufficient" in message
    assert facts_of("ClusterQueue", cluster_queue())["quota"]["nvidia.com/gpu"] == "2"
    assert facts_of("ResourceFlavor", flavor())["labels"] == {"nvidia.com/gpu.present": "true"}
    running, waiting = facts_of("Job", job(suspend=False)), facts_of("Job", job())
    assert running["digest"] == waiting["digest"]
    assert running != waiting
    assert facts_of("Job", job(limits={"nvidia.com/gpu": 2}))["digest"] != waiting["digest"]


def test_priority_evictions_and_gates_are_kept():
    raw = workload("train-3", WAITING)
    raw["spec"] |= {"priority": 100, "priorityClassRef": {"name": "low"}}
    raw["status"]["schedulingStats"] = {
        "evictions": [
            {"reason": "Preempted", "underlyingCause": "", "count": 1},
            {"reason": "Preempted", "underlyingCause": "Other", "count": 2},
        ]
    }
    found = facts_of("Workload", raw)
    assert (found["priority"], found["priority_class"]) == (100, "low")
    assert found["evictions"] == {"Preempted": 3}
    assert "priority" not in facts_of("Workload", workload("train-3", WAITING))
    pod = {"metadata": {"name": "p"}, "spec": {"schedulingGates": [{"name": "a/gate"}]}}
    assert facts_of("Pod", pod)["gates"] == ["a/gate"]


def test_a_kind_without_a_reader_gives_what_queued_things_have():
    raw = {
        "metadata": {
            "name": "t",
            "labels": {
                "kueue.x-k8s.io/queue-name": "training",
                "kueue.x-k8s.io/priority-class": "low",
            },
        },
        "spec": {"suspend": True, "trainer": {}},
        "status": {"conditions": [{"type": "Suspended", "status": "True", "reason": "Why"}]},
    }
    found = facts_of("Any", raw)
    assert found.pop("digest") == facts_of("Any", {**raw, "spec": {"trainer": {}}})["digest"]
    assert found == {
        "queue": "training",
        "priority_class": "low",
        "suspend": True,
        "conditions": {"Suspended": ["True", "Why", "", ""]},
    }


@pytest.mark.parametrize(("trainer", "nodes"), [({"numNodes": 5}, 5), ({}, 1)])
def test_a_train_job_has_nodes(trainer, nodes):
    assert facts_of("TrainJob", {"spec": {"trainer": trainer}})["nodes"] == nodes


def test_what_passes_all_the_time_is_no_news_by_itself(file):
    def queue(consumed, pending):
        sharing = {"consumedResources": {"nvidia.com/gpu": consumed}}
        status = {"fairSharing": {"admissionFairSharingStatus": sharing}}
        return {
            "metadata": {"name": "lq", "namespace": "team-b", "uid": "u"},
            "spec": {"clusterQueue": "team-b", "fairSharing": {"weight": "2"}},
            "status": {**status, "pendingWorkloads": pending},
        }

    keeper = keeper_of(file)
    keeper.see("LocalQueue", versioned(queue("1", 0), 5))
    keeper.see("LocalQueue", versioned(queue("2", 0), 6))
    keeper.see("LocalQueue", versioned(queue("3", 1), 7))
    assert [line[2] for line in story(file)] == [5, 7]
    last = History(file).changes[-1].facts
    assert last["consumed"] == {"nvidia.com/gpu": "3"}
    assert last["weight"] == "2"


@pytest.mark.parametrize("text", ["TrainJob", "TrainJob/trainjobs", "/trainjobs/a/v1", "A//v1"])
def test_a_kind_to_record_is_written_in_three_parts(text):
    kind = read_kind("TrainJob/trainjobs/a.io/v1")
    assert (kind.name, kind.plural, kind.root) == ("TrainJob", "trainjobs", "/apis/a.io/v1")
    assert read_kind("Pod/pods/v1").root == "/api/v1"
    with pytest.raises(ArgumentTypeError, match="is not KIND/plural/version"):
        read_kind(text)


def test_a_torn_line_costs_nothing_but_itself(file):
    keeper = keeper_of(file)
    keeper.see("Job", versioned(job(), 5))
    with file.open("ab") as end:
        end.write(b'{"seen":"2027-01-15T08:00:00Z","change":"modi')
    again = keeper_of(file)
    again.see("Job", versioned(job(), 5))
    again.see("Job", versioned(job(suspend=False), 9))
    assert [line[:3] for line in story(file)] == [
        ("added", "train-1", 5),
        ("modified", "train-1", 9),
    ]
    lines = file.read_bytes().split(b"\n")
    assert lines[-1] == b""
    assert sum(1 for line in lines if line and not _is_json(line)) == 1


def _is_json(line):
    try:
        json.loads(line)
    except ValueError:
        return False
    return True


def test_the_file_is_bounded_and_the_newest_one_can_be_read_alone(file):
    keeper = keeper_of(file, largest=6000)
    keeper.see("Workload", versioned(workload("train-3", WAITING), 1))
    for number in range(2, 80):
        keeper.see("Job", versioned(job(suspend=number % 2 == 0), number))
    assert {path.name for path in file.parent.glob("history*")} == {
        "history.jsonl",
        "history.1.jsonl",
    }
    assert file.stat().st_size < 8000
    assert before(file).stat().st_size < 8000
    before(file).unlink()
    history = History(file)
    assert history.of("Workload", uid="uid-w-train-3")[0].what == "known"
    assert history.of("Job", name="train-1")[-1].version == 79
    after = Keeper(Journal(file, LIFE))
    after.begin(0.0)
    assert after.version("Job", "team-a") == "79"


def test_another_life_of_the_cluster_begins_another_history(file):
    keeper_of(file).see("Job", versioned(job(), 5))
    (file.parent / "cluster.id").write_text("two")
    assert History(file).changes == ()
    keeper = Keeper(Journal(file, "two"))
    keeper.begin(0.0)
    assert keeper.version("Job", "team-a") == ""
    aside = file.with_name("history-one.jsonl")
    assert [e["name"] for e in read_entries(aside, "one") if "kind" in e] == ["train-1"]


def test_a_list_after_a_gap_tells_what_went_unseen(file):
    keeper = keeper_of(file)
    for name, version in (("train-1", 5), ("train-2", 6)):
        keeper.see("Job", versioned(job(name), version))
    now = [versioned(job("train-2", suspend=False), 9), versioned(job("train-3"), 8)]
    keeper.relist("Job", "team-a", now, Late(1_800_000_000.0))
    late = History(file).changes[2:]
    assert [(c.what, c.name, c.version, c.is_late) for c in late] == [
        ("deleted", "train-1", 0, True),
        ("modified", "train-2", 9, True),
        ("added", "train-3", 8, True),
    ]
    assert {c.after for c in late} == {"2027-01-15T08:00:00.000Z"}


def test_what_could_not_be_written_is_written_later(file, monkeypatch):
    keeper = keeper_of(file)
    true_write = os.write
    monkeypatch.setattr(os, "write", lambda handle, data: true_write(handle, data[:7]))
    with pytest.raises(OSError, match="space"):
        keeper.see("Job", versioned(job(), 5))
    monkeypatch.undo()
    assert story(file) == []
    keeper.see("Job", versioned(job(), 5))
    assert story(file) == [("added", "train-1", 5, False)]
    assert all(_is_json(line) for line in file.read_bytes().splitlines())


@contextmanager
def following(kubeconfig, file, contact=0.0):
    keeper, stop, said = keeper_of(file), threading.Event(), []
    follower = Follower(
        ApiStream(kubeconfig), keeper, JOB, "team-a", contact=contact, stop=stop, log=said.append
    )
    follower.start()
    try:
        yield follower
    finally:
        stop.set()


def await_story(file, wanted):
    def missing():
        return None if story(file) == wanted else say("{found}", found=story(file))

    wait_until(missing, within=8, every=0.02)


def await_live(follower):
    wait_until(lambda: None if follower.is_live else say("not live"), within=5, every=0.02)


def test_it_lists_then_watches(api, file):
    fake, kubeconfig = api
    fake.put("ADDED", "a", suspend=True)
    with following(kubeconfig, file) as follower:
        await_live(follower)
        fake.put("MODIFIED", "a", suspend=False)
        fake.put("DELETED", "a", suspend=False)
        await_story(
            file,
            [
                ("added", "job-a", 101, True),
                ("modified", "job-a", 102, False),
                ("deleted", "job-a", 103, False),
            ],
        )
        fake.end_watches()
    assert "watch=true" in fake.asked[1]


@pytest.mark.parametrize("torn", [False, True])
def test_a_watch_that_ends_is_taken_up_where_it_ended(api, file, torn):
    fake, kubeconfig = api
    fake.torn = torn
    with following(kubeconfig, file) as follower:
        await_live(follower)
        fake.put("ADDED", "a", suspend=True)
        await_story(file, [("added", "job-a", 101, False)])
        fake.refuse = [503] if torn else []
        fake.end_watches()
        fake.put("MODIFIED", "a", suspend=False)
        wait_until(lambda: None if len(story(file)) == 2 else say("-"), within=8, every=0.02)
        fake.end_watches()
    assert story(file)[1][:3] == ("modified", "job-a", 102)
    assert any("resourceVersion=101" in path for path in fake.asked)


@pytest.mark.parametrize("status", [403, 429, 500])
def test_a_server_that_still_starts_does_not_make_it_forget(api, file, status):
    fake, kubeconfig = api
    with following(kubeconfig, file) as follower:
        await_live(follower)
        fake.put("ADDED", "a", suspend=True)
        await_story(file, [("added", "job-a", 101, False)])
        fake.refuse = [status] * 2
        fake.end_watches()
        wait_until(lambda: None if not fake.refuse else say("-"), within=8, every=0.02)
        await_live(follower)
        fake.end_watches()
    assert story(file) == [("added", "job-a", 101, False)]
    assert not any(path.endswith("jobs") for path in fake.asked[1:])


def test_after_410_the_list_tells_the_difference(api, file):
    fake, kubeconfig = api
    fake.put("ADDED", "a", suspend=True)
    fake.put("ADDED", "b", suspend=True)
    keeper = keeper_of(file)
    for item in fake.listed()["items"]:
        keeper.see("Job", item)
    fake.put("DELETED", "a", suspend=True)
    fake.put("MODIFIED", "b", suspend=False)
    fake.oldest = fake.version
    with following(kubeconfig, file, contact=1_800_000_000.0):
        await_story(
            file,
            [
                ("added", "job-a", 101, False),
                ("added", "job-b", 102, False),
                ("deleted", "job-a", 0, True),
                ("modified", "job-b", 104, True),
            ],
        )
        fake.end_watches()


def test_after_a_restart_the_steps_between_are_still_told(api, file):
    fake, kubeconfig = api
    fake.put("ADDED", "a", suspend=True)
    keeper_of(file).see("Job", fake.items["a"])
    fake.put("MODIFIED", "a", suspend=False)
    fake.put("DELETED", "a", suspend=False)
    with following(kubeconfig, file, contact=1_800_000_000.0) as follower:
        await_story(
            file,
            [
                ("added", "job-a", 101, False),
                ("modified", "job-a", 102, True),
                ("deleted", "job-a", 103, True),
            ],
        )
        await_live(follower)
        fake.put("ADDED", "b", suspend=True)
        wait_until(lambda: None if len(story(file)) == 4 else say("-"), within=8, every=0.02)
        fake.end_watches()
    assert story(file)[-1] == ("added", "job-b", 104, False)


def test_a_cluster_that_went_back_in_time_is_listed_anew(api, file):
    fake, kubeconfig = api
    fake.put("ADDED", "a", suspend=True)
    keeper_of(file).see("Job", versioned(job("gone"), 999))
    with following(kubeconfig, file):
        await_story(
            file,
            [
                ("added", "gone", 999, False),
                ("deleted", "gone", 0, True),
                ("added", "job-a", 101, True),
            ],
        )
        fake.end_watches()


def test_a_server_that_is_not_there_is_a_lost_stream(tmp_path):
    with pytest.raises(StreamLost, match="kubeconfig"):
        ApiStream(tmp_path / "none").get("/api")
    with serving(FakeApi(), tmp_path) as kubeconfig:
        pass
    with pytest.raises(StreamLost, match="refused"):
        ApiStream(kubeconfig).get("/api")


def test_admission_is_told_by_conditions(file):
    keeper = keeper_of(file)
    keeper.see("Workload", versioned(workload("train-3", WAITING), 3))
    keeper.see("Workload", versioned(workload("train-3", ADMITTED), 4))
    first, second = History(file).of("Workload")
    assert (first.holds_quota, second.holds_quota) == (False, True)
    assert first.condition("QuotaReserved").reason == "WaitingForQuota"
