"""The story: which changes are told, in which words, and how it looks on a terminal."""

from dataclasses import replace
from datetime import UTC, datetime

import pytest

from checks.history import History
from checks.journal import Journal
from checks.kit.following import Late
from checks.recording.keeper import Keeper
from lab.commands.telling import draw_story
from lab.console import open_console
from lab.story import tell_story
from lab.text import Speech, width
from tests.unit.checks.conftest import (
    ADMITTED,
    WAITING,
    cluster_queue,
    condition,
    flavor,
    job,
    local_queue,
    workload,
)

START = datetime(2027, 1, 15, 8, 0, tzinfo=UTC).timestamp()


@pytest.fixture
def record(tmp_path):
    (tmp_path / "cluster.id").write_text("life")
    file = tmp_path / "history.jsonl"
    clock = [START]

    def tick():
        clock[0] += 1
        return clock[0]

    keeper = Keeper(Journal(file, "life"), now=tick)
    keeper.begin(0.0)

    def see(kind, raw, **how):
        raw = {**raw, "metadata": {"uid": f"uid-{raw['metadata']['name']}", **raw["metadata"]}}
        keeper.see(kind, raw, **how)
        return [f"{m.name}: {m.what}" for m in tell_story(History(file))]

    see.file, see.keeper = file, keeper
    return see


def test_the_lab_as_it_should_go(record):
    record("ResourceFlavor", flavor())
    record("ClusterQueue", cluster_queue())
    record("LocalQueue", local_queue())
    record("Job", job("train-1"))
    record("Workload", workload("train-1", ADMITTED))
    record("Job", job("train-3"))
    record("Workload", workload("train-3", WAITING))
    record("Job", job("sneaky", labels={"a": "b"}, suspend=False))
    record("Job", job("train-1", suspend=False), is_gone=True)
    record("Workload", workload("train-1", ADMITTED), is_gone=True)
    later = tuple({**c, "lastTransitionTime": "2027-01-15T07:00:42Z"} for c in ADMITTED)
    lines = record("Workload", workload("train-3", later))
    assert lines[0] == ": the recorder begins"
    assert lines[1] == "fake-gpu: ResourceFlavor made: nvidia.com/gpu.present=true"
    assert lines[2] == "team-a: ClusterQueue made: cpu 2, memory 2Gi, nvidia.com/gpu 2"
    assert lines[3:6] == [
        "lq: LocalQueue made, leads to ClusterQueue team-a",
        "train-1: Job submitted to the queue lq",
        "train-1: admitted by ClusterQueue team-a",
    ]
    assert lines[7].startswith("train-3: waits: WaitingForQuota: couldn't assign")
    assert lines[8:] == [
        "sneaky: Job submitted without a queue label, past Kueue",
        "train-1: Job deleted",
        "train-3: admitted by ClusterQueue team-a after 42 s in line",
    ]


def test_what_goes_otherwise_is_told(record):
    record("ClusterQueue", cluster_queue())
    record("ClusterQueue", cluster_queue(stopPolicy="Hold"))
    inactive = cluster_queue()
    inactive["status"]["conditions"] = [condition("Active", "False", "FlavorNotFound", "no x")]
    record("ClusterQueue", inactive)
    record("Job", job("train-1"))
    record("Job", job("train-1", labels={"a": "b"}))
    record("Job", job("train-1", labels={"a": "b"}, suspend=False))
    failed = [condition("Failed", "True", "BackoffLimitExceeded")]
    record("Job", job("train-1", labels={"a": "b"}, suspend=False, conditions=failed))
    record("Workload", workload("train-2", WAITING, active=False))
    lines = record("Workload", workload("train-2", WAITING, active=False), is_gone=True)
    told = " | ".join(lines)
    for words in (
        "stopped: stopPolicy Hold",
        "open again",
        "not Active: FlavorNotFound: no x",
        "queue label of the Job is now -",
        "Job resumed by hand",
        "Job ended: Failed",
        "spec.active is false",
        "its Workload job-train-2-abcde is deleted",
    ):
        assert words in told, words


def test_pods_are_told_by_what_happens_to_them(record):
    def pod(phase, **status):
        meta = {
            "name": "train-1-x",
            "namespace": "team-a",
            "ownerReferences": [{"uid": "uid-train-1", "name": "train-1", "controller": True}],
            "labels": {"batch.kubernetes.io/job-name": "train-1"},
        }
        return {"metadata": meta, "spec": {"nodeName": "n"}, "status": {"phase": phase, **status}}

    unplaced = [condition("PodScheduled", "False", "Unschedulable", "0/1 nodes")]
    record("Pod", pod("Pending", conditions=unplaced))
    record("Pod", pod("Running"))
    crash = [{"state": {"waiting": {"reason": "CrashLoopBackOff"}}}]
    record("Pod", pod("Running", containerStatuses=crash))
    lines = record("Pod", pod("Running"), is_gone=True)
    assert lines[1:] == [
        "train-1: its pod is not placed: 0/1 nodes",
        "train-1: its pod train-1-x runs on n",
        "train-1: its pod train-1-x is in CrashLoopBackOff",
        "train-1: its pod train-1-x is gone",
    ]


def test_late_lines_are_marked_and_take_the_api_s_time_where_there_is_one(record):
    record("Job", job("train-1"), late=Late(START))
    record("Job", job("train-1"), is_gone=True, late=Late(START))
    moments = [m for m in tell_story(History(record.file)) if m.kind]
    assert [(m.word, m.is_late) for m in moments] == [("submitted", False), ("deleted", True)]
    assert moments[0].time == job()["metadata"]["creationTimestamp"]


def test_an_absence_of_the_recorder_is_told(record):
    record.keeper.begin(START + 1)
    assert len(tell_story(History(record.file))) == 1
    Keeper(Journal(record.file, "life"), now=lambda: START + 100).begin(START + 40)
    assert "60 s" in str(tell_story(History(record.file))[-1].what)


@pytest.mark.parametrize("columns", [40, 60, 80])
@pytest.mark.parametrize("language", ["en", "ko"])
def test_lines_fit_the_terminal_and_nothing_is_cut(record, language, columns):
    record("Workload", workload("train-3", WAITING))
    record("Job", job("a-name-that-is-longer-than-anybody-would-want-to-read-in-a-column"))
    console = replace(open_console({}, Speech(language)), columns=columns)
    lines = draw_story(console, tell_story(History(record.file)))
    assert lines[0].startswith("2027-")
    assert sum(line[2:3] == ":" for line in lines) == 3
    assert all(width(line) <= columns for line in lines)
    told = " ".join(" ".join(lines).split())
    message = WAITING[0]["message"]
    assert " ".join(message.split()) in told
