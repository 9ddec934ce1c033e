"""The recorder on a real place: what it saw is what happened, whatever was killed meanwhile."""

from __future__ import annotations

import json
import os
import signal
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from provision.local.supervising import Supervisor, socket_path
from provision.message import Message, say
from provision.waiting import wait_until
from tests.integration.cli import Lab
from tests.schemas import validate

pytestmark = [pytest.mark.integration, pytest.mark.timeout(300, func_only=True)]
BACK_WITHIN = 20.0


def home_of(lab: Lab) -> Path:
    return Path(lab.status()["home"])


def await_ready(lab: Lab, name: str, old: int) -> None:
    def missing() -> Message | None:
        found = lab.component(name)
        is_back = found["ready"] and found["pid"] != old
        return None if is_back else say("{name}: {found}", name=name, found=found)

    wait_until(missing, within=BACK_WITHIN)


def kill(lab: Lab, name: str) -> None:
    """kill -9, and wait until the component is back."""
    old = lab.component(name)["pid"]
    os.kill(old, signal.SIGKILL)
    await_ready(lab, name, old)


@contextmanager
def without_recorder(lab: Lab) -> Iterator[None]:
    """The recorder stopped for good, until the end of the block."""
    home = home_of(lab)
    supervisor = Supervisor(home, socket_path(home, Path("/tmp")))
    supervisor.stop("recorder")
    try:
        yield
    finally:
        supervisor.start("recorder")
        await_ready(lab, "recorder", 0)


@contextmanager
def without_credit(lab: Lab) -> Iterator[None]:
    """As if no step had ever been graded."""
    aside = lab.progress.with_name("aside.jsonl")
    lab.progress.rename(aside)
    try:
        yield
    finally:
        lab.progress.unlink(missing_ok=True)
        aside.rename(lab.progress)


def moments(lab: Lab) -> list[dict]:
    data = lab.done("history", "--json").json()
    validate("history", data)
    return list(data["moments"])


def await_moment(lab: Lab, word: str, name: str) -> None:
    def missing() -> Message | None:
        found = [(m["word"], m["name"]) for m in moments(lab)]
        return None if (word, name) in found else say("{found}", found=found)

    wait_until(missing, within=BACK_WITHIN)


def order_of(lab: Lab) -> list[tuple[str, str]]:
    """The lab's story without pods, which run when they run."""
    words = ("made", "submitted", "waits", "admitted", "deleted")
    return [(m["word"], m["name"]) for m in moments(lab) if m["word"] in words]


STORY = [
    ("made", "fake-gpu"),
    ("made", "team-a"),
    ("made", "lq"),
    ("submitted", "train-1"),
    ("admitted", "train-1"),
    ("submitted", "train-2"),
    ("admitted", "train-2"),
    ("submitted", "train-3"),
    ("waits", "train-3"),
    ("submitted", "sneaky"),
    ("deleted", "train-1"),
    ("admitted", "train-3"),
]


def objects_of(lab: Lab) -> dict[str, str]:
    """Names and uids of what the lab has now, by kind."""
    out = lab.shell(
        "kubectl get jobs,pods,workloads.kueue.x-k8s.io,localqueues,clusterqueues,resourceflavors "
        "-A -o jsonpath='{range .items[*]}{.metadata.uid} {.kind}{\"\\n\"}{end}'"
    )
    return dict(line.split() for line in out.splitlines())


def recorded_of(lab: Lab) -> dict[str, str]:
    """The same from the history: whatever was seen and not seen to go."""
    known: dict[str, str] = {}
    for line in (home_of(lab) / "history.jsonl").read_text().splitlines():
        entry = json.loads(line)
        if "kind" not in entry:
            continue
        if entry["change"] == "deleted":
            known.pop(entry["uid"], None)
        else:
            known[entry["uid"]] = entry["kind"]
    return known


def assert_same_objects(lab: Lab) -> None:
    def missing() -> Message | None:
        there, known = objects_of(lab), recorded_of(lab)
        return None if there == known else say("{a} but {b}", a=there, b=known)

    wait_until(missing, within=BACK_WITHIN)


