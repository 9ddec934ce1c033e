"""The answers pass, in order and again; an untouched lab passes nothing."""

import pytest

from tests.integration.cli import STEPS, Lab, Said, four_parts

pytestmark = [pytest.mark.integration, pytest.mark.timeout(300, func_only=True)]
UNDONE_BY_STEP_8 = {4, 5, 7}


def test_an_untouched_lab_passes_no_step(untouched: Lab) -> None:
    said = untouched.run("check", "all", "--json")
    assert said.code == 1, str(said)
    steps = said.json()["steps"]
    assert [step["verdict"] for step in steps] == ["NOT YET"] * len(STEPS)
    for step in steps:
        failed = [check for check in step["checks"] if check["outcome"] == "failed"]
        assert failed, step
        assert all(four_parts(check["finding"]) for check in failed), step
        assert step["passed_at"] is None
        assert step["true_now"] is False
    for number in STEPS:
        assert untouched.run("check", str(number)).code == 1


@pytest.fixture(scope="module")
def done(lab: Lab) -> tuple[Lab, list[Said]]:
    """The lab after all steps were solved one by one, and what each check said right after."""
    lab.done("reset", "--yes")
    said = []
    for number in STEPS:
        lab.done("solve", str(number), "--yes")
        said.append(lab.run("check", str(number), "--json"))
    return lab, said


def test_answers_pass_step_by_step(done: tuple[Lab, list[Said]]) -> None:
    for said in done[1]:
        assert said.code == 0, str(said)
        step = said.json()["steps"][0]
        assert (step["verdict"], step["true_now"], step["solved"]) == ("PASS", True, True)


def assert_all_pass(lab: Lab) -> None:
    said = lab.run("check", "all", "--json")
    assert said.code == 0, str(said)
    report = said.json()
    assert (report["schema"], report["lab"], report["verdict"]) == (1, "kueue_quota", "PASS")
    assert [step["step"] for step in report["steps"]] == list(STEPS)
    for step in report["steps"]:
        assert step["verdict"] == "PASS", step
        evidence = [*step["evidence"], *(e for c in step["checks"] for e in c["evidence"])]
        assert any(item["uid"] and item["time"] for item in evidence), step
        is_undone = step["step"] in UNDONE_BY_STEP_8
        assert step["true_now"] is not is_undone, step
        assert bool(step["cause"]) is is_undone, step
        assert step["passed_at"]


def test_all_steps_stand_after_the_last(done: tuple[Lab, list[Said]]) -> None:
    assert_all_pass(done[0])


def test_a_step_done_too_late_names_the_step_that_undid_it(done: tuple[Lab, list[Said]]) -> None:
    lab, _ = done
    progress, aside = lab.progress, lab.progress.with_name("aside.jsonl")
    progress.rename(aside)
    try:
        step = lab.check(4)["steps"][0]
    finally:
        aside.replace(progress)
    assert (step["verdict"], step["true_now"]) == ("NOT YET", False)
    assert "8" in step["cause"]
    assert "make reset" in step["cause"]


@pytest.mark.full
def test_answers_pass_twice_in_a_row_and_after_a_reset(done: tuple[Lab, list[Said]]) -> None:
    lab, _ = done
    lab.done("solve", "all", "--yes")
    assert_all_pass(lab)
    lab.done("reset", "--yes")
    assert lab.run("check", "1").code == 1
    lab.done("solve", "all", "--yes")
    assert_all_pass(lab)


def test_credit_is_lost_when_something_else_undoes_a_step(untouched: Lab) -> None:
    for number in (1, 2):
        untouched.done("solve", str(number), "--yes")
    untouched.shell("kubectl delete clusterqueue team-a")
    step = untouched.check(2)["steps"][0]
    assert (step["verdict"], step["true_now"]) == ("NOT YET", False)
    assert step["passed_at"]
    assert step["passed_at"][:16] in step["cause"] or "passed" in step["cause"].lower()


def test_check_without_a_number_grades_the_first_open_step(untouched: Lab) -> None:
    assert [step["step"] for step in untouched.run("check", "--json").json()["steps"]] == [1]
    untouched.done("solve", "1", "--yes")
    assert [step["step"] for step in untouched.run("check", "--json").json()["steps"]] == [2]


def test_a_step_whose_groundwork_is_gone_points_back(untouched: Lab) -> None:
    said = untouched.run("check", "5")
    assert said.code == 1
    assert "STEP=" in said.out, str(said)
