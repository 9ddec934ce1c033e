"""What the second lab asks of the past: pods that waited, a mode, a class that was there once."""

import contextlib
import time

import pytest

from checks.gpu_preemption.held_pods import most_at_once, stands_of
from checks.gpu_preemption.judge_classes import require_noted, require_values
from checks.gpu_preemption.judge_gated import Gated, require_gate_noted
from checks.gpu_preemption.judge_mode import require_mode_from_start
from checks.gpu_preemption.judge_refused import require_class_gone
from checks.gpu_preemption.judge_waiting import require_high_holds
from checks.gpu_preemption.waiting_text import require_words
from checks.judging.words import Said
from checks.kit.expect import plain
from checks.outcome import CannotTell, Evidence, Mismatch
from checks.recording.facts import facts_of
from checks.scene import Scene
from checks.serving import read_deployment
from checks.things import Condition
from tests.unit.checks.conftest import LONG_AGO, ListedCluster, condition
from tests.unit.checks.test_manifests import text_file
from tests.unit.checks.test_preemption import history, workload
from tests.unit.checks.test_tenant_judges import changed, lab, manifest
from tests.unit.checks.test_yielding import HAS_QUOTA, HIGH, high_job

__all__ = ["lab"]  # a fixture

QUOTA = {"conditions": {"QuotaReserved": ["True", "QuotaReserved", LONG_AGO, ""]}}
SERVE = {"metadata": {"name": "serve", "namespace": "team-b", "uid": "d", "creationTimestamp": "1"}}


def scene(past=None, **lists):
    return Scene(ListedCluster(**lists), "team-b", "kueue.x-k8s.io/v1beta2", past)


def change(kind, name, uid, version, what="modified", **facts):
    about = {"kind": kind, "name": name, "uid": uid, "version": str(version), "created": "2"}
    return {**about, "change": what, "facts": facts}


def pod(name, version):
    return change("Pod", name, name, version, "added", owner="serve", gates=["g"])


def stood(name, version, what="modified", **facts):
    facts |= {"owner": name, "owner_uid": name}
    return change("Workload", f"w-{name}", f"w-{name}", version, what, **facts)


HIGH_HELD = (
    change("TrainJob", HIGH, "tj", 10),
    change("Workload", "wh", "wh", 11, owner=HIGH, owner_uid="tj", **QUOTA),
)
HIGH_GONE = (
    change("TrainJob", HIGH, "tj", 30, "deleted"),
    change("Workload", "wh", "wh", 35, "deleted", owner=HIGH, owner_uid="tj", **QUOTA),
)


@pytest.mark.parametrize(
    ("changes", "most"),
    [
        ([pod("a", 20), stood("a", 21), pod("b", 22), stood("b", 23), *HIGH_GONE], 2),
        ([pod("a", 20), stood("a", 21), *HIGH_GONE, pod("b", 40), stood("b", 41)], 1),
        ([*HIGH_GONE, pod("a", 31), stood("a", 32), pod("b", 33), stood("b", 34)], 0),
        (
            [pod("a", 20), stood("a", 21), stood("a", 22, "deleted"), pod("b", 23), stood("b", 24)],
            1,
        ),
        ([pod("a", 20), stood("a", 21), stood("a", 22, **QUOTA), pod("b", 23), stood("b", 24)], 1),
        ([pod("a", 20), stood("a", 21, **QUOTA)], 0),
        ([], 0),
    ],
    ids=["both", "one-came-later", "too-late", "replaced", "let-in", "at-once", "nothing"],
)
def test_how_many_pods_waited_behind_the_high_one(lab, tmp_path, changes, most):
    here = scene(history(tmp_path, *HIGH_HELD, *changes))
    assert most_at_once(stands_of(here, lab, read_deployment(SERVE))) == most


