"""A verdict counts only when the components of the place were ready while it came about."""

from __future__ import annotations

import dataclasses
from pathlib import Path

import pytest

from checks.outcome import CheckResult, Outcome, StepResult, StepVerdict
from lab import grading
from lab.places import Place, Places
from lab.probing import Probe
from provision.errors import TargetError
from provision.message import say
from provision.target import ComponentStatus, TargetStatus


class Target:
    """A target whose components answer as told, one answer a look."""

    def __init__(self, *looks: bool | Exception) -> None:
        self.looks = list(looks)

    def info(self) -> None:
        """Nothing that `judge` would need, which is not called here."""

    def status(self) -> TargetStatus:
        look = self.looks.pop(0)
        if isinstance(look, Exception):
            raise look
        detail = None if look else say("no answer")
        one = ComponentStatus("kueue", True, look, detail, 1, "v1", Path("/log"))
        return TargetStatus(True, (one,), None)


def place_on(target: Target, folder: Path) -> Place:
    place = Places({"LAB_HOME": str(folder), "LAB_CACHE": str(folder)}, is_root=False).open()
    return dataclasses.replace(place, target=target)


def verdict(monkeypatch, folder, target: Target, outcome: Outcome, seconds: float) -> StepVerdict:
    check = CheckResult(id="job", title=say("the Job runs"), outcome=outcome)
    result = StepResult(step=4, checks=(check,), requests=1, seconds=seconds)
    monkeypatch.setattr(grading, "judge", lambda *_, **__: result)
    place = place_on(target, folder)
    found = grading.grade(place, place.lab.step(4), {})
    assert target.looks == []
    return found.verdict


@pytest.mark.parametrize("outcome", [Outcome.PASSED, Outcome.FAILED])
@pytest.mark.parametrize("look", [False, TargetError(say("no answer"))])
def test_nothing_is_told_of_a_place_that_is_not_ready(monkeypatch, tmp_path, outcome, look):
    found = verdict(monkeypatch, tmp_path, Target(look), outcome, 0.3)
    assert found is StepVerdict.CANNOT_TELL


def test_what_failed_at_once_is_told_after_one_look(monkeypatch, tmp_path):
    found = verdict(monkeypatch, tmp_path, Target(True), Outcome.FAILED, 0.3)
    assert found is StepVerdict.NOT_YET


@pytest.mark.parametrize(
    ("later", "expected"),
    [(True, StepVerdict.NOT_YET), (False, StepVerdict.CANNOT_TELL)],
)
def test_what_was_waited_for_in_vain_may_be_the_places_fault(
    monkeypatch, tmp_path, later, expected
):
    found = verdict(monkeypatch, tmp_path, Target(True, later), Outcome.FAILED, 6.0)
    assert found is expected


def test_a_pass_needs_no_second_look(monkeypatch, tmp_path):
    found = verdict(monkeypatch, tmp_path, Target(True), Outcome.PASSED, 6.0)
    assert found is StepVerdict.PASS


def test_a_machine_that_lets_nobody_in_is_the_cause_and_work_to_go_on_with_the_next_move(tmp_path):
    rows = tuple(
        ComponentStatus(name, False, False, say("its host key differs"), None, "", tmp_path / "l")
        for name in ("machine", "k3s")
    )
    status = TargetStatus(True, rows, None, remark=say("make destroy was broken off"))
    target = Target()
    target.status = lambda: status  # type: ignore[method-assign]
    what, following = Probe(place_on(target, tmp_path)).trouble() or (None, None)
    assert str(what) == "The place is down: machine, k3s. The machine: its host key differs."
    assert following == status.remark
