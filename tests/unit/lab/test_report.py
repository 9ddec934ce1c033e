"""What people and programs see, as golden text at 60, 80 and 100 columns in both languages."""

import json
import os
from dataclasses import replace
from pathlib import Path

import pytest

from checks.outcome import CheckResult, Evidence, Finding, Outcome, StepResult, StepVerdict
from lab.catalog import load_lab
from lab.hints import Ladder, Offer
from lab.progress import StepRecord
from lab.report.standing_json import as_json
from lab.report.terminal import TextReport
from lab.standing import Standing
from lab.text import Speech, width
from provision.message import say

GOLDEN = Path(__file__).parents[2] / "golden" / "report"
LAB = load_lab("kueue_quota")

STANDING = Standing(
    step=LAB.step(5),
    verdict=StepVerdict.NOT_YET,
    is_true_now=False,
    cause=None,
    result=StepResult(
        step=5,
        checks=(
            CheckResult(
                id="second_runs",
                title=say("train-2 is admitted and runs"),
                outcome=Outcome.PASSED,
                evidence=(
                    Evidence(
                        kind="Job", name="train-2", uid="u2", fact="x", time="2026-01-02T10:41:07Z"
                    ),
                ),
            ),
            CheckResult(
                id="reason",
                title=say("waiting.txt holds train-3's own reason"),
                outcome=Outcome.FAILED,
                finding=Finding(
                    looked_at=say("/root/gsb-kueue/waiting.txt, line 1"),
                    expected=say(
                        "the reason or message of QuotaReserved on Workload job-train-3-a3b55"
                    ),
                    found=say('"Suspended"'),
                    next_move=say("look at the conditions of that Workload"),
                ),
            ),
            CheckResult(
                id="later",
                title=say("A check that needs the one before"),
                outcome=Outcome.SKIPPED,
                trouble=say("waits for an earlier check"),
            ),
            CheckResult(
                id="odd",
                title=say("A check that could not look"),
                outcome=Outcome.ERROR,
                trouble=say("the API server does not answer"),
                next_move=say("look with make status"),
            ),
        ),
        requests=3,
        seconds=0.71,
    ),
    record=StepRecord(attempts=2),
)

FAILURE = STANDING.result.checks[1]
LADDER = Ladder(("5.reason",), "", {}, ("a", "b", "c", "d"))
COMING = Offer(LAB.step(5), FAILURE, FAILURE.finding, LADDER, used=1)


@pytest.mark.golden
@pytest.mark.parametrize("language", ["en", "ko"])
@pytest.mark.parametrize("columns", [60, 80, 100])
def test_text(language, columns, monkeypatch):
    monkeypatch.setenv("TZ", "UTC")
    report = TextReport(Speech(language), columns=columns)
    text = report.step(LAB, STANDING, COMING) + "\n" + report.foot(LAB, (STANDING,), None) + "\n"
    assert all(width(line) <= columns for line in text.splitlines())
    golden = GOLDEN / f"step_5.{language}.{columns}.txt"
    if os.environ.get("GOLDEN") == "write":
        golden.parent.mkdir(parents=True, exist_ok=True)
        golden.write_text(text, encoding="utf-8")
    assert text == golden.read_text(encoding="utf-8")


def test_colour_adds_nothing_but_colour():
    bare = TextReport(Speech("en"), columns=80).step(LAB, STANDING)
    painted = TextReport(Speech("en"), columns=80, paint=lambda text, role: f"<{role}>{text}</>")
    text = painted.step(LAB, STANDING)
    for tag in ("<good>", "<bad>", "<odd>", "<quiet>", "</>"):
        text = text.replace(tag, "")
    assert text == bare


def test_a_hint_is_pointed_at_until_all_were_shown_and_then_again():
    report = TextReport(Speech("en"), columns=80)
    assert "hint" not in report.step(LAB, STANDING)
    assert "(hint 2 of 4: make hint STEP=5)" in report.step(LAB, STANDING, COMING)
    last = replace(COMING, used=4)
    assert "(hint 4 of 4 again: make hint STEP=5)" in report.step(LAB, STANDING, last)
    other = replace(COMING, failure=STANDING.result.checks[0])
    assert "hint" not in report.step(LAB, STANDING, other)


def test_json_has_the_documented_keys():
    data = json.loads(json.dumps(as_json(LAB, (STANDING,), None, Speech("en"))))
    assert data["schema"] == 1
    assert data["verdict"] == "NOT YET"
    step = data["steps"][0]
    assert step["step"] == 5
    assert step["checks"][1]["finding"] == {
        "looked_at": "/root/gsb-kueue/waiting.txt, line 1",
        "expected": "the reason or message of QuotaReserved on Workload job-train-3-a3b55",
        "found": '"Suspended"',
        "next": "look at the conditions of that Workload",
    }


def test_what_several_checks_wait_for_is_told_once():
    def waiting(name, trouble):
        return CheckResult(name, say(f"check {name}"), Outcome.SKIPPED, trouble=trouble)

    first, other = (say("waiting for: {title}", title=title) for title in ("one", "two"))
    behind = say("waiting for: {title}", title=say("check c"))
    checks = (waiting("a", first), waiting("b", first), waiting("c", other), waiting("d", behind))
    standing = replace(STANDING, result=replace(STANDING.result, checks=checks))
    lines = TextReport(Speech("en"), columns=80).step(LAB, standing).splitlines()[1:]
    assert [line.strip() for line in lines] == [
        *("wait   check a", "wait   check b", "waiting for: one"),
        *("wait   check c", "waiting for: two", "wait   check d"),
    ]
