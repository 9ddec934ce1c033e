"""What status tells: of the machine, of what runs here, and of what the lab inside says."""

import json
import os
from pathlib import Path

import pytest

from provision.local.running import Running
from provision.local.supervising import Supervisor
from provision.state import new_state
from provision.target import NodeSpec, PlaceSpec
from provision.vm.looking import Watch, fetch_journal
from provision.vm.machine import Machine
from provision.vm.place import VmPlace

ANSWER = {
    "components": [
        {"name": "k3s", "running": True, "ready": True, "version": "v1.36.3+k3s1", "detail": None},
        {"name": "node", "running": True, "ready": False, "detail": "the node is not Ready"},
        {"name": "kueue", "running": False, "ready": False, "detail": None},
        {"name": "page", "running": True, "ready": True, "detail": None},
    ]
}


class Maker:
    """A maker that has a machine already."""

    is_given = True
    remarks = ()

    def __init__(self, machine: Machine | None, *, is_on: bool = True) -> None:
        self._machine, self._is_on = machine, is_on

    def find(self) -> Machine | None:
        return self._machine

    def is_on(self) -> bool:
        return self._is_on


@pytest.fixture
def look(tmp_path, monkeypatch):
    monkeypatch.setenv("PATH", f"{tmp_path}{os.pathsep}{os.environ['PATH']}")
    home = tmp_path / "home"
    node = NodeSpec("n", "8", "16Gi", 4, "")
    spec = PlaceSpec("kueue_quota", home, Path("/root/gsb-kueue"), ("team-a",), (node,))
    machine = Machine("box", "h", 22, "root", tmp_path / "ssh_config")

    def status(script: str, maker: Maker | None = None):
        ssh = tmp_path / "ssh"
        ssh.write_text(f"#!/bin/sh\n{script}\n")
        ssh.chmod(0o755)
        state = new_state("kueue_quota", "vm")
        running = Running(home, state.id, Supervisor(home, home / "no.sock"))
        watch = Watch(VmPlace(spec), running, maker or Maker(machine), state, "en")  # type: ignore[arg-type]
        return {c.name: c for c in watch.components()}

    return status


def saying(answer: object) -> str:
    return f"cat <<'END'\n{json.dumps(answer)}\nEND"


def test_the_machine_comes_first_and_the_lab_inside_tells_of_its_parts(look):
    found = look(saying(ANSWER))
    assert next(iter(found)) == "machine"
    assert found["machine"].is_ready
    assert found["k3s"].is_ready
    assert found["k3s"].version == "v1.36.3+k3s1"
    assert str(found["node"].detail) == "the node is not Ready"
    assert not found["node"].is_ready
    assert not found["kueue"].is_ready
    assert found["page-inside"].is_ready
    assert not found["page-inside"].is_needed
    assert "recorder-inside" not in found


def test_a_machine_that_does_not_answer_is_the_one_cause(look):
    found = look("echo 'ssh: connect to host h port 22: No route to host' >&2; exit 255")
    assert not found["machine"].is_ready
    assert "No route to host" in str(found["machine"].detail)
    for name in ("k3s", "node", "kueue"):
        assert str(found[name].detail) == "the machine cannot be asked"
        assert found[name].is_needed


@pytest.mark.parametrize(
    ("text", "known", "why"),
    [
        ("Host key verification failed.", "machine ssh-ed25519 AAAA", "its host key differs from"),
        ("Host key verification failed.", "", "its host key is not known here"),
        ("root@h: Permission denied (publickey).", "", "it refuses the login root"),
    ],
)
def test_a_machine_that_answers_and_shuts_us_out_is_told_by_its_cause(
    look, tmp_path, text, known, why
):
    (tmp_path / "known_hosts").write_text(known)
    machine = Machine("box", "h", 22, "root", tmp_path / "ssh_config")
    found = look(f"echo '{text}' >&2; exit 255", Maker(machine, is_on=False))
    assert str(found["machine"].detail).startswith(why)


def test_a_machine_without_the_lab_is_told_with_what_helps(look):
    found = look("echo 'sh: lab: not found' >&2; exit 127")
    assert found["machine"].is_ready
    assert "make provision puts it there" in str(found["k3s"].detail)


@pytest.mark.parametrize("answer", [[], 3, {"components": None}, {"components": [{}]}])
def test_an_odd_answer_is_no_crash_and_nothing_is_called_ready(look, answer):
    found = look(saying(answer))
    assert not any(found[name].is_ready for name in ("k3s", "node", "kueue"))


def test_without_a_machine_nothing_is_asked(look):
    found = look("exit 9", Maker(None, is_on=False))
    assert str(found["machine"].detail) == "there is none yet"
    assert not found["machine"].is_running


def test_a_journal_is_copied_when_the_machine_tells_it(look, tmp_path):
    machine = Machine("box", "h", 22, "root", tmp_path / "ssh_config")
    look('echo "$@"')
    fetch_journal(machine, "page-inside", tmp_path / "page.log")
    assert "lab logs --lines=400 -- page" in (tmp_path / "page.log").read_text()
    look("exit 255")
    fetch_journal(machine, "k3s", tmp_path / "none.log")
    assert not (tmp_path / "none.log").exists()
