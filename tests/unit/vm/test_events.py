"""Events as ansible-runner 2.4.3 with ansible-core 2.19.14 gave them, and what is made of them."""

import json
from pathlib import Path

import pytest

from provision.vm.events import Course, cause_of

DATA = Path(__file__).parent / "data"


def play(name: str) -> tuple[Course, list[str]]:
    course, lines = Course(), []
    for text in (DATA / f"events-{name}.jsonl").read_text("utf-8").splitlines():
        line = course.take(json.loads(text))
        if line is not None:
            lines.append(line.task)
    return course, lines


def test_each_task_that_ran_well_is_one_line_and_skipped_ones_are_none():
    course, lines = play("failed")
    assert lines == ["Fine", "Changed", "Many", "Rescue", "Secret"]
    assert course.changes == 4


def test_the_failure_is_the_last_one_that_was_neither_ignored_nor_rescued():
    course, _ = play("failed")
    assert course.is_complete
    assert course.is_failed
    assert course.failure is not None
    assert course.failure.task == "Loop that fails"
    assert course.failure.cause == "exit code 1 of test b = a"
    assert not course.failure.is_unreachable


def test_an_unreachable_machine_is_told_apart():
    course, _ = play("unreachable")
    assert course.is_failed
    assert course.failure is not None
    assert course.failure.is_unreachable
    assert course.failure.cause == "connect to host 127.0.0.1 port 1: Connection refused"


@pytest.mark.parametrize(
    ("said", "is_unreachable"),
    [
        ("mkdir: cannot create directory '/root/x': No space left on device", False),
        ("Failed to create temporary directory. In some cases, you may have been able to", False),
        ("Failed to connect to the host via ssh: Connection timed out", True),
    ],
)
def test_a_machine_that_cannot_be_written_on_is_reached(said, is_unreachable):
    course = Course()
    event = {"task": "Copy", "host": "machine", "res": {"unreachable": True, "msg": said}}
    course.take({"event": "runner_on_unreachable", "event_data": event})
    assert course.failure is not None
    assert course.failure.is_unreachable is is_unreachable


def test_a_play_that_never_began_has_its_error_from_what_was_said():
    course, lines = play("no-playbook")
    assert lines == []
    assert not course.is_complete
    assert course.failure is None
    assert course.errors[0].startswith("couldn't resolve module/action 'nope'")


def test_the_cause_stands_without_ansibles_own_words():
    course, _ = play("no-file")
    assert course.failure is not None
    assert course.failure.cause.startswith("Could not find or access '/nonexist'")


@pytest.mark.parametrize(
    ("result", "cause"),
    [
        ({"msg": "non-zero return code", "stderr": "no space\nleft", "rc": 1}, "no space left"),
        ({"msg": "non-zero return code", "rc": 3, "cmd": ["a", "b"]}, "exit code 3 of a b"),
        ({"msg": "Task failed: Module failed: it broke"}, "it broke"),
        ({"censored": "the output has been hidden"}, "its result is kept secret (no_log)"),
        ({"msg": "MODULE FAILURE: see stdout", "module_stderr": "a\nb"}, "b"),
        ({}, "it gave no reason"),
        ({"msg": "All items completed", "results": [{"unreachable": True, "msg": "gone"}]}, "gone"),
        ({"results": [{"failed": False, "msg": "x"}, {"failed": True, "msg": "y"}]}, "y"),
    ],
)
def test_causes(result, cause):
    assert cause_of(result) == cause


def test_a_long_cause_keeps_its_beginning_and_its_end():
    cause = cause_of({"msg": "begin" + " x" * 2000 + " end"})
    assert cause.startswith("begin")
    assert cause.endswith("end")
    assert len(cause) < 600


def failed(**facts: object) -> Course:
    course = Course()
    course.take({"event": "runner_on_failed", "event_data": {"task": "T", "role": "k3s", **facts}})
    return course


def test_a_next_move_in_a_roles_own_words_is_taken_from_the_message():
    course = failed(res={"msg": "k3s did not start. Next: look at journalctl -u k3s."})
    assert course.failure is not None
    assert course.failure.task == "k3s: T"
    assert course.failure.cause == "k3s did not start"
    assert course.failure.next_move == "look at journalctl -u k3s."


@pytest.mark.parametrize("event", [{}, {"event": "runner_on_ok"}, {"event": "x", "event_data": 3}])
def test_odd_events_are_no_trouble(event):
    Course().take(event)


def test_what_ansible_checks_by_itself_before_a_role_is_no_line():
    task = {"task": "Validating arguments against arg spec 'main' - x", "role": "k3s"}
    course = Course()
    assert course.take({"event": "playbook_on_task_start", "event_data": task}) is None
    assert course.current == ""
    assert course.take({"event": "runner_on_ok", "event_data": {**task, "res": {}}}) is None


@pytest.mark.parametrize(
    ("result", "kept"),
    [
        ({"changed": True, "stdout": '{\n  "kept": "/root/a-reset"\n}'}, "/root/a-reset"),
        ({"stdout": '{"kept": null}'}, None),
        ({"stdout": '{"kept": "/etc", "changed": true}'}, None),
        ({"stdout": "{kept"}, None),
        ({"censored": "the output has been hidden"}, None),
    ],
)
def test_where_a_reset_keeps_the_files_is_heard_of_the_lab_in_the_machine(result, kept):
    course = Course()
    for told in (result, {"stdout": "other"}):
        course.take({"event": "runner_on_ok", "event_data": {"task": "T", "res": told}})
    assert course.kept == kept