@pytest.mark.full
def test_the_history_is_what_happened_whatever_was_killed(untouched: Lab) -> None:
    lab = untouched
    for number in (1, 2, 3):
        lab.done("solve", str(number), "--yes")
    kill(lab, "recorder")
    lab.done("solve", "4", "--yes")
    with without_recorder(lab):
        lab.done("solve", "5", "--yes")
    await_moment(lab, "waits", "train-3")
    kill(lab, "kube-apiserver")
    for number in (6, 7):
        lab.done("solve", str(number), "--yes")
    kill(lab, "etcd")
    await_ready(lab, "recorder", 0)
    lab.done("solve", "8", "--yes")
    await_moment(lab, "admitted", "train-3")
    assert [step for step in order_of(lab) if step in STORY] == STORY
    assert_same_objects(lab)
    with without_credit(lab):
        for step in (7, 8):
            one = lab.check(step)["steps"][0]
            assert one["verdict"] == "PASS", json.dumps(one, indent=1)
    assert lab.run("check", "all").code == 0


def test_step_8_names_what_made_room(solved: Lab) -> None:
    step = solved.check(8)["steps"][0]
    proof = {c["id"]: c["evidence"] for c in step["checks"]}
    data = proof["admitted"][0]["data"]
    assert data["rests_on"] == "the recorder's history"
    assert data["freed_by"].startswith("deletion of Job train-1, uid ")
    assert data["waited_since"] <= data["quota_freed"]
    assert proof["first_gone"][0]["fact"] == "deleted"
    assert proof["first_gone"][0]["uid"] in data["freed_by"]


def test_without_the_recorder_verdicts_stand_and_say_what_they_rest_on(solved: Lab) -> None:
    history, aside = home_of(solved) / "history.jsonl", home_of(solved) / "history.aside"
    with without_recorder(solved):
        status = solved.run("status", "--json")
        assert status.code == 0, status
        assert not solved.component("recorder")["running"]
        assert solved.run("check", "all").code == 0
        assert "does not see" in solved.done("history").out
        history.rename(aside)
        try:
            with without_credit(solved):
                seven, eight = solved.check(7)["steps"][0], solved.check(8)["steps"][0]
                five = solved.check(5)["steps"][0]
        finally:
            aside.rename(history)
    assert (seven["verdict"], eight["verdict"]) == ("PASS", "PASS"), (seven, eight)
    assert any("recorder did not see" in remark for remark in eight["remarks"]), eight
    assert five["verdict"] == "NOT YET"
    assert "make reset" in five["cause"]


def test_a_reset_begins_another_history_and_keeps_the_old_one(solved: Lab) -> None:
    home = home_of(solved)
    old = recorded_of(solved)
    solved.done("reset", "--yes")
    assert order_of(solved) == []
    kept = sorted((home / "saved").glob("*-reset/history-*.jsonl"))
    assert kept
    assert any(uid in kept[-1].read_text() for uid in old)
    assert not list(home.glob("history-*.jsonl"))


@pytest.mark.full
def test_room_from_a_raised_quota_is_no_handover(untouched: Lab) -> None:
    lab = untouched
    for number in (1, 2, 3, 4, 5):
        lab.done("solve", str(number), "--yes")
    raised = r"""sed 's/\(nominalQuota: *"\{0,1\}\)2\("\{0,1\} *\)$/\13\2/' cq.yaml"""
    lab.shell(f"{raised} | kubectl apply -f -")
    lab.shell("kubectl -n team-a wait --for=jsonpath='{.status.ready}'=1 job/train-3 --timeout=20s")
    lab.shell("kubectl apply -f cq.yaml && kubectl -n team-a delete job train-1")
    await_moment(lab, "deleted", "train-1")
    step = lab.check(8)["steps"][0]
    assert step["verdict"] == "NOT YET", step
    failed = next(check for check in step["checks"] if check["outcome"] == "failed")
    assert failed["id"] == "admitted"
    assert "train-1 held its quota" in failed["finding"]["found"]
