"""Where things are, as `lab status` tells it of a place that lives in a machine."""

from pathlib import Path
from types import SimpleNamespace

import pytest

from lab.catalog import load_lab
from lab.commands.looking import _tell_status
from lab.console import open_console
from lab.places import Place
from lab.text import Speech
from provision.target import ComponentStatus, TargetInfo, TargetStatus

FOLDER = Path("/root/gsb-kueue")


def rows(home: Path, capsys: pytest.CaptureFixture[str], *, is_open: bool) -> dict[str, str]:
    """What stands behind each label."""
    machine = SimpleNamespace(name="root@192.0.2.10")
    target = SimpleNamespace(
        is_here=False, machine=lambda: machine, port=lambda _: 21007, is_running=lambda _: is_open
    )
    info = TargetInfo("vm", "kueue_quota", home / "k", home / "g", FOLDER, "ssh://machine", {})
    component = ComponentStatus("machine", True, True, None, None, "", home / "log")
    place = Place(load_lab("kueue_quota"), home, FOLDER, target)  # type: ignore[arg-type]
    console = open_console({"LAB_HOME": str(home)}, Speech("en"))
    _tell_status(console, place, TargetStatus(True, (component,), info))
    lines = capsys.readouterr().out.splitlines()
    return {line[2:13].strip(): line[13:].strip() for line in lines if line.startswith("  ")}


def test_the_machine_its_folder_and_the_open_page_are_named(tmp_path, capsys):
    found = rows(tmp_path, capsys, is_open=True)
    assert found["machine"] == "root@192.0.2.10"
    assert found["your folder"] == "/root/gsb-kueue, in the machine"
    assert found["page"] == "http://127.0.0.1:21007/learn"


def test_a_page_that_is_not_open_has_no_address(tmp_path, capsys):
    assert "page" not in rows(tmp_path, capsys, is_open=False)
