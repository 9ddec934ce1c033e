"""What the platform's controller does about one name: a table of cases."""

from dataclasses import replace

import pytest

from provision.operators.platform.bodies import class_for, event_of, status_of
from provision.operators.platform.deciding import (
    Drop,
    Hold,
    Make,
    Mend,
    Release,
    Report,
    decide,
)
from provision.operators.platform.objects import (
    FINALIZER,
    LABELS,
    MANAGER,
    Claim,
    PriorityClass,
    Standing,
    read_claim,
    read_class,
)

NAME = "team-b-x"
NEW = Claim("team-b", NAME, "claim-1", "1", 1, "2026-01-01T00:00:02Z", 300)
HELD = replace(NEW, finalizers=("other", FINALIZER))
OLDER = Claim("team", NAME, "claim-2", "2", 1, "2026-01-01T00:00:01Z", 400)
TWIN = replace(NEW, namespace="team", uid="claim-0")
OWN = PriorityClass(NAME, "class-1", "7", 300, "", LABELS, NEW.marks, is_made_here=True)
FOREIGN = PriorityClass(NAME, "class-2", "8", 300, "", {}, {})
GOING = replace(HELD, is_deleting=True)


def kinds(deeds):
    return [type(deed) for deed in deeds]


def only_report(deeds):
    assert kinds(deeds) == [Report], deeds
    return deeds[0]


def rest(claim, found):
    """The claim once its report is written."""
    report = only_report(decide([claim], found))
    return replace(claim, standing=report.standing, class_uid=report.class_uid)


def test_free_name_is_held_before_the_class_is_made():
    assert decide([NEW], None) == (Hold(NEW),)
    assert decide([HELD], None) == (Make(HELD),)


def test_ready_is_said_when_the_class_is_there():
    report = only_report(decide([HELD], OWN))
    text = 'WorkloadPriorityClass "team-b-x" has the value 300.'
    assert report == Report(HELD, Standing(True, "Ready", text, 1), "class-1", "class-1")
    assert decide([rest(HELD, OWN)], OWN) == ()


def test_class_of_somebody_else_is_a_conflict_and_is_left_alone():
    report = only_report(decide([HELD], FOREIGN))
    assert (report.standing.is_ready, report.standing.reason) == (False, "NameConflict")
    assert report.class_uid == ""
    assert decide([rest(HELD, FOREIGN)], FOREIGN) == ()
    assert decide([GOING], FOREIGN) == (Release(GOING),)
    assert decide([], FOREIGN) == ()


def test_conflict_ends_when_the_class_goes():
    assert decide([rest(NEW, FOREIGN)], None) == (Hold(rest(NEW, FOREIGN)),)


@pytest.mark.parametrize("other", [OLDER, TWIN], ids=["older", "of the same second"])
def test_one_of_two_claims_gets_the_name_whatever_the_order(other):
    assert decide([NEW, other], None) == decide([other, NEW], None) == (Hold(other),)


def test_claim_of_another_namespace_is_told_whose_the_name_is():
    ours = rest(HELD, OWN)
    report = only_report(decide([OLDER, ours], OWN))
    assert report.claim == OLDER
    assert report.standing.message == (
        'A WorkloadPriorityClass "team-b-x" exists already and belongs to the '
        "CustomWorkloadPriorityClass of namespace team-b. Create it with another name."
    )


def test_deletion_takes_its_own_class_first():
    assert decide([GOING], OWN) == (Drop(OWN),)
    assert decide([GOING], replace(OWN, is_deleting=True)) == ()
    assert decide([GOING], None) == (Release(GOING),)


def test_deletion_finds_its_class_when_the_marks_were_edited_out():
    bare = replace(OWN, labels={}, annotations={})
    assert decide([replace(GOING, class_uid=OWN.uid)], bare) == (Drop(bare),)
    assert decide([GOING], bare) == (Release(GOING),)


@pytest.mark.parametrize(
    "found",
    [
        replace(OWN, value=5),
        replace(OWN, description="x"),
        replace(OWN, labels={}),
        replace(OWN, annotations={**NEW.marks, "kakaocloud.io/namespace": "team"}),
        replace(OWN, annotations={}),
    ],
    ids=["value", "description", "label", "namespace", "annotations"],
)
def test_what_was_edited_by_hand_is_mended(found):
    claim = rest(HELD, OWN)
    assert decide([claim], found) == (Mend(claim, found),)


