"""What a machine says of itself, and for what it is refused: everything at once."""

import subprocess
from dataclasses import replace
from pathlib import Path

import pytest

from provision.errors import TargetError
from provision.vm import preflight
from provision.vm.bundle.checking import Artefact, Bundle, Kind
from provision.vm.machine import Machine
from provision.vm.preflight import Facts, problems, require_fit, understand

BUNDLE = Bundle(Path("/b"), "linux/amd64", "debian-12", (Artefact("a", Kind.DEB, "1", "a", "0"),))
MACHINE = Machine("box", "192.0.2.1", 22, "root", Path("/x"))
GOOD = Facts(
    os="debian-12",
    like="",
    arch="x86_64",
    python="3.11",
    has_systemd=True,
    is_root=True,
    clock_off=0,
    memory=4000,
    disk=20000,
    k3s="none",
    is_port_taken=False,
)


def said(facts: Facts) -> str:
    return "\n".join(f"{what} / {move}" for what, move in problems(facts, BUNDLE))


def test_a_good_machine_is_taken():
    assert said(GOOD) == ""
    require_fit(MACHINE, GOOD, BUNDLE)


@pytest.mark.parametrize(
    ("change", "words"),
    [
        ({"os": "alpine-3.20"}, "it runs alpine-3.20, not Debian or Ubuntu with systemd"),
        ({"has_systemd": False}, "not Debian or Ubuntu with systemd"),
        ({"os": "debian-13"}, "it runs debian-13, and the bundle is for debian-12"),
        ({"os": "mint-22", "like": "ubuntu debian"}, "it runs mint-22, and the bundle is for"),
        ({"arch": "aarch64"}, "it is linux/arm64, and the bundle is for linux/amd64"),
        ({"python": ""}, "it has no Python 3"),
        ({"clock_off": -300}, "its clock is -300 s off"),
        ({"memory": 1000}, "it has 1000 MiB of memory"),
        ({"disk": 900}, "900 MiB are free in /var/lib; 5000 are needed"),
        ({"disk": 400, "k3s": "ours"}, "400 MiB are free in /var/lib; 500 are needed"),
        ({"k3s": "foreign"}, "a k3s is there already that this lab did not install"),
        ({"is_port_taken": True}, "port 6443 is taken"),
    ],
)
def test_each_fault_has_its_words(change, words):
    found = said(replace(GOOD, **change))
    assert words in found
    assert found.count("\n") == 0


def test_all_faults_are_told_at_once():
    facts = replace(GOOD, python="", memory=1, k3s="foreign")
    with pytest.raises(TargetError) as error:
        require_fit(MACHINE, facts, BUNDLE)
    for words in ("no Python 3", "MiB of memory", "that k3s is left alone"):
        assert words in str(error.value.what)
    assert "Nothing was changed" in str(error.value.next_move)


def test_what_the_script_says_here_is_understood():
    """The real script, on this machine."""
    command = ["sh", "-s", "/nonexistent/mark", "6443"]
    text = preflight._SCRIPT
    done = subprocess.run(command, input=text, capture_output=True, text=True, check=True)
    facts = understand(done.stdout, 0.0, 4e9)
    assert facts.python.startswith("3.")
    assert facts.os.count("-") == 1
    assert facts.memory > 100
    assert facts.disk > 0
    assert facts.k3s in ("none", "foreign")
    assert facts.clock_off == 0


def test_a_clock_is_off_only_beyond_the_time_that_the_answer_took():
    assert understand("time 1000", 990.0, 1005.0).clock_off == 0
    assert understand("time 1400", 990.0, 1010.0).clock_off == 400
    assert understand("", 990.0, 1010.0).clock_off == -1000


def test_wheels_fit_one_system_only_even_without_packages():
    wheels = replace(BUNDLE, artefacts=(Artefact("a", Kind.WHEEL, "1", "a", "0"),))
    found = list(problems(replace(GOOD, os="ubuntu-24.04"), wheels))
    assert "the bundle is for debian-12" in str(found[0][0])
