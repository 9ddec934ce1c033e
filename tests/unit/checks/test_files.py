"""Files of the workspace through a real testinfra host: text is read, all else refused by name."""

import os
import socket
import time

import pytest

from checks.kit.files import Files
from checks.kit.host import LARGEST, FileKind, HostFailed, Workplace
from checks.kit.keyvalues import read_key_values
from checks.outcome import CannotTell, Mismatch


@pytest.fixture
def folder(tmp_path):
    folder = tmp_path / "work space's"
    folder.mkdir()
    return folder


@pytest.fixture
def files(folder):
    return Files(Workplace("local://", folder))


def refusal(files, name):
    with pytest.raises(Mismatch) as error:
        files.text(name)
    finding = error.value.finding
    assert name in str(finding.looked_at)
    return str(finding.found)


def test_text_is_read_without_mark_and_carriage_returns(folder, files):
    (folder / "a.txt").write_bytes("\ufeff가\r\nb\rc\n".encode())
    file = files.text("a.txt")
    assert file.text == "가\nb\nc\n"
    assert file.mtime == int((folder / "a.txt").stat().st_mtime)
    assert file.path == folder / "a.txt"


def test_a_file_is_read_once(folder, files):
    (folder / "a.txt").write_text("one")
    assert files.text("a.txt").text == "one"
    (folder / "a.txt").write_text("two")
    assert files.text("a.txt").text == "one"


@pytest.mark.parametrize(
    ("content", "word"),
    [
        (b"", "empty"),
        (b" \n\t\n", "empty"),
        (b"\xff\xfea\0", "UTF-16"),
        (b"\xfe\xff\0a", "UTF-16"),
        (b"a\0b", "NUL"),
        (b"a\nb\xff\n", "line 2"),
        (b"x" * (LARGEST + 1), str(LARGEST + 1)),
        (b"x" * (LARGEST * 8), str(LARGEST * 8)),
    ],
    ids=["empty", "blank", "utf16le", "utf16be", "nul", "latin", "large", "huge"],
)
def test_bytes_that_are_no_text(folder, files, content, word):
    (folder / "a.txt").write_bytes(content)
    assert word in refusal(files, "a.txt")


def test_things_that_are_no_files(folder, files, tmp_path):
    (folder / "d").mkdir()
    os.mkfifo(folder / "p")
    (folder / "l").symlink_to("/etc/passwd")
    (folder / "dangling").symlink_to("nowhere")
    (tmp_path / "secret").write_text("secret")
    (folder / "out").symlink_to(tmp_path)
    assert "directory" in refusal(files, "d")
    assert "pipe" in refusal(files, "p")
    assert "link" in refusal(files, "l")
    assert "link" in refusal(files, "dangling")
    assert "no such file" in refusal(files, "absent")
    assert "outside" in refusal(files, "../secret")
    assert "outside" in refusal(files, "out/secret")


@pytest.mark.parametrize(
    ("wanted", "there"),
    [
        ("flavor.yaml", "flavor.yml"),
        ("flavor.yaml", "flavour.yaml"),
        ("flavor.yaml", "Flavor.yaml"),
        ("flavor.yaml", "flavor.yaml.txt"),
        ("flavor.yaml", "flavor"),
        ("job-1.yaml", "job1.yaml"),
        ("job-1.yaml", "job-1.yml"),
        ("lq.yaml", "LQ.yaml"),
        ("waiting.txt", "wating.txt"),
        ("usage.json", "usage.json.txt"),
    ],
)
def test_a_file_of_a_near_name_is_named(folder, files, wanted, there):
    (folder / there).write_text("x")
    (folder / "other.txt").write_text("x")
    with pytest.raises(Mismatch) as error:
        files.text(wanted)
    finding = error.value.finding
    assert str(finding.found) == f"no such file; there is {there}"
    assert str(finding.next_move) == f"give it the name {wanted}: mv {there} {wanted}"