def test_finalizer_that_was_taken_off_comes_back():
    claim = replace(rest(HELD, OWN), finalizers=())
    assert decide([claim], OWN) == (Hold(claim),)


def test_claim_that_is_held_by_somebody_else_needs_nothing_more():
    assert decide([replace(GOING, finalizers=("other",))], None) == ()


def test_class_that_was_made_again_is_noted():
    again = replace(OWN, uid="class-9")
    assert only_report(decide([rest(HELD, OWN)], again)).class_uid == "class-9"


def test_own_class_that_is_held_by_somebody_is_waited_for():
    report = only_report(decide([rest(HELD, OWN)], replace(OWN, is_deleting=True)))
    assert report.standing.reason == "Terminating"
    assert not report.standing.is_ready


def test_class_without_its_claim_goes_only_if_a_controller_made_it():
    assert decide([], OWN) == (Drop(OWN),)
    assert decide([], replace(OWN, is_made_here=False)) == ()
    assert decide([], replace(OWN, labels={})) == ()


def test_value_that_changes_is_mended_and_reported():
    claim = replace(rest(HELD, OWN), value=900, generation=2)
    assert decide([claim], OWN) == (Mend(claim, OWN),)
    report = only_report(decide([claim], replace(OWN, value=900)))
    assert report.standing.generation == 2
    assert "900" in report.standing.message
    status = status_of(report, "2026-01-01T00:00:09Z")
    assert status["conditions"][0]["lastTransitionTime"] == claim.since


def test_time_of_the_last_transition_is_that_of_ready():
    claim = replace(rest(NEW, FOREIGN), since="2026-01-01T00:00:03Z", finalizers=(FINALIZER,))
    report = only_report(decide([claim], OWN))
    now = "2026-01-01T00:00:09Z"
    assert status_of(report, now) == {
        "classUID": "class-1",
        "conditions": [
            {
                "type": "Ready",
                "status": "True",
                "reason": "Ready",
                "message": 'WorkloadPriorityClass "team-b-x" has the value 300.',
                "observedGeneration": 1,
                "lastTransitionTime": now,
            }
        ],
    }
    refused = only_report(decide([NEW], FOREIGN))
    assert status_of(refused, now)["classUID"] is None


def test_event_told_twice_is_one_and_another_class_is_another_occasion():
    first = only_report(decide([NEW], FOREIGN))
    name = event_of(first, "now")["metadata"]["name"]
    assert event_of(first, "later")["metadata"]["name"] == name
    other = only_report(decide([NEW], replace(FOREIGN, uid="class-3")))
    assert event_of(other, "now")["metadata"]["name"] != name
    assert event_of(first, "now")["type"] == "Warning"
    assert (
        len(event_of(replace(first, claim=replace(NEW, name="a" * 253)), "now")["metadata"]["name"])
        < 253
    )


def test_what_is_written_is_read_as_it_was_meant():
    claim = replace(HELD, description="before the quarter ends")
    body = class_for(claim)
    body["metadata"] |= {
        "uid": "class-1",
        "resourceVersion": "7",
        "managedFields": [{"manager": MANAGER}],
    }
    assert read_class(body) == replace(OWN, description=claim.description)
    report = Report(claim, Standing(True, "Ready", "text", 1), "class-1", "class-1")
    raw = {
        "metadata": {
            "name": NAME,
            "namespace": "team-b",
            "uid": "claim-1",
            "resourceVersion": "1",
            "generation": 1,
            "creationTimestamp": claim.created,
            "finalizers": ["other", FINALIZER],
        },
        "spec": {"value": 300, "description": claim.description},
        "status": status_of(report, "2026-01-01T00:00:09Z"),
    }
    assert read_claim(raw) == replace(
        claim, standing=report.standing, since="2026-01-01T00:00:09Z", class_uid="class-1"
    )
    assert read_claim({**raw, "status": {}}) == claim
