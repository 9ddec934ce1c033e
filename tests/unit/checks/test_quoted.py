"""Conditions quoted from kubectl, in all the forms in which it prints them."""

import json

import pytest

from checks.judging.quoted import Quoted, quoted_conditions

EVICTED = Quoted("Evicted", "True", "Preempted", "Preempted to accommodate a workload (UID: 1-2)")
WAITS = Quoted("QuotaReserved", "False", "WaitingForQuota", "4 more needed")


def raw(one):
    fields = {"lastTransitionTime": "2026-11-30T16:13:38Z", "message": one.message}
    return {**fields, "reason": one.reason, "status": one.status, "type": one.type}


DESCRIBED = """\
Name:         trainjob-pretrain-01-b4d88
Status:
  Conditions:
    Last Transition Time:  2026-11-30T16:13:40Z
    Message:               4 more needed
    Observed Generation:   1
    Reason:                WaitingForQuota
    Status:                False
    Type:                  QuotaReserved
    Last Transition Time:  2026-11-30T16:13:38Z
    Message:               Preempted to accommodate a workload (UID: 1-2)
    Reason:                Preempted
    Status:                True
    Type:                  Evicted
  Scheduling Stats:
    Evictions:
      Count:             1
      Reason:            Preempted
      Underlying Cause:
Events:
  Type    Reason         Age   From             Message
  ----    ------         ----  ----             -------
  Normal  QuotaReserved  22s   kueue-admission  Quota reserved in ClusterQueue team-b
"""
FOLDED = """\
  - lastTransitionTime: "2026-11-30T16:13:40Z"
    message: 4 more needed
    reason: WaitingForQuota
    status: "False"
    type: QuotaReserved
    - lastTransitionTime: "2026-11-30T16:13:38Z"
    message: 'Preempted to accommodate a workload
      (UID: 1-2)'
    reason: Preempted
    status: "True"
    type: Evicted
"""


@pytest.mark.parametrize(
    "text",
    [
        json.dumps([raw(WAITS), raw(EVICTED)]),
        json.dumps({"kind": "Workload", "status": {"conditions": [raw(WAITS), raw(EVICTED)]}}),
        DESCRIBED,
        FOLDED,
    ],
    ids=["jsonpath", "object", "describe", "yaml-out-of-step"],
)
def test_both_conditions_are_found(text):
    assert quoted_conditions(text) == (WAITS, EVICTED)


def test_a_block_that_begins_with_its_type():
    text = "type: A\nreason: One\ntype: B\nreason: Two\n"
    assert quoted_conditions(text) == (Quoted("A", "", "One"), Quoted("B", "", "Two"))


@pytest.mark.parametrize(
    "text",
    [
        "",
        "evicted=Preempted\npreempted=InClusterQueue\n",
        "Evicted is True, and its reason is Preempted.",
        "type: Evicted\n",
        "ready: False\nreason: NameConflict\n",
        "{" * 5000,
        "- &a [*a, *a]\n",
        "\x00\x01type: \x02",
    ],
)
def test_what_quotes_no_condition(text):
    assert quoted_conditions(text) == ()