@pytest.mark.parametrize("gates", ["a", "b", "a,b", "a b", "a; b", "[a, 'b']"])
def test_gates_in_any_spelling(lab, gates):
    gated = Gated(("p", "q"), ("a", "b"), 3)
    for count in ("2", "3"):
        require_gate_noted(text_file(f"gate={gates}\npods={count}\n", "gated.txt"), lab, gated)
    for text in ("gate=\npods=2\n", "gate=c\npods=2\n", "gate=a c\npods=2\n", "gate=a\npods=4\n"):
        with pytest.raises(Mismatch):
            require_gate_noted(text_file(text, "gated.txt"), lab, gated)


QUEUE = manifest("tenant.yaml") | {"metadata": {"name": "team-b", "uid": "q"}}
BARE = changed(QUEUE, ("spec", "admissionScope"), None)
BARER = changed(BARE, ("spec", "preemption"), None)


def made_as(content, what="added", second=1, **more):
    facts = facts_of("ClusterQueue", content)
    return change("ClusterQueue", "team-b", "q", 5, what, **facts) | {"seen": at(second)} | more


def at(second):
    return f"2027-01-15T07:00:{second:02}Z"


def started(second):
    return {"event": "started", "seen": at(second)}


@pytest.mark.parametrize("first", [BARE, BARER])
@pytest.mark.parametrize("then", [[], [made_as(QUEUE, "modified", 3)]])
def test_a_mode_that_came_later_is_told(lab, tmp_path, first, then):
    here = scene(history(tmp_path, started(0), made_as(first), started(2), *then))
    with pytest.raises(Mismatch, match="added later") as told:
        require_mode_from_start(here, lab, QUEUE)
    assert "when a ClusterQueue is made" in str(told.value.finding.next_move)


BROUGHT = made_as(QUEUE, "modified", 3)
OF_OLD = made_as(BARE)
del OF_OLD["facts"]["mode"]


@pytest.mark.parametrize(
    "changes",
    [
        [],
        [made_as(QUEUE), made_as(BARE, "modified"), BROUGHT],
        [made_as(BARE, "known"), BROUGHT],
        [made_as(BARE, late=True), BROUGHT],
        [made_as(BARE, uid="before"), made_as(QUEUE)],
        [OF_OLD, BROUGHT],
        [made_as(BARE), BROUGHT, started(4)],
        [made_as(BARE), started(4), made_as(QUEUE, "modified", 5, late=True, after=at(3))],
    ],
    ids=["nothing", "had-it", "known", "late", "other", "of-old", "started-since", "unseen"],
)
def test_what_is_not_surely_a_later_mode_is_left(lab, tmp_path, changes):
    require_mode_from_start(scene(history(tmp_path, started(0), *changes)), lab, QUEUE)


def test_a_class_that_never_was_is_not_gone(lab, tmp_path):
    kind, name = lab.custom_class_kind.name, lab.urgent.name
    nothing = scene(history(tmp_path, change("Pod", "p", "p", 1)))
    with pytest.raises(Mismatch, match="neither now nor on record") as told:
        require_class_gone(nothing, lab, {})
    assert "step 2" in str(told.value.finding.next_move)
    with pytest.raises(CannotTell):
        require_class_gone(scene(), lab, {})
    require_class_gone(scene(), lab, {2: [Evidence(kind, name, "Ready=True", LONG_AGO)]})
    ready = {"conditions": {"Ready": ["True", "Ready", LONG_AGO, ""]}}
    require_class_gone(scene(history(tmp_path, change(kind, name, "c", 1, **ready))), lab, {})
    unready = change(kind, name, "c", 1, conditions={"Ready": ["False", "NameConflict", "", ""]})
    with pytest.raises(Mismatch):
        require_class_gone(scene(history(tmp_path, unready)), lab, {})


def classes(**values):
    return [{"metadata": {"name": name}, "value": value} for name, value in values.items()]


def test_the_platforms_classes_have_the_platforms_values(lab):
    file = text_file("{}", "classes.json")
    right = dict(lab.classes.values)
    require_values(scene(workloadpriorityclasses=classes(**right)), lab, file, right)
    edited = right | {"high": 30}
    with pytest.raises(Mismatch, match="30: it was changed"):
        require_values(scene(workloadpriorityclasses=classes(**edited)), lab, file, edited)


