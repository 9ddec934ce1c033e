"""What the terminal is told: each stage of work once."""

from lab.console import open_console
from lab.text import Speech
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
