"""Results as JSON and back."""

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from checks.outcome import (
    CheckResult,
    Evidence,
    Finding,
    Outcome,
    StepResult,
    StepVerdict,
    evidence_from_json,
    evidence_to_json,
    message_from_json,
    result_from_json,
    result_to_json,
)
from provision.message import Message, say

TEXTS = st.text(max_size=20)
NAMES = st.text("abc", min_size=1, max_size=3)


def _message(text, values):
    """A template that names all values, with any other text around them."""
    return Message(
        text.replace("{", "{{").replace("}", "}}") + "".join(f"{{{n}}}" for n in values), values
    )


MESSAGES = st.recursive(
    st.builds(_message, TEXTS, st.dictionaries(NAMES, TEXTS, max_size=2)),
    lambda inner: st.builds(_message, TEXTS, st.dictionaries(NAMES, inner | TEXTS, max_size=2)),
    max_leaves=4,
)
EVIDENCE = st.builds(
    Evidence,
    *[TEXTS] * 4,
    namespace=TEXTS,
    uid=TEXTS,
    resource_version=TEXTS,
    data=st.dictionaries(TEXTS, TEXTS, max_size=2),
)
CHECKS = st.builds(
    CheckResult,
    id=TEXTS,
    title=MESSAGES,
    outcome=st.sampled_from(Outcome),
    evidence=st.lists(EVIDENCE, max_size=2).map(tuple),
    finding=st.none() | st.builds(Finding, MESSAGES, MESSAGES, MESSAGES, MESSAGES),
    trouble=st.none() | MESSAGES,
    next_move=st.none() | MESSAGES,
    is_transient=st.booleans(),
    is_past=st.booleans(),
)
RESULTS = st.builds(
    StepResult,
    step=st.integers(1, 8),
    checks=st.lists(CHECKS, max_size=3).map(tuple),
    requests=st.integers(0, 99),
    seconds=st.floats(0, 60),
    remarks=st.lists(MESSAGES, max_size=2).map(tuple),
)


@given(RESULTS)
def test_a_result_survives_json(result):
    assert result_from_json(json.loads(json.dumps(result_to_json(result)))) == result


@given(EVIDENCE)
def test_evidence_survives_json(evidence):
    assert evidence_from_json(json.loads(json.dumps(evidence_to_json(evidence)))) == evidence


@pytest.mark.parametrize(
    "data",
    [
        None,
        [],
        {},
        {"schema": 2},
        {"schema": 1, "step": 1, "checks": [], "remarks": [], "requests": 0, "seconds": "1"},
        {"schema": 1, "step": True, "checks": [], "remarks": [], "requests": 0, "seconds": 1},
        {"schema": 1, "step": 1, "checks": [{}], "remarks": [], "requests": 0, "seconds": 1},
        {"schema": 1, "step": 1, "checks": {}, "remarks": [], "requests": 0, "seconds": 1},
    ],
)
def test_what_is_no_result_is_refused(data):
    with pytest.raises(ValueError, match=r"\w+"):
        result_from_json(data)


@pytest.mark.parametrize("data", [None, {}, {"template": 1, "values": {}}, {"template": "x"}])
def test_what_is_no_message_is_refused(data):
    with pytest.raises(ValueError, match=r"\w+"):
        message_from_json(data)


def check(outcome):
    return CheckResult(id=outcome, title=say("x"), outcome=outcome)


@pytest.mark.parametrize(
    ("outcomes", "verdict"),
    [
        ([Outcome.PASSED, Outcome.PASSED], StepVerdict.PASS),
        ([Outcome.PASSED, Outcome.FAILED, Outcome.SKIPPED], StepVerdict.NOT_YET),
        ([Outcome.FAILED, Outcome.ERROR], StepVerdict.CANNOT_TELL),
        ([Outcome.SKIPPED], StepVerdict.NOT_YET),
        ([], StepVerdict.CANNOT_TELL),
    ],
)
def test_the_verdict_of_a_step(outcomes, verdict):
    assert StepResult(1, tuple(map(check, outcomes)), 0, 0.0).verdict is verdict
