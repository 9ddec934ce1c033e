"""The picture: drawn from what a real cluster answered in every state of the lab."""

import copy
import json
from pathlib import Path

import pytest

from checks.live import Painter
from checks.painting import MOST_SLOTS, seat
from checks.picture import Seen
from checks.reasons.line import order_of
from checks.watching import (
    read_cluster_queue,
    read_local_queue,
    read_node,
    read_pod,
    read_workload,
)
from tests.unit.checks.conftest import LONG_AGO, condition, workload

GOLDEN = Path(__file__).parents[2] / "golden" / "picture"
GPU = "nvidia.com/gpu"


def recorded(name):
    return json.loads((GOLDEN / f"{name}.json").read_text())


def seen(found):
    return Seen(
        cluster_queues=tuple(map(read_cluster_queue, found["ClusterQueue"])),
        local_queues=tuple(map(read_local_queue, found["LocalQueue"])),
        workloads=tuple(map(read_workload, found["Workload"])),
        pods=tuple(map(read_pod, found["Pod"])),
        nodes=tuple(map(read_node, found["Node"])),
    )


def painter():
    return Painter(GPU)


def drawn(name):
    return painter().draw(seen(recorded(name)))


def gpus(picture):
    return [slot.job for slot in picture.nodes[0].slots]


def test_an_empty_cluster_has_four_free_gpus_and_no_queue():
    picture = drawn("empty")
    assert (picture.queues, picture.unqueued, picture.unplaced) == ((), (), ())
    assert [node.name for node in picture.nodes] == ["gpu-node-0"]
    assert gpus(picture) == [None] * 4


def test_a_queue_without_jobs_shows_its_quota():
    (queue,) = drawn("queues").queues
    assert (queue.name, queue.is_active, queue.reason) == ("team-a", True, "")
    assert {(r.name, r.nominal, r.reserved) for r in queue.resources} == {
        ("cpu", "2", "0"),
        ("memory", "2Gi", "0"),
        (GPU, "2", "0"),
    }


def test_an_admitted_job_is_in_the_ledger_and_on_a_gpu():
    picture = drawn("step_4")
    (held,) = picture.queues[0].holding
    assert (held.job, held.state, held.amounts[GPU]) == ("train-1", "admitted", "1")
    assert held.since.endswith("Z")
    slot = picture.nodes[0].slots[0]
    assert (slot.job, slot.in_ledger, slot.phase) == ("train-1", True, "Running")
    assert slot.pod.startswith("train-1-")


def test_the_one_that_waits_says_why_in_its_own_words():
    picture = drawn("step_5")
    queue = picture.queues[0]
    assert [one.job for one in queue.holding] == ["train-1", "train-2"]
    (waits,) = queue.waiting
    assert (waits.job, waits.position, waits.reason) == ("train-3", 1, "WaitingForQuota")
    assert "insufficient unused quota for nvidia.com/gpu" in waits.message
    assert gpus(picture) == ["train-1", "train-2", None, None]


def test_sneaky_is_on_a_gpu_and_not_in_the_ledger():
    picture = drawn("step_6")
    slots = picture.nodes[0].slots
    assert [(s.job, s.in_ledger) for s in slots] == [
        ("train-1", True),
        ("train-2", True),
        ("sneaky", False),
        (None, False),
    ]
    reserved = {r.name: r.reserved for r in picture.queues[0].resources}
    assert reserved[GPU] == "2"
    assert "sneaky" not in {one.job for one in picture.queues[0].holding}


def test_who_stays_keeps_its_gpu_and_the_next_takes_the_lowest_free():
    one = painter()
    assert gpus(one.draw(seen(recorded("step_6")))) == ["train-1", "train-2", "sneaky", None]
    assert gpus(one.draw(seen(recorded("step_8")))) == ["train-3", "train-2", "sneaky", None]
    # Seen for the first time, they sit in the order in which they were placed.
    assert gpus(drawn("step_8")) == ["train-2", "sneaky", "train-3", None]


def test_the_line_stands_in_the_order_of_kueue():
    """Priority first, then age, then uid: plain-a and plain-b were made in the same second."""
    queue = next(q for q in drawn("mixed").queues if q.name == "team-a")
    assert [(one.position, one.job) for one in queue.waiting] == [
        (1, "urgent"),
        (2, "plain-b"),
        (3, "plain-a"),
    ]
    assert [one.reason for one in queue.waiting] == ["WaitingForQuota", "WaitingForQuota", ""]
    assert str(queue.waiting[2].message).startswith("Kueue says nothing about it; of plain-b,")


