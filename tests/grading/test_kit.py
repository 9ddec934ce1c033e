"""The kit itself: its cases are read strictly, and no check is without cases."""

from collections import Counter

import pytest

from lab.casework.breaking import RIGS
from lab.casework.cases import RIGS as KNOWN_RIGS
from lab.casework.cases import CaseError
from lab.casework.playbook import read_playbook
from lab.casework.settling import owed
from lab.casework.world import fingerprint
from lab.catalog import load_lab
from tests.grading.conftest import LAB
from tests.grading.kit import KIT, LABS, NEVER_FIRST, checks_of, read_cases
from tests.grading.kit import read_kit_case as read_case

GOOD = """\
step: 2
title: a title
kind: wrong
why: the cause
names: [spec]
source: own
check: queue_exists
"""


STEPS = [(lab, step.number) for lab in LABS for step in load_lab(lab).steps]


@pytest.mark.parametrize(("lab", "step"), STEPS)
def test_every_check_has_a_right_a_wrong_and_a_broken_case(lab, step):
    cases = [case for case in read_cases(lab) if case.step == step and case.is_smoke]
    assert [case for case in cases if case.kind == "right"], "no right case passes its checks"
    assert [case for case in cases if case.kind == "broken"], "no broken case stops its checks"
    wrong = {case.check for case in cases if case.kind == "wrong"}
    wrong |= {check for slug, number, check in NEVER_FIRST if (slug, number) == (lab, step)}
    assert [check for check in checks_of(lab, step) if check not in wrong] == []


@pytest.mark.parametrize(("lab", "step"), STEPS)
def test_cases_name_checks_that_there_are(lab, step):
    known = checks_of(lab, step)
    cases = [case for case in read_cases(lab) if case.step == step and case.kind == "wrong"]
    assert {case.id: case.check for case in cases if case.check not in known} == {}


LEAST = {"kueue_quota": {"right": 8, "wrong": 10, "broken": 3}}
ENOUGH = {"right": 3, "wrong": 4, "broken": 1}


@pytest.mark.parametrize(("lab", "step"), STEPS)
def test_each_step_has_enough_cases_of_each_kind(lab, step):
    counts = Counter(case.kind for case in read_cases(lab) if case.step == step)
    least = LEAST.get(lab, ENOUGH)
    assert {kind: counts[kind] for kind in least if counts[kind] < least[kind]} == {}


def test_no_two_cases_have_the_same_name():
    ids = [(lab, case.id) for lab in LABS for case in read_cases(lab)]
    assert len(set(ids)) == len(ids)


def test_every_rig_that_a_case_may_name_is_played():
    assert {*RIGS} - {""} == set(KNOWN_RIGS)


def folder_with(tmp_path, text, name="wrong/a_lab/2/a-case"):
    folder = tmp_path / name
    folder.mkdir(parents=True)
    (folder / "case.yaml").write_text(text, encoding="utf-8")
    return folder


def test_a_good_case_is_read(tmp_path):
    case = read_case(folder_with(tmp_path, GOOD))
    assert (case.id, case.lab, case.check) == ("wrong/2/a-case", "a_lab", "queue_exists")
    assert (case.world, case.is_smoke, case.judgement) == ("before", False, False)


@pytest.mark.parametrize(
    ("change", "told"),
    [
        (("source: own", "sauce: own"), "sauce: unknown key"),
        (("step: 2", "step: two"), "step: a number is wanted"),
        (("step: 2", "step: true"), "step: a number is wanted"),
        (("step: 2", "step: 3"), "step: 3, but it lies in the folder 2"),
        (("kind: wrong", "kind: odd"), "kind: 'odd' is not one of"),
        (("kind: wrong", "kind: right"), "kind: 'right', but it lies in the folder wrong"),
        (("title: a title", "title: 3"), "title: a text is wanted"),
        (("why: the cause\n", ""), "why: a text is wanted"),
        (("names: [spec]", "names: spec"), "names: a list of texts"),
        (("names: [spec]", "names: [2]"), "names: a list of texts"),
        (("names: [spec]\n", ""), "names: right cases have none"),
        (("check: queue_exists\n", ""), "check: wrong cases name one"),
        (("source: own", "source: own\nsmoke: 1"), "smoke: true or false"),
        (("source: own", "source: own\nworld: after"), "world: 'after' is not one of"),
        (("source: own", "source: own\nrig: kueue-off"), "rig: 'kueue-off' is not one of"),
        (("step: 2", "step: [2"), "while parsing"),
        ((GOOD, "- a list"), "a mapping is wanted"),
    ],
)
def test_a_faulty_case_names_file_and_key(tmp_path, change, told):
    folder = folder_with(tmp_path, GOOD.replace(*change))
    with pytest.raises(CaseError) as error:
        read_case(folder)
    assert str(folder / "case.yaml") in str(error.value)
    assert told in str(error.value)


