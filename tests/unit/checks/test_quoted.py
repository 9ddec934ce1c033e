"""Conditions quoted from kubectl, in all the forms in which it prints them."""

import json
import time

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


COMMAND = "$ kubectl -n team-b get workloads.kueue.x-k8s.io one -o yaml\n"


@pytest.mark.parametrize(
    "text",
    [
        json.dumps([raw(WAITS), raw(EVICTED)]),
        f"{json.dumps(raw(WAITS))}\n{json.dumps(raw(EVICTED))}\n",
        f"Both:\n{json.dumps(raw(WAITS), indent=1)}\nand {{it}}\n{json.dumps(raw(EVICTED))}",
        json.dumps({"kind": "Workload", "status": {"conditions": [raw(WAITS), raw(EVICTED)]}}),
        DESCRIBED,
        FOLDED,
    ],
    ids=["jsonpath", "one-by-one", "with-words", "object", "describe", "yaml-out-of-step"],
)
def test_both_conditions_are_found(text):
    assert quoted_conditions(text) == (WAITS, EVICTED)


@pytest.mark.parametrize("above", [COMMAND, "\uc870\uac74 \ub450 \uac1c:\n"])
def test_a_folded_message_is_whole_though_a_line_of_it_looks_like_a_field(above):
    message = "Preempted to accommodate a workload (UID: 1-2, JobUID: 3-4) due to it; path: /a"
    text = (
        f"{above}status:\n  conditions:\n  - lastTransitionTime: x\n"
        "    message: 'Preempted to accommodate a workload (UID: 1-2,\n"
        "      JobUID: 3-4) due to it;\n      path: /a'\n"
        '    observedGeneration: 1\n    reason: Preempted\n    status: "True"\n    type: Evicted\n'
    )
    assert quoted_conditions(text) == (Quoted("Evicted", "True", "Preempted", message),)


def test_a_message_may_begin_on_the_line_below_its_name():
    text = "- message:\n    4 more\n    needed\n  reason: A\n  type: B\nand so on\n"
    assert quoted_conditions(text) == (Quoted("B", "", "A", "4 more needed"),)


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
        "[" * 900 + "]" * 900,
        "a b: c: d\n" + "[" * 900 + "]" * 900,
        "- &a [*a, *a]\n",
        "\x00\x01type: \x02",
    ],
)
def test_what_quotes_no_condition(text):
    assert quoted_conditions(text) == ()


@pytest.mark.parametrize(
    "text",
    [
        "ready=False\n" + "\n" * 250_000,
        "[1,\n" * 60_000,
        "]" * 60_000 + "\n" + "[1,\n" * 40_000,
        '["]",\n' * 40_000,
        '["a\n' * 60_000,
        "[INFO] a\n" * 25_000,
        "[" + "1" * 5000 + "\n",
    ],
    ids=["empty-lines", "nested", "closed-before", "in-strings", "unended", "log", "digits"],
)
def test_no_text_takes_long(text):
    began = time.process_time()
    assert quoted_conditions(text) == ()
    assert time.process_time() - began < 3.0


def test_words_in_brackets_do_not_hide_what_follows():
    text = "[1] Evicted:\n[\n" + json.dumps(raw(EVICTED)) + "\n"
    assert quoted_conditions(text) == (EVICTED,)
