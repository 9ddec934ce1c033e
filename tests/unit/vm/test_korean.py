"""What a Korean reader is told of a machine: no English sentence stands within a Korean one."""

import os
import re
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace

import pytest

from lab.commands.remoting import destroy_question
from lab.text import Speech
from provision.errors import LabError
from provision.message import Message
from provision.packages import pip_reason
from provision.vm.bringing_up import Work
from provision.vm.bundle.checking import Bundle, read_bundle
from provision.vm.choosing import Choices, keep_choices
from provision.vm.machine import Machine
from provision.vm.machines.qemu.process import start
from provision.vm.machines.qemu.tools import find_tools, last_line
from provision.vm.playing import Played
from provision.vm.preflight import Facts, require_fit
from provision.vm.settings import read_settings

# Two English words in a row, of small letters: values and names of programs stand alone.
ENGLISH = re.compile(r"\b[a-z]+ [a-z]+\b")
GOOD = Facts("debian-12", "", "x86_64", "3.11", True, True, 0, 4000, 9000, "none", False)
MACHINE = Machine("box", "192.0.2.1", 22, "root", Path("/x/ssh_config"))


def korean(message: Message) -> str:
    """The sentence in Korean, without English but for commands that are to be typed."""
    text = Speech("ko").of(message)
    assert not ENGLISH.search(re.sub(r"\b(make|apt-get) [a-z]+( [a-z]+)?", "", text)), text
    return text


def refused(action) -> str:
    with pytest.raises(LabError) as error:
        action()
    return korean(error.value.what)


def test_several_faults_of_a_machine():
    facts = replace(GOOD, python="", memory=1, k3s="foreign")
    bundle = Bundle(Path("/b"), "linux/amd64", "debian-12", ())
    assert refused(lambda: require_fit(MACHINE, facts, bundle)).count("\n- ") == 3


@pytest.mark.parametrize(
    "text",
    ["[vm]\nmachine = 'lima'", "vm = 3", "x = 1\n" * 60000, "a = " + "[" * 5000],
    ids=["value", "table", "large", "deep"],
)
def test_a_wrong_setting(tmp_path, text):
    file = tmp_path / "lab.toml"
    file.write_text(text)
    assert str(file) in refused(lambda: read_settings({"LAB_TOML": str(file)}))


@pytest.mark.parametrize("text", ["a: &a 1\nb: *a", "[" * 20, "x" * 2_000_000, None])
def test_an_index_that_is_not_read(tmp_path, text):
    if text is None:
        os.mkfifo(tmp_path / "bundle.yaml")
    else:
        (tmp_path / "bundle.yaml").write_text(text)
    assert "bundle.yaml" in refused(lambda: read_bundle(tmp_path))


def test_programs_that_fail_without_a_word_or_are_not_there(tmp_path):
    assert "qemu-system-x86_64, qemu-img" in refused(lambda: find_tools(str(tmp_path), "x86_64"))
    refused(lambda: start(("true",), tmp_path / "qemu.pid"))
    korean(last_line(b""))
    korean(pip_reason(""))


def test_the_roles_and_their_seconds():
    told: list[Message] = []
    work = SimpleNamespace(say=told.append)
    Work._tell_roles(work, Played(2, {"k3s": 3.2, "kueue": 40.0, "gpus": 1.0}, ()))  # type: ignore[arg-type]
    assert "k3s 3초, kueue 40초, gpus 1초" in korean(told[0])


@pytest.mark.parametrize(("maker", "fate"), [("qemu", "기계를"), ("ssh", "기계는 그대로")])
def test_what_becomes_of_the_machine_is_asked_before_it_is_destroyed(tmp_path, maker, fate):
    keep_choices(tmp_path, Choices(maker=maker))
    lab = SimpleNamespace(slug="kueue_quota")
    place = SimpleNamespace(home=tmp_path, workspace=Path("/root/w"), lab=lab)
    question = destroy_question(place)  # type: ignore[arg-type]
    assert ("The machine stays" in str(question)) == (maker == "ssh")
    assert fate in korean(question)
