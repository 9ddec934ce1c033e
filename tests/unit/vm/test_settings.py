"""lab.toml and the environment: what is read, what is refused, and in which words."""

import os
import re
import tomllib
from pathlib import Path

import pytest

from provision.errors import UsageError
from provision.vm.settings import KEYS, VmSettings, read_settings

ROOT = Path(__file__).parents[3]
WHOLE = """
[vm]
machine = "ssh"
bundle = "parts"
within = 600
idle = 60
[vm.ssh]
host = "root@192.0.2.1"
key = "~/.ssh/lab"
[vm.qemu]
cpus = 4
memory = "6G"
disk = 16384
image = "a.qcow2"
image_checksum = "sha256:00"
accelerator = "tcg"
[gpus]
provider = "extended-resource"
"""


def read(tmp_path: Path, text: str = "", **environment: str) -> VmSettings:
    file = tmp_path / "lab.toml"
    file.write_text(text, encoding="utf-8")
    return read_settings({"LAB_TOML": str(file), "HOME": "/home/somebody", **environment})


def refused(tmp_path: Path, text: str = "", **environment: str) -> str:
    with pytest.raises(UsageError) as error:
        read(tmp_path, text, **environment)
    assert error.value.next_move is not None
    return f"{error.value.what} {error.value.next_move}"


def test_without_anything_the_defaults_hold(tmp_path):
    assert read(tmp_path) == VmSettings()


def test_every_key_of_the_file_is_read(tmp_path):
    found = read(tmp_path, WHOLE)
    assert (found.maker, found.gpus) == ("ssh", "extended-resource")
    assert (found.within, found.idle) == (600, 60)
    assert found.ssh.host == "root@192.0.2.1"
    assert (found.qemu.cpus, found.qemu.memory, found.qemu.disk) == (4, 6144, 16384)
    assert (found.qemu.image, found.qemu.image_checksum) == ("a.qcow2", "sha256:00")
    assert found.qemu.accelerator == "tcg"


def test_paths_count_from_the_file_and_from_home(tmp_path):
    found = read(tmp_path, WHOLE)
    assert found.bundle == tmp_path / "parts"
    assert found.ssh.key == Path("/home/somebody/.ssh/lab")


def test_the_environment_comes_first_and_an_empty_variable_says_nothing(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    found = read(tmp_path, WHOLE, VM="qemu", VM_MEMORY="3G", VM_CPUS="1", GPUS="", BUNDLE="mine")
    assert (found.maker, found.qemu.memory, found.qemu.cpus) == ("qemu", 3072, 1)
    assert found.gpus == "extended-resource"
    assert found.bundle == tmp_path / "mine"


@pytest.mark.parametrize(
    ("text", "key", "near"),
    [
        ("[vm]\nmachin = 'ssh'", "vm.machin", "vm.machine"),
        ("[vm.qemu]\nmemroy = '4G'", "vm.qemu.memroy", "vm.qemu.memory"),
        ("[gpu]\nprovider = 'x'", "gpu.provider", "gpus.provider"),
        ("host = 'root@192.0.2.1'", "host", "vm.ssh.host"),
    ],
)
def test_an_unknown_key_is_refused_with_file_and_nearest_key(tmp_path, text, key, near):
    words = refused(tmp_path, text)
    assert str(tmp_path / "lab.toml") in words
    assert f"the key {key}," in words
    assert f"Did you mean {near}?" in words


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("[vm]\nmachine = 'lima'", "one of qemu, ssh"),
        ("[vm.qemu]\ncpus = 0", "a whole number, 1 or more"),
        ("[vm.qemu]\ncpus = true", "a whole number"),
        ("[vm.qemu]\nmemory = '512M'", "2048M or more"),
        ("[vm.qemu]\ndisk = 'big'", 'a size such as "4G"'),
        ("[vm.ssh]\nhost = 3", "a text in quotes"),
    ],
)
def test_a_wrong_value_is_named_with_its_place(tmp_path, text, expected):
    words = refused(tmp_path, text)
    assert expected in words
    assert f" in {tmp_path / 'lab.toml'} is " in words


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("vm = 3", "vm in"),
        ("[vm.foo]", "the key vm.foo, which is not known"),
        ("[gpus.more]\nx = 1", "the key gpus.more.x"),
        ("zzzzqqqq = 1", "Leave it out"),
        ("a = " + "[" * 5000, "cannot be read"),
        ('[vm]\nbundle = "a\\u0000b"', "without control characters"),
        ("x = 1\n" * 60000, "larger than"),
    ],
)
def test_odd_files_are_refused_in_words(tmp_path, text, expected):
    assert expected in refused(tmp_path, text)