@pytest.mark.parametrize(
    ("wanted", "there"),
    [
        ("job-1.yaml", "job-2.yaml"),
        ("lq.yaml", "cq.yaml"),
        ("flavor.yaml", ".flavor.yaml.swp"),
        ("flavor.yaml", "flavor.yaml~"),
        ("flavor.yaml", "flavor.bak"),
        ("flavor.yaml", "fla\nvor.yaml"),
        ("flavor.yaml", "$(touch x)flavor.yaml"),
        ("usage.json", "bypass.txt"),
    ],
)
def test_a_file_of_another_name_is_not_named(folder, files, wanted, there):
    (folder / there).write_text("x")
    assert refusal(files, wanted) == "no such file"


def test_very_many_files_beside_an_absent_one_cost_no_second(folder, files):
    for number in range(3000):
        (folder / f"{'n' * 40}{number}").touch()
    start = time.monotonic()
    assert refusal(files, "flavor.yaml") == "no such file"
    assert time.monotonic() - start < 2


def test_a_socket_is_no_file(folder, files, monkeypatch):
    monkeypatch.chdir(folder)
    with socket.socket(socket.AF_UNIX) as listener:
        listener.bind("s")
        assert "socket" in refusal(files, "s")


def test_a_folder_that_is_not_there(tmp_path):
    files = Files(Workplace("local://", tmp_path / "no"))
    assert "folder" in refusal(files, "a.txt")


@pytest.mark.skipif(os.getuid() == 0, reason="root may read everything")
def test_a_file_that_may_not_be_read(folder, files):
    (folder / "a.txt").write_text("x")
    (folder / "a.txt").chmod(0)
    assert "not be read" in refusal(files, "a.txt")


def test_names_reach_no_shell(folder):
    name = 'a\'; $(touch x) "b".txt'
    (folder / name).write_text("fine")
    found = Workplace("local://", folder).read(name)
    assert (found.kind, found.content) == (FileKind.FILE, b"fine")
    assert not (folder / "x").exists()


def test_a_host_that_does_not_answer_is_no_mistake_of_the_learner(folder, monkeypatch):
    monkeypatch.setenv("PATH", "/nowhere")
    workplace = Workplace("local://", folder)
    with pytest.raises(HostFailed):
        workplace.read("a.txt")
    with pytest.raises(CannotTell):
        Files(workplace).text("a.txt")


KEYS = ("suspended", "workload")


@pytest.mark.parametrize(
    "text",
    [
        "suspended=false\nworkload=none\n",
        "# c\n\n suspended = false # yes\nother=1\nWORKLOAD='none'",
        "workload=none\nsuspended=false\nsuspended=false\n",
        'suspended=false\nworkload=none\t# kubectl said so\nsuspended="false"\t#\n',
    ],
)
def test_key_value_lines(folder, files, text):
    (folder / "b.txt").write_text(text)
    values = read_key_values(files.text("b.txt"), KEYS)
    assert {key: value.text for key, value in values.items()} == {
        "suspended": "false",
        "workload": "none",
    }


@pytest.mark.parametrize(
    "text",
    [
        "- suspended=false\n* workload=none\n",
        "> suspended=false,\n> workload=none.\n",
        "`suspended=false`\n\u2022 `workload=none`\n",
    ],
)
def test_marks_of_a_list_and_stops_are_no_content(folder, files, text):
    (folder / "b.txt").write_text(text)
    values = read_key_values(files.text("b.txt"), KEYS)
    assert [values[key].text for key in KEYS] == ["false", "none"]


def test_a_value_that_stands_twice_in_other_case_is_one_value(folder, files):
    (folder / "b.txt").write_text("suspended=false\nsuspended=FALSE\nworkload=none\n")
    assert read_key_values(files.text("b.txt"), KEYS)["suspended"].text == "FALSE"


@pytest.mark.parametrize(
    ("text", "word"),
    [
        ("suspended: false\nworkload: none\n", "workload="),
        ("suspend=false\nworkload=none\n", "suspended="),
        ("suspended=false\nsuspended=true\nworkload=none\n", "suspended="),
        ("suspended\uff1dfalse\nworkload=none\n", "U+FF1D"),
    ],
)
def test_key_value_lines_that_are_off(folder, files, text, word):
    (folder / "b.txt").write_text(text)
    with pytest.raises(Mismatch) as error:
        read_key_values(files.text("b.txt"), KEYS)
    finding = error.value.finding
    assert word in f"{finding.expected} {finding.found} {finding.next_move}"
