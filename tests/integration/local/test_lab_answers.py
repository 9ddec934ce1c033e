"""The answers pass, in order and again; an untouched lab passes nothing."""

import pytest

from tests.integration.cli import STEPS, Lab, four_parts

pytestmark = [pytest.mark.integration, pytest.mark.timeout(300, func_only=True)]
UNDONE_BY_STEP_8 = {4, 5, 7}


def test_an_untouched_lab_passes_no_step(untouched: Lab) -> None:
    said = untouched.run("check", "all", "--json")
    assert said.code == 1, said
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


def test_answers_pass_step_by_step(untouched: Lab) -> None:
    for number in STEPS:
        untouched.done("solve", str(number), "--yes")
        said = untouched.run("check", str(number), "--json")
        assert said.code == 0, said
        step = said.json()["steps"][0]
        assert (step["verdict"], step["true_now"], step["solved"]) == ("PASS", True, True)


def assert_all_pass(lab: Lab) -> None:
    said = lab.run("check", "all", "--json")
    assert said.code == 0, said
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


def test_all_steps_stand_after_the_last(solved: Lab) -> None:
    assert_all_pass(solved)


def test_answers_pass_twice_in_a_row_and_after_a_reset(solved: Lab) -> None:
    solved.done("solve", "all", "--yes")
    assert_all_pass(solved)
    solved.done("reset", "--yes")
    assert solved.run("check", "1").code == 1
    solved.done("solve", "all", "--yes")
    assert_all_pass(solved)


def test_credit_is_lost_when_something_else_undoes_a_step(untouched: Lab) -> None:
    for number in (1, 2):
        untouched.done("solve", str(number), "--yes")
    untouched.shell("kubectl delete clusterqueue team-a")
    step = untouched.check(2)["steps"][0]
    assert (step["verdict"], step["true_now"]) == ("NOT YET", False)
    assert step["passed_at"]
    assert step["passed_at"][:16] in step["cause"] or "passed" in step["cause"].lower()


def test_a_step_done_too_late_names_the_step_that_undid_it(untouched: Lab) -> None:
    untouched.done("solve", "all", "--yes")
    untouched.progress.unlink()
    step = untouched.check(4)["steps"][0]
    assert (step["verdict"], step["true_now"]) == ("NOT YET", False)
    assert "8" in step["cause"]
    assert "make reset" in step["cause"]


def test_check_without_a_number_grades_the_first_open_step(untouched: Lab) -> None:
    assert [step["step"] for step in untouched.run("check", "--json").json()["steps"]] == [1]
    untouched.done("solve", "1", "--yes")
    assert [step["step"] for step in untouched.run("check", "--json").json()["steps"]] == [2]


def test_a_step_whose_groundwork_is_gone_points_back(untouched: Lab) -> None:
    said = untouched.run("check", "5")
    assert said.code == 1
    assert "STEP=" in said.out, said