@pytest.mark.parametrize("value", ["9" * 5000, "٣", "-1", "1e3"])
def test_odd_numbers_are_refused_in_words(tmp_path, value):
    words = refused(tmp_path, VM_CPUS=value)
    assert "a whole number" in words
    assert len(words) < 400


def test_a_mark_at_the_head_of_the_file_is_no_trouble(tmp_path):
    (tmp_path / "x.toml").write_bytes(b"\xef\xbb\xbf[vm]\nmachine = 'ssh'\n")
    assert read_settings({"LAB_TOML": str(tmp_path / "x.toml")}).maker == "ssh"


def test_a_pipe_is_not_waited_at(tmp_path):
    os.mkfifo(tmp_path / "pipe")
    with pytest.raises(UsageError, match="not a plain file"):
        read_settings({"LAB_TOML": str(tmp_path / "pipe")})


def test_a_wrong_variable_is_named_by_its_own_name(tmp_path):
    assert "VM_CPUS is many;" in refused(tmp_path, VM_CPUS="many")
    assert "GPUS is some;" in refused(tmp_path, GPUS="some")


def test_a_file_that_is_no_toml_or_is_not_there_is_refused(tmp_path):
    assert "cannot be read" in refused(tmp_path, "[vm")
    with pytest.raises(UsageError, match="There is no file"):
        read_settings({"LAB_TOML": str(tmp_path / "none.toml")})


def test_the_documented_file_has_every_key_with_its_variable_and_default(tmp_path):
    text = (ROOT / "docs" / "lab.toml").read_text("utf-8")
    tables, found = "", {}
    for line in text.splitlines():
        if line.startswith("["):
            tables = line.strip("[]")
        elif match := re.fullmatch(r"# (\w+) = (.+)", line):
            found[f"{tables}.{match[1]}"] = match[2]
    assert found.keys() == KEYS.keys()
    for variable in KEYS.values():
        assert re.search(rf"\({variable}\)$", text, re.MULTILINE), variable
    # Uncommented as it stands, it is a file that is read.
    lines = [re.sub(r"^# (\w+ = )", r"\1", line) for line in text.splitlines()]
    tomllib.loads("\n".join(lines))
    shown = read(tmp_path, "\n".join(lines))
    default = VmSettings()
    assert (shown.within, shown.idle) == (default.within, default.idle)
    for name in ("cpus", "memory", "disk", "accelerator"):
        assert getattr(shown.qemu, name) == getattr(default.qemu, name)


@pytest.mark.parametrize(
    ("environment", "language"),
    [
        ({"LAB_LANG": "ko"}, "ko"),
        ({"LANG": "ko_KR.UTF-8"}, "ko"),
        ({"LANG": "de_DE"}, "en"),
        ({}, "en"),
    ],
)
def test_the_language_is_chosen_as_the_lab_chooses_it(tmp_path, environment, language):
    assert read(tmp_path, **environment).language == language


def test_only_a_key_that_is_said_and_empty_is_dropped(tmp_path):
    (tmp_path / "lab.toml").touch()
    said = {"LAB_TOML": str(tmp_path / "lab.toml")}
    assert not read_settings(said).ssh.is_key_dropped
    assert not read_settings(said | {"KEY": "/k"}).ssh.is_key_dropped
    assert read_settings(said | {"KEY": ""}).ssh.is_key_dropped
