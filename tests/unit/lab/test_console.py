"""What the terminal is told: each stage of work once."""

import builtins
from dataclasses import replace

import pytest

from lab.cli import INTERRUPTED, run
from lab.console import open_console
from lab.text import Speech
from provision.errors import UsageError
from provision.message import say
from provision.target import Progress


def test_the_end_of_a_stage_is_not_told_again(capsys):
    console = open_console({}, Speech("en"))
    for stage, seconds, is_done in (
        ("stopping", 0.0, False),
        ("stopping", 1.5, True),
        ("etcd is ready", 2.0, True),
        ("stopping", 3.0, False),
    ):
        console.tell_progress(Progress(say("{stage}", stage=stage), seconds, is_done))
    told = [line.split(" s  ") for line in capsys.readouterr().out.splitlines()]
    assert [(float(seconds), stage) for seconds, stage in told] == [
        (0.0, "stopping"),
        (2.0, "etcd is ready"),
        (3.0, "stopping"),
    ]


@pytest.mark.parametrize(
    ("answer", "code"),
    [("n", 2), ("", 2), ("maybe", 2), (EOFError(), 2), (KeyboardInterrupt(), INTERRUPTED)],
)
def test_whoever_does_not_say_yes_is_told_that_nothing_was_changed(
    tmp_path, monkeypatch, capsys, answer, code
):
    def said(prompt):
        if isinstance(answer, BaseException):
            raise answer
        return answer

    def opened(environment, speech):
        return replace(open_console(environment, speech), is_interactive=True)

    monkeypatch.setattr(builtins, "input", said)
    monkeypatch.setattr("lab.cli.open_console", opened)
    environment = {"LAB_HOME": str(tmp_path), "LAB_CACHE": str(tmp_path)}
    assert run(["cache", "--prune"], environment) == code
    told = capsys.readouterr()
    assert told.out.endswith("Nothing was changed.\n")
    assert told.err == ""


def test_a_value_of_several_parts_is_wrapped_and_a_command_is_not(capsys):
    console = replace(open_console({}, Speech("en")), columns=40)
    parts = [f"part-{number} v1.2.{number}" for number in range(6)]
    command = "export KUBECONFIG=/" + "long/" * 10
    console.tell_rows(((say("versions"), parts), (say("kubeconfig"), command)))
    *lines, last = capsys.readouterr().out.splitlines()
    assert max(map(len, lines)) <= 40
    assert " ".join(" ".join(lines).split()) == "versions " + ", ".join(parts)
    assert last.endswith(command)


def test_without_a_terminal_the_question_comes_after_the_reason(capsys):
    environment = {"LAB_HOME": "/nowhere", "LAB_CACHE": "/nowhere"}
    console = replace(open_console(environment, Speech("en")), is_interactive=False)
    with pytest.raises(UsageError, match=r"There is no terminal to ask on: Really\?"):
        console.require_agreement(say("Really?"))
