"""The learner's files as the page shows them: hostile ones, too."""

import os
import socket
import time

import pytest

from checks.kit.expect import mismatch, plain
from checks.kit.files import TextFile
from checks.kit.manifests import place as looked_at
from checks.outcome import CheckResult, Outcome, StepResult, StepVerdict
from lab.progress import StepRecord
from lab.standing import Standing
from lab.text import Speech
from lab.verdicts import PAGE, VerdictStore
from lab.web.files import (
    LARGEST,
    MOST_FILES,
    MOST_LINES,
    list_files,
    marks_of,
    read_file,
    show_file,
    to_lines,
)
from lab.web.state import read_known
from provision.errors import UsageError
from provision.message import say

EN, KO = Speech("en"), Speech("ko")


def refusal(folder, name):
    with pytest.raises(UsageError) as refused:
        read_file(folder, name)
    return str(refused.value.what)


def test_only_plain_files_of_the_folder_itself_are_listed(tmp_path):
    (tmp_path / "b.yaml").write_text("b")
    (tmp_path / "a 글.txt").write_text("aa")
    (tmp_path / "folder").mkdir()
    (tmp_path / "link").symlink_to("b.yaml")
    os.mkfifo(tmp_path / "pipe")
    (tmp_path / os.fsdecode(b"\xff.txt")).write_text("")
    files = list_files(tmp_path)
    assert [(file["name"], file["size"]) for file in files] == [("a 글.txt", 2), ("b.yaml", 1)]
    assert files[0]["modified"].endswith("+00:00")


def test_there_is_an_end_to_the_list(tmp_path):
    for number in range(MOST_FILES + 5):
        (tmp_path / f"{number:04}").touch()
    assert len(list_files(tmp_path)) == MOST_FILES
    assert list_files(tmp_path / "none") == []


@pytest.mark.parametrize(
    "name", ["", ".", "..", "../secret", "/etc/passwd", "a/b", "a\0b", "\udcff"]
)
def test_only_a_name_is_taken(tmp_path, name):
    (tmp_path.parent / "secret").write_text("s")
    assert "that is no name of a file" in refusal(tmp_path, name)


def test_what_is_no_plain_file_is_named_and_not_opened(tmp_path):
    (tmp_path / "target").write_text("x")
    (tmp_path / "link").symlink_to("target")
    (tmp_path / "out").symlink_to("/etc/passwd")
    (tmp_path / "folder").mkdir()
    os.mkfifo(tmp_path / "pipe")
    with socket.socket(socket.AF_UNIX) as server:
        server.bind(str(tmp_path / "sock"))
        assert "a device or a socket" in refusal(tmp_path, "sock")
    assert "a symbolic link, which is not followed" in refusal(tmp_path, "link")
    assert "a symbolic link" in refusal(tmp_path, "out")
    assert "a directory" in refusal(tmp_path, "folder")
    assert "a named pipe (FIFO)" in refusal(tmp_path, "pipe")
    assert "No such file" in refusal(tmp_path, "none")


def test_a_file_that_is_too_large_says_how_large(tmp_path):
    (tmp_path / "large").write_bytes(b"x" * (LARGEST + 1))
    assert f"{LARGEST + 1} bytes; {LARGEST} is the most" in refusal(tmp_path, "large")
    (tmp_path / "large").write_bytes(b"x" * LARGEST)
    assert len(read_file(tmp_path, "large")) == LARGEST


def test_every_line_is_a_span_and_everything_is_escaped(tmp_path):
    (tmp_path / "x.yaml").write_text('a: <script>alert("&")</script>\n\n# done\nlast: 1')
    html = show_file(tmp_path, "x.yaml", [], EN)["html"]
    lines = html.split("\n")
    assert len(lines) == 4
    assert all(line.startswith('<span class="line">') for line in lines)
    assert all(line.count("<span") == line.count("</span>") for line in lines)
    assert "<script" not in html
    assert "style=" not in html
    assert "&lt;script&gt;" in html


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("x.yaml", 'a: "two\n  lines"\nb: |\n  more\n  text\n'),
        ("x.json", '{"a": [1,\n2]}\n'),
        ("x.sh", "cat <<E\na\nb\nE\n"),
        ("Makefile", "a:\n\techo a \\\n\t  b\n"),
        ("x.md", "# a\n```sh\nb\n```\n"),
        ("x.txt", "\n\n\n"),
        ("x", "one"),
        ("x.py", '"""a\nb"""\n'),
    ],
)
def test_lines_stay_lines_in_every_kind_of_file(name, text):
    lines = to_lines(text, name).split("\n")
    assert len(lines) == len(text.removesuffix("\n").split("\n"))
    assert all(line.count("<span") == line.count("</span>") for line in lines)


@pytest.mark.parametrize("name", ["x.yaml", "x.json", "x.sh", "Makefile", "x.md", "x.py", "x.txt"])
@pytest.mark.parametrize("piece", ["%", "*", "\n", " ", "a: ", "[{", '"', "_a", "\\", "&a "])
def test_no_content_takes_long(name, piece):
    for text in (piece * LARGEST, "\n".join([piece * (300 // len(piece))] * 1000)):
        began = time.process_time()
        to_lines(text[:LARGEST], name)
        assert time.process_time() - began < 3


@pytest.mark.parametrize("content", [b"\xff\xfe\x00a", b"a\0b"])
def test_what_is_no_text_says_so(tmp_path, content):
    (tmp_path / "x").write_bytes(content)
    shown = show_file(tmp_path, "x", [], KO)
    assert shown["html"] == ""
    assert "NUL" in shown["problem"]


def test_there_is_an_end_to_the_lines(tmp_path):
    (tmp_path / "x").write_text("a\n" * (MOST_LINES + 5))
    shown = show_file(tmp_path, "x", [], EN)
    assert shown["html"].count('<span class="line">') == MOST_LINES
    assert shown["problem"] == f"Only the first {MOST_LINES} lines are shown."


def test_odd_bytes_and_line_ends_are_shown_as_well_as_can_be(tmp_path):
    (tmp_path / "x").write_bytes(b"\xef\xbb\xbfa\r\nb\xff\rc")
    shown = show_file(tmp_path, "x", [], EN)
    assert shown["html"].split("\n")[1] == '<span class="line">b\N{REPLACEMENT CHARACTER}</span>'
    assert len(shown["html"].split("\n")) == 3
    assert shown["problem"] is None


def test_the_checks_line_is_marked_with_what_was_found(place):
    path = place.workspace / "waiting.txt"
    file = TextFile("waiting.txt", path, "x", 1, 0)
    wheres = [looked_at(file, 3), looked_at(file, 2, "spec.x"), plain(path), plain("/other/file")]
    checks = tuple(
        CheckResult(
            f"c{number}",
            say("One"),
            Outcome.FAILED,
            finding=mismatch(where, say("b"), say("{n} wrong", n=number), say("d")).finding,
        )
        for number, where in enumerate(wheres)
    )
    result = StepResult(5, checks, 1, 0.1)
    step = place.lab.step(5)
    said = Standing(step, StepVerdict.NOT_YET, False, None, result, StepRecord())
    VerdictStore(place.verdicts).put(said, by=PAGE)
    marks = marks_of(read_known(place), path)
    assert [(mark.line, str(mark.text)) for mark in marks] == [
        (3, "0 wrong"),
        (2, "1 wrong"),
        (0, "2 wrong"),
    ]