def test_reserved_and_admitted_are_two_states():
    queues = {queue.name: queue for queue in drawn("mixed").queues}
    assert [(h.job, h.state) for h in queues["team-b"].holding] == [("held", "reserved")]
    assert [(h.job, h.state) for h in queues["team-a"].holding] == [
        ("train-1", "admitted"),
        ("far", "admitted"),
    ]


def test_one_that_has_finished_holds_nothing_though_admitted_stays_true():
    picture = drawn("mixed")
    raw = next(
        w for w in recorded("mixed")["Workload"] if w["metadata"]["name"].startswith("job-s")
    )
    assert read_workload(raw).is_true("Admitted")
    told = [one.job for queue in picture.queues for one in (*queue.holding, *queue.waiting)]
    assert "short" not in told
    assert "short" not in {one.job for one in picture.unqueued}
    assert gpus(picture) == ["train-1", None, None, None]


def test_a_pod_that_fits_no_node_is_told_apart():
    (pod,) = drawn("mixed").unplaced
    assert (pod.job, pod.phase) == ("far", "Pending")
    assert "0/1 nodes are available" in pod.reason


def test_who_stands_in_no_line_says_why():
    strays = {one.job: (one.queue, one.reason) for one in drawn("mixed").unqueued}
    assert strays == {
        "lost": ("nowhere", "LocalQueue nowhere doesn't exist"),
        "retired": ("lq", "The workload is deactivated"),
    }


def test_a_queue_that_is_gone_leaves_its_workloads_without_a_line():
    found = recorded("step_5")
    found["LocalQueue"] = []
    picture = painter().draw(seen(found))
    assert [one.job for one in picture.queues[0].holding] == ["train-1", "train-2"]
    assert [one.job for one in picture.unqueued] == ["train-3"]
    found["ClusterQueue"] = []
    picture = painter().draw(seen(found))
    assert [one.job for one in picture.unqueued] == ["train-1", "train-2", "train-3"]


def test_a_queue_that_is_not_active_says_why():
    found = recorded("queues")
    found["ClusterQueue"][0]["status"]["conditions"] = [
        condition("Active", "False", "FlavorNotFound", "Can't admit: flavor fake-gpu is missing")
    ]
    (queue,) = painter().draw(seen(found)).queues
    assert (queue.is_active, queue.reason) == (False, "Can't admit: flavor fake-gpu is missing")


def test_a_pod_on_its_way_out_still_holds_its_gpu():
    found = recorded("step_4")
    found["Pod"][0]["metadata"]["deletionTimestamp"] = LONG_AGO
    slot = painter().draw(seen(found)).nodes[0].slots[0]
    assert (slot.job, slot.phase) == ("train-1", "Terminating")


def test_a_pod_of_two_gpus_sits_on_two():
    found = recorded("step_5")
    two = copy.deepcopy(found["Pod"][0])
    two["metadata"].update(name="wide", uid="uid-wide")
    for container in two["spec"]["containers"]:
        container["resources"] = {"limits": {GPU: "2"}, "requests": {GPU: "2"}}
    found["Pod"].append(two)
    names = [slot.pod for slot in painter().draw(seen(found)).nodes[0].slots]
    assert sorted(names).count("wide") == 2
    assert None not in names


def test_two_nodes_have_their_own_gpus():
    pods = [read_pod(raw) for raw in recorded("step_5")["Pod"]]
    raw = copy.deepcopy(recorded("step_5")["Pod"][0])
    raw["metadata"].update(name="x", uid="other")
    raw["spec"]["nodeName"] = "gpu-node-1"
    seats = seat([*pods, read_pod(raw)], dict.fromkeys([*(p.uid for p in pods), "other"], 1), {})
    assert sorted(seats.values()) == [(0,), (0,), (1,)]


def test_a_pod_that_names_a_node_may_ask_for_any_number_of_gpus():
    raw = copy.deepcopy(recorded("step_5")["Pod"][0])
    raw["spec"]["nodeName"] = "gpu-node-0"
    pod = read_pod(raw)
    assert seat([pod], {pod.uid: 10**18}, {}) == {pod.uid: tuple(range(MOST_SLOTS))}


@pytest.mark.parametrize(
    ("reason", "counts"),
    [("PodsReadyTimeout", True), ("AdmissionCheck", True), ("Preempted", False)],
)
def test_an_eviction_puts_some_at_the_end_of_the_line(reason, counts):
    later = "2027-01-15T07:30:00Z"
    evicted = read_workload(
        workload("a", [condition("Evicted", "True", reason, since=later)], created=LONG_AGO)
    )
    assert order_of(evicted)[1] == (later if counts else LONG_AGO)


