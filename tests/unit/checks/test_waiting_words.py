"""A text that tells the reason in Kueue's own words, in any wrapping, and texts that do not."""

import json

import pytest

from checks.kueue_quota.waiting_words import Said, judge_words
from tests.unit.checks.conftest import MESSAGE, WAITING

SAID = (Said("WaitingForQuota", MESSAGE),)
OWN = json.dumps(WAITING) + " NoReservation WaitForStart"
TWO_SHORT = MESSAGE.replace(
    ": insuff", ": insufficient unused quota for cpu in flavor f, insuff", 1
)


@pytest.mark.parametrize(
    "text",
    [
        "WaitingForQuota",
        "\nwaitingforquota\n",
        "reason: WaitingForQuota",
        "사유는 WaitingForQuota 입니다",
        "사유는 WaitingForQuota이다.",
        MESSAGE,
        MESSAGE.split(": ")[1],
        "message: '"
        + MESSAGE.replace("'", "''").replace("unused quota", "unused quota\n   ")
        + "'",
        json.dumps(WAITING),
        f"0s Warning WaitingForQuota workload/job-train-3-abcde {MESSAGE}",
        f"It does not run: {MESSAGE}",
    ],
)
def test_the_workloads_own_words(text):
    assert judge_words(text, SAID, OWN) is None


def test_a_part_of_a_long_message_will_do():
    said = (Said("WaitingForQuota", TWO_SHORT),)
    assert judge_words(MESSAGE.split(": ")[1], said, TWO_SHORT) is None


@pytest.mark.parametrize(
    ("text", "word"),
    [
        ("GPU가 부족해서 기다립니다", "GPU"),
        ("Suspended", "Suspended"),
        ("QuotaReserved: Quota reserved in ClusterQueue team-a", "Quota"),
        ("0/1 nodes are available: 1 Insufficient nvidia.com/gpu.", "0/1"),
        ("WaitingForQuota 는 아니고 노드 부족", "denies"),
        ("It is not WaitingForQuota", "denies"),
        ("WaitingForQuota\nExceedsMaxQuota\nMisconfigured", "ExceedsMaxQuota"),
        ("couldn't assign flavors to pod set main", "couldn't"),
    ],
)
def test_other_words(text, word):
    assert word in str(judge_words(text, SAID, OWN))


def test_other_reasons_are_fine_when_the_workload_has_them():
    own = OWN + " PendingEvaluation"
    assert judge_words("PendingEvaluation, then WaitingForQuota", SAID, own) is None


def test_a_reason_that_kueue_may_invent_later_is_taken_from_the_workload():
    said = (Said("QueueIsFull", "no room at present for this one"),)
    assert judge_words("QueueIsFull", said, "") is None
    assert judge_words("no room at present", said, "") is None
    assert judge_words("WaitingForQuota", said, "") is not None
