"""A text that tells the reason in Kueue's own words, in any wrapping, and texts that do not."""

import json
import time
import unicodedata

import pytest

from checks.judging.words import Said, judge_words
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


@pytest.mark.parametrize(
    "text",
    [
        "train-3의 이유는 WaitingForQuota입니다.",
        "이유:WaitingForQuota라고 합니다",
        "WaitingForQuota 때문에 실행되지 않는다",
        "WaitingForQuota라서 쿼터가 생길 때까지 실행되지 않습니다",
        "쿼터가 없어서 기다립니다: WaitingForQuota",
        "노드 문제가 아니라 WaitingForQuota입니다",
        "WaitingForQuota, 남은 GPU가 없음",
        "There is no quota left, reason=WaitingForQuota",
        "WaitingForQuota - not enough unused quota",
        "WaitingForQuota (there is no room)",
        "train-3 is not running because of WaitingForQuota",
        "It has not been admitted; the reason is `WaitingForQuota`.",
        "Running: no, WaitingForQuota",
        "It isn't a matter of nodes but WaitingForQuota",
        "WaitingForQuota is the reason why it does not run",
        "WaitingForQuota: cannot be admitted, it is not its turn",
    ],
)
def test_a_sentence_may_say_no_to_something_else(text):
    assert judge_words(text, SAID, OWN) is None


@pytest.mark.parametrize(
    "text",
    [
        "WaitingForQuota 는 아니고, 노드가 부족합니다 (node shortage, not quota).",
        "이유는 WaitingForQuota가 아닙니다",
        "WaitingForQuota 때문이 아니라 노드 때문입니다",
        "WaitingForQuota 상태가 아니다",
        "WaitingForQuota로 기다리는 것이 아님",
        "WaitingForQuota라는 이유는 없습니다",
        unicodedata.normalize("NFD", "WaitingForQuota는 아닙니다"),
        "train-3 is not 'WaitingForQuota'",
        "It isn\u2019t WaitingForQuota.",
        "not because of WaitingForQuota",
        "train-3 is not in the WaitingForQuota state",
        "not reason=WaitingForQuota",
        "it is not true that train-3 is WaitingForQuota",
        "WaitingForQuota is certainly not the reason",
        "WaitingForQuota isn't the reason",
        '"WaitingForQuota" was never said',
    ],
)
def test_a_sentence_that_denies_the_reason(text):
    assert "denies" in str(judge_words(text, SAID, OWN))


@pytest.mark.parametrize("text", ["NotWaitingForQuota", "WaitingForQuotas"])
def test_a_part_of_another_word_is_not_the_reason(text):
    assert judge_words(text, SAID, OWN) is not None


@pytest.mark.parametrize(
    "text",
    [
        "WaitingForQuota" + "이라는" * 50_000,
        "not " * 50_000 + "WaitingForQuota",
        "not" + " a" * 50_000 + " WaitingForQuota?",
        "WaitingForQuota is " + "ly" * 50_000,
        "WaitingForQuota " * 10_000,
    ],
    ids=["particles", "nots", "articles", "adverb", "reasons"],
)
def test_a_long_sentence_costs_no_time(text):
    began = time.process_time()
    judge_words(text, SAID, OWN)
    assert time.process_time() - began < 1.0


def test_a_message_about_another_resource_is_not_this_one_s():
    other = MESSAGE.replace("nvidia.com/gpu", "cpu")
    for text in (other, other.partition(" in flavor")[0], f"WaitingForQuota: {other}"):
        assert "cpu" in str(judge_words(text, SAID, OWN))
    both = (Said("WaitingForQuota", TWO_SHORT),)
    for text in (TWO_SHORT, MESSAGE, other.partition(" in flavor")[0]):
        assert judge_words(text, both, OWN) is None


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