def test_equal_objects_make_equal_pictures():
    one, found = painter(), recorded("mixed")
    first = one.draw(seen(found))
    for kind in found:
        found[kind].reverse()
    assert one.draw(seen(found)) == first


def test_pods_of_a_training_belong_to_its_workload_through_jobset_and_job():
    picture = drawn("preempted")
    slots = picture.nodes[0].slots
    assert [(slot.job, slot.in_ledger) for slot in slots] == [("finetune-01", True)] * 4
    (held,) = picture.queues[0].holding
    assert (held.job, held.priority_class, held.priority) == ("finetune-01", "high", 1000)


def test_who_had_to_leave_says_for_whom_and_with_which_priority_it_waits():
    waiting = {one.job: one for one in drawn("preempted").queues[0].waiting}
    evicted = waiting["pretrain-01"]
    assert (evicted.priority_class, evicted.priority) == ("low", 100)
    assert str(evicted.evicted) == "Preempted: it had to make room for finetune-01"
    assert evicted.reason == "WaitingForQuota"
    assert waiting["finetune-02"].evicted == ""
    assert evicted.position > waiting["finetune-02"].position


def test_who_had_to_leave_for_one_that_is_gone_says_it_in_kueues_words():
    found = recorded("preempted")
    found["Workload"] = [w for w in found["Workload"] if "finetune-01" not in w["metadata"]["name"]]
    picture = painter().draw(seen(found))
    (evicted,) = [one for one in picture.queues[0].waiting if one.job == "pretrain-01"]
    assert str(evicted.evicted).startswith("Preempted: Preempted to accommodate a workload (UID:")
    assert not any(slot.in_ledger for slot in picture.nodes[0].slots)
    assert {slot.job for slot in picture.nodes[0].slots} == {"finetune-01"}


def test_a_gated_pod_waits_and_is_no_error():
    found = recorded("preempted")
    pod = next(one for one in found["Pod"] if one["metadata"]["namespace"] == "team-b")
    pod["spec"].pop("nodeName")
    pod["spec"]["schedulingGates"] = [{"name": "kueue.x-k8s.io/admission"}]
    blocked = condition("PodScheduled", "False", "SchedulingGated", "Scheduling is blocked")
    pod["status"] = {"phase": "Pending", "conditions": [blocked]}
    picture = painter().draw(seen(found))
    (gated,) = picture.unplaced
    assert (gated.phase, gated.reason) == ("SchedulingGated", "")
    assert pod["metadata"]["name"] not in {slot.pod for slot in picture.nodes[0].slots}


def test_each_pod_of_a_deployment_waits_in_the_line_and_on_no_node_under_one_name():
    picture = drawn("gated")
    (queue,) = picture.queues
    line = [one.job for one in queue.waiting]
    held = {one.job: one for one in picture.unplaced if one.job.startswith("web-x")}
    assert len(held) == 2
    assert set(held) < set(line)
    assert {one.phase for one in picture.unplaced} == {"SchedulingGated"}
    assert {one.reason for one in picture.unplaced} == {""}
    assert {one.job for one in picture.unqueued} == {"nolabel", "bare"}
    nobody_looks_at = [one.job for one in picture.unplaced if one.job not in line]
    assert "web-none" in nobody_looks_at


def test_where_use_decides_each_local_queue_has_a_line_of_its_own():
    found = recorded("preempted")
    waiting = [one.queue for one in drawn("preempted").queues[0].waiting]
    assert len(waiting) > 1
    for spelled, positions in (("", [1, 2]), ("UsageBasedAdmissionFairSharing", [1, 1])):
        for queue in found["ClusterQueue"]:
            queue["spec"]["admissionScope"] = {"admissionMode": spelled}
        local = copy.deepcopy(found["LocalQueue"][0])
        local["metadata"]["name"] = "another"
        moved = [w for w in found["Workload"] if "pretrain-01" in w["metadata"]["name"]]
        moved[0]["spec"]["queueName"] = "another"
        changed = found | {"LocalQueue": [*found["LocalQueue"], local]}
        queue = painter().draw(seen(changed)).queues[0]
        assert queue.is_by_use is bool(spelled)
        assert [one.position for one in queue.waiting] == positions
        assert {one.queue for one in queue.waiting} == {"another", waiting[0]}


def test_of_a_workload_without_a_queue_kueues_words_are_left_out():
    lost = workload("lost", [condition("QuotaReserved", "False", "Inadmissible", "LocalQueue  x")])
    for queue, reason in (("", ""), ("nowhere", "LocalQueue  x")):
        lost["spec"]["queueName"] = queue
        (stray,) = painter().draw(Seen(workloads=(read_workload(lost),))).unqueued
        assert stray.reason == reason
