"""When chance let in the later of two Jobs, a case is played again; nothing else is chance."""

import json

import pytest

from checks.history import History
from lab.casework.lots import handed_in, is_by_lot

SECOND = "2026-11-30T09:00:00Z"
CAME = {"uid-a": 10, "uid-b": 11}


def job(name):
    return {"kind": "Job", "metadata": {"name": name, "uid": f"uid-{name}"}}


def workload(
    owner, *, has_quota, created=SECOND, queue="lq", priority=0, active=True, gpus=1, count=1
):
    pod_set = {
        "count": count,
        "template": {"spec": {"containers": [{"resources": {"limits": {"gpu": gpus}}}]}},
    }
    return {
        "metadata": {
            "name": f"job-{owner}",
            "creationTimestamp": created,
            "ownerReferences": [{"uid": f"uid-{owner}"}],
        },
        "spec": {
            "queueName": queue,
            "priority": priority,
            "active": active,
            "podSets": [pod_set],
        },
        "status": {"conditions": [{"type": "QuotaReserved", "status": str(has_quota)}]},
    }


def state(*workloads):
    return {"Job": [job("a"), job("b")], "Workload": list(workloads)}


def test_the_later_of_two_equal_jobs_of_one_second_has_the_quota():
    there = state(workload("b", has_quota=True), workload("a", has_quota=False))
    assert is_by_lot(there, CAME)
    assert not is_by_lot(there, {"uid-a": 11, "uid-b": 10})


@pytest.mark.parametrize(
    "later",
    [
        {"created": "2026-11-30T09:00:01Z"},
        {"queue": "other"},
        {"priority": 5},
        {"active": False},
        {"gpus": 2},
        {"count": 2},
    ],
)
def test_what_kueue_goes_by_before_the_uid_is_no_chance(later):
    there = state(workload("a", has_quota=False), workload("b", has_quota=True, **later))
    assert not is_by_lot(there, CAME)


def test_both_in_or_both_waiting_is_no_chance():
    for has_quota in (True, False):
        both = [workload(name, has_quota=has_quota) for name in "ab"]
        assert not is_by_lot(state(*both), CAME)


def test_without_the_order_in_which_they_came_nothing_is_chance():
    there = state(workload("a", has_quota=False), workload("b", has_quota=True))
    assert not is_by_lot(there, {})
    assert not is_by_lot(there, {"uid-a": 10})


def test_when_a_job_came_is_read_from_the_recorder(tmp_path):
    file = tmp_path / "history.jsonl"
    lines = [
        {"schema": 1, "life": ""},
        {"change": "added", "kind": "Job", "name": "a", "uid": "1", "version": "7"},
        {"change": "modified", "kind": "Job", "name": "a", "uid": "1", "version": "9"},
        {"change": "added", "kind": "Job", "name": "b", "uid": "2", "version": "8", "late": True},
        {"change": "added", "kind": "Pod", "name": "c", "uid": "3", "version": "6"},
    ]
    spelled = (json.dumps(line, separators=(",", ":")) for line in lines)
    file.write_text("\n".join(spelled) + "\n")
    assert handed_in(History(file)) == {"1": 7}
    assert handed_in(History(file), but={"1"}) == {}
    assert handed_in(History(None)) == {}