def test_an_unknown_file_beside_a_case_is_an_error(tmp_path):
    folder = folder_with(tmp_path, GOOD)
    (folder / "aply.sh").touch()
    with pytest.raises(CaseError, match=r"aply\.sh: unknown file"):
        read_case(folder)


def test_no_script_sleeps():
    scripts = [path for path in KIT.rglob("*.sh") if "sleep" in path.read_text(encoding="utf-8")]
    assert scripts == []


def thing(kind, name="x", *, status=None, spec=None, **meta):
    return {
        "kind": kind,
        "metadata": {"name": name, "uid": f"uid-{name}", "generation": 1, **meta},
        "spec": spec or {},
        "status": status or {},
    }


def is_so(kind, status="True", **more):
    return {"type": kind, "status": status, **more}


NOTHING = {kind: [] for kind in ("Job", "Pod", "Workload", "LocalQueue", "ClusterQueue")}
OWNED = {"ownerReferences": [{"uid": "uid-x"}]}


@pytest.mark.parametrize(
    ("state", "what"),
    [
        ({"Job": [thing("Job", spec={"suspend": True})]}, "a Workload with QuotaReserved"),
        ({"Job": [thing("Job", spec={"suspend": False})]}, "its pods"),
        ({"Job": [thing("Job", deletionTimestamp="now")]}, "to go"),
        ({"Pod": [thing("Pod", status={"phase": "Pending"})]}, "to leave Pending"),
        ({"LocalQueue": [thing("LocalQueue")]}, "its Active condition"),
        (
            {
                "ClusterQueue": [
                    thing("ClusterQueue", status={"conditions": [is_so("Active", "False")]})
                ]
            },
            "to be Active",
        ),
        (
            {
                "ClusterQueue": [
                    thing(
                        "ClusterQueue",
                        status={"conditions": [is_so("Active")], "admittedWorkloads": 1},
                    )
                ]
            },
            "its number of admitted Workloads",
        ),
    ],
)
def test_what_is_owed_is_named(state, what):
    assert what in str(owed({**NOTHING, **state}))


@pytest.mark.parametrize(
    "state",
    [
        {},
        {"Job": [thing("Job", status={"conditions": [is_so("Failed")]})]},
        {
            "Job": [thing("Job", spec={"suspend": True})],
            "Workload": [
                thing(
                    "Workload",
                    "w",
                    status={"conditions": [is_so("QuotaReserved", "False")]},
                    **OWNED,
                )
            ],
        },
        {
            "Pod": [
                thing(
                    "Pod",
                    status={"phase": "Pending", "conditions": [is_so("PodScheduled", "False")]},
                )
            ]
        },
    ],
)
def test_nothing_is_owed(state):
    assert owed({**NOTHING, **state}) is None


def test_a_changed_object_has_another_fingerprint():
    plain = thing("Job")
    assert fingerprint(plain) == fingerprint(thing("Job", resourceVersion="7"))
    for other in (
        thing("Job", generation=2),
        thing("Job", uid="other"),
        thing("Job", labels={"a": "b"}),
        thing("Job", deletionTimestamp="now"),
        thing("Job", status={"conditions": [is_so("Failed")]}),
    ):
        assert fingerprint(other) != fingerprint(plain)


def test_steps_of_which_nothing_stays_are_not_part_of_a_world():
    book = read_playbook(LAB)
    assert book.chain(1) == ()
    assert book.chain(7) == book.chain(8) == tuple("123456")
    assert book.chain(4, is_answered=True) == tuple("1234")
    assert book.chain(8, is_answered=True) == tuple("123456")
