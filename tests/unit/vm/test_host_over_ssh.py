"""Files of a machine are read over SSH: the same answers as here, and trouble on the way is none.

`ssh` is a program of the test, which runs what it is handed, as sshd's shell does, or fails.
"""

import time

import pytest

from checks.kit import host
from checks.kit.files import Files
from checks.kit.host import FileKind, HostFailed, Workplace
from checks.outcome import CannotTell

RUN = '#!/bin/sh\nfor last; do :; done\nexec sh -c "$last"\n'
SPEC = "ssh://machine?ssh_config=/nowhere/ssh_config&controlpersist=0&timeout=10"


@pytest.fixture
def ssh(tmp_path, monkeypatch):
    """Put a program in the place of ssh."""
    folder = tmp_path / "bin"
    folder.mkdir()
    monkeypatch.setenv("PATH", f"{folder}:/usr/bin:/bin")

    def put(script):
        (folder / "ssh").write_text(script)
        (folder / "ssh").chmod(0o755)

    return put


@pytest.fixture
def workspace(tmp_path):
    folder = tmp_path / "it's a folder"
    folder.mkdir()
    (folder / "cq.yaml").write_bytes("kind: ClusterQueue\nname: 한글 $(id) 'x'\n".encode())
    (folder / "link.yaml").symlink_to("cq.yaml")
    (folder / "sub").mkdir()
    return folder


def test_what_is_read_is_what_is_there(ssh, workspace):
    ssh(RUN)
    place = Workplace(SPEC, workspace)
    found = place.read("cq.yaml")
    assert found.kind is FileKind.FILE
    assert found.content == (workspace / "cq.yaml").read_bytes()
    assert found == Workplace("local://", workspace).read("cq.yaml")
    assert place.read("link.yaml").kind is FileKind.LINK
    assert place.read("sub").kind is FileKind.DIRECTORY
    assert place.read("cq.yml").others == ("cq.yaml", "link.yaml", "sub")
    assert Workplace(SPEC, workspace / "none").read("x").kind is FileKind.NO_FOLDER


def test_a_name_is_a_name_and_no_shell_text(ssh, workspace):
    ssh(RUN)
    place = Workplace(SPEC, workspace)
    assert place.read("$(touch caught); touch caught").kind is FileKind.ABSENT
    assert not (workspace / "caught").exists()


def test_what_start_up_files_print_is_passed_over(ssh, workspace):
    ssh(RUN.replace("exec", "echo welcome; echo file 1 2;\nexec"))
    found = Workplace(SPEC, workspace).read("cq.yaml")
    assert found.content == (workspace / "cq.yaml").read_bytes()


@pytest.mark.parametrize(
    ("script", "reason"),
    [
        ('echo "ssh: connect to host x port 22: Connection refused" >&2; exit 255', "refused"),
        ('echo "Host key verification failed." >&2; exit 255', "verification"),
        ("echo oops >&2; exit 126", "126"),
        ("exit 0", "exit code 0"),
    ],
)
def test_trouble_on_the_way_is_not_the_learners(ssh, workspace, script, reason):
    ssh(f"#!/bin/sh\n{script}\n")
    with pytest.raises(HostFailed) as caught:
        Workplace(SPEC, workspace).read("cq.yaml")
    assert reason in str(caught.value)
    with pytest.raises(CannotTell):
        Files(Workplace(SPEC, workspace)).text("cq.yaml")


def test_a_connection_that_hangs_is_given_up(ssh, workspace, monkeypatch):
    ssh("#!/bin/sh\nexec sleep 4\n")
    monkeypatch.setattr(host, "_ANSWER_SECONDS", 0.5)
    began = time.monotonic()
    with pytest.raises(HostFailed, match="no answer"):
        Workplace(SPEC, workspace).read("cq.yaml")
    assert time.monotonic() - began < 3


def test_half_an_answer_is_none(ssh, workspace):
    ssh(RUN.replace('exec sh -c "$last"', 'sh -c "$last" | head -c 20'))
    with pytest.raises(HostFailed):
        Workplace(SPEC, workspace).read("cq.yaml")