READY = Condition("Ready", "False", "NameConflict", "", LONG_AGO, 1)
ONE = '- {type: Ready, status: "False", reason: NameConflict}\n'
OTHER = '- {type: Ready, status: "True", reason: Ready}\n'


def described(name, status, reason):
    return f"Name:  {name}\nStatus:\n    Reason: {reason}\n    Status: {status}\n    Type: Ready\n"


def test_two_statements_about_one_class_are_no_answer(lab):
    both = described("team-b-urgent", "True", "Ready") + described(
        "team-b-batch", "False", "NameConflict"
    )
    for text in (ONE, ONE + ONE, both):
        require_noted(text_file(text, "conflict.txt"), lab, READY)
    for text in (ONE + OTHER, OTHER + ONE, OTHER):
        with pytest.raises(Mismatch):
            require_noted(text_file(text, "conflict.txt"), lab, READY)


@pytest.mark.parametrize(("priority", "is_equal"), [(1000, True), (1500, False)])
def test_the_one_that_holds_the_gpus_is_of_equal_priority(lab, priority, is_equal):
    rival = high_job()
    rival["metadata"] |= {"name": "finetune-02", "uid": "tj-finetune-02"}
    high = workload(HIGH, *HAS_QUOTA, held="4", priority=priority)
    waits = workload("finetune-02", condition("QuotaReserved", "False"), priority=1000)
    named = classes(high=1000)
    for workloads in ([high, waits], [high]):
        jobs = {"trainjobs": [high_job(), rival], "workloadpriorityclasses": named}
        here = scene(workloads=workloads, **jobs)
        if is_equal:
            assert require_high_holds(here, lab) is not None
            continue
        with pytest.raises(Mismatch, match="priority 1500") as told:
            require_high_holds(here, lab)
        assert "STEP=5" in str(told.value.finding.next_move)


SAID = (Said("ExceedsMaxQuota", "request > maximum capacity (5 > 4)"),)


@pytest.mark.parametrize(
    ("text", "is_right"),
    [
        ("ExceedsMaxQuota", True),
        ("WaitingForQuota\nExceedsMaxQuota\n", False),
        ("ExceedsMaxQuota WaitingForQuota", False),
        ("WaitingForQuota가 아니라 ExceedsMaxQuota입니다", True),
        ("finetune-02: WaitingForQuota\nrush-01: ExceedsMaxQuota\n", True),
        (f"WaitingForQuota와 달리 ExceedsMaxQuota이다.\n{SAID[0].message}\n", True),
        (f"WaitingForQuota\nExceedsMaxQuota: {SAID[0].message.replace('5', '6')}\n", False),
    ],
)
def test_the_two_reasons_are_told_apart(text, is_right):
    def judge():
        file = text_file(text, "ceiling.txt")
        require_words(file, SAID, "ExceedsMaxQuota", plain("it"), ["finetune-02"])

    if is_right:
        judge()
        return
    with pytest.raises(Mismatch, match=r"WaitingForQuota|\(6 > 4\)|tells 6"):
        judge()


@pytest.mark.parametrize(
    "text",
    ["ExceedsMaxQuota\n" + "1" * 250_000, "podset request (" * 15_000, "\n" * 60_000 + "name: a"],
    ids=["digits", "brackets", "lines"],
)
def test_no_note_takes_long(lab, text):
    began = time.process_time()
    for said in (SAID, (Said("WaitingForQuota", "nvidia.com/gpu, 4 more needed"),)):
        with contextlib.suppress(Mismatch):
            require_words(text_file(text, "ceiling.txt"), said, "", plain("it"))
    with contextlib.suppress(Mismatch):
        require_noted(text_file(ONE + text, "conflict.txt"), lab, READY)
    assert time.process_time() - began < 3.0
