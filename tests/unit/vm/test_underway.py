"""Work on a machine that was broken off is told of, by status and by doctor."""

import json
import os
import subprocess

import pytest

from lab.cli import run
from provision.state import claim_home, new_state, save_state
from provision.target import ComponentStatus, PlaceSpec
from provision.vm import examining, underway
from provision.vm.choosing import Choices, keep_choices
from provision.vm.machine import Machine, save_machine
from provision.vm.place import VmPlace


def broken_off(home, verb):
    underway.begin(home, verb)
    ended = subprocess.Popen(("true",))
    ended.wait()
    file = home / "underway.json"
    file.write_text(json.dumps({"verb": verb, "pid": ended.pid}))


@pytest.mark.parametrize(
    ("verb", "words"),
    [
        ("provision", "make provision was broken off: run it again and it goes on"),
        ("destroy", "make destroy was broken off: run it again and it goes on, or bring the lab"),
    ],
)
def test_what_was_broken_off_is_told_until_it_is_done(tmp_path, verb, words):
    assert underway.broken_off(tmp_path) is None
    broken_off(tmp_path, verb)
    assert str(underway.broken_off(tmp_path)).startswith(words)
    underway.end(tmp_path)
    assert underway.broken_off(tmp_path) is None


def test_what_is_being_done_is_not_called_broken_off(tmp_path):
    underway.begin(tmp_path, underway.DESTROY)
    assert "make destroy is at work here" in str(underway.broken_off(tmp_path))


@pytest.mark.parametrize("text", ["", "[]", '{"verb": 1}', '{"verb": "x", "pid": "y"}'])
def test_a_note_that_cannot_be_read_is_none(tmp_path, text):
    (tmp_path / "underway.json").write_text(text)
    assert underway.broken_off(tmp_path) is None


def test_status_says_what_goes_on_and_names_no_kubeconfig_that_is_not_there(
    tmp_path, monkeypatch, capsys
):
    monkeypatch.setenv("PATH", f"{tmp_path}{os.pathsep}{os.environ['PATH']}")
    (tmp_path / "ssh").write_text("#!/bin/sh\necho 'sh: lab: not found' >&2; exit 127\n")
    (tmp_path / "ssh").chmod(0o755)
    home = tmp_path / "home" / "kueue_quota"
    claim_home(home, "kueue_quota", "vm")
    save_state(home, new_state("kueue_quota", "vm"))
    keep_choices(home, Choices(maker="ssh"))
    save_machine(home, "ssh", Machine("root@h", "h", 22, "root", home / "machine" / "ssh_config"))
    broken_off(home, "provision")
    environment = {"LAB_HOME": str(tmp_path / "home"), "LAB_CACHE": "/c", "LAB_LANG": "en"}
    assert run(["status"], environment) == 3
    said = capsys.readouterr().out
    assert said.startswith("make provision was broken off: run it again and it goes on")
    assert "was not provisioned" not in said
    assert "kubeconfig" not in said
    assert "/root/gsb-kueue" in said


def test_doctor_has_no_log_for_what_was_never_put_there_and_counts_no_ports(tmp_path, monkeypatch):
    monkeypatch.setattr(examining, "_examine_machine", lambda machine: iter(()))
    place = VmPlace(PlaceSpec("kueue_quota", tmp_path, tmp_path / "w", (), ()))
    machine = Machine("box", "h", 22, "root", tmp_path / "ssh_config")

    def row(name, *, is_on):
        return ComponentStatus(name, is_on, is_on, None, None, "", tmp_path / "log")

    seen = (row("machine", is_on=True), row("k3s", is_on=False))
    broken_off(tmp_path, "provision")
    state = new_state("kueue_quota", "vm")
    found = {f.name: f for f in examining.examine(place, state, machine, seen, set())}
    assert "ports" not in found
    assert "goes on from there" in str(found["place"].next_move)
    assert str(found["component.k3s"].next_move) == "make provision brings it up"
    underway.end(tmp_path)
    found = {f.name: f for f in examining.examine(place, state, machine, seen, set())}
    assert "make logs NAME=k3s" in str(found["component.k3s"].next_move)
