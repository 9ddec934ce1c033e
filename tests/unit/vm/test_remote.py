"""The lab in a machine, asked over SSH; `ssh` is a program of the test."""

import json

import pytest

from lab.model import Step
from lab.players import PlayerThere
from lab.remote import Inside
from lab.solving import Answer, answer_from_json, answer_to_json
from provision.errors import LabError
from provision.vm.machine import Machine


@pytest.fixture
def inside(tmp_path, monkeypatch):
    """A lab in a machine whose ssh says what the test has it say."""
    folder = tmp_path / "bin"
    folder.mkdir()
    monkeypatch.setenv("PATH", f"{folder}:/usr/bin:/bin")

    def make(script, user="root"):
        (folder / "ssh").write_text(f'#!/bin/sh\necho "$*" > {tmp_path}/argv\n{script}\n')
        (folder / "ssh").chmod(0o755)
        machine = Machine("box", "10.0.0.1", 22, user, tmp_path / "ssh_config")
        return Inside(machine, "kueue_quota", "ko")

    (tmp_path / "known_hosts").write_text("machine ssh-ed25519 AAAA\n")
    (folder / "ssh-keyscan").write_text("#!/bin/sh\n")
    (folder / "ssh-keyscan").chmod(0o755)
    return make


def told(tmp_path):
    return (tmp_path / "argv").read_text()


def test_words_go_on_standard_input_only(inside, tmp_path):
    there = inside(f"cat > {tmp_path}/words; echo '{{'; echo '\"kept\": null}}'")
    answer = Answer({"cq.yaml": "secret: 1\n"}, "echo hello\n", ("Job train-1 team-a",))
    step = Step(2, "x", {"en": "x"}, 1, "f", ("cq.yaml",), (), 0)
    assert PlayerThere(there).play(step, answer) is None
    words = json.loads((tmp_path / "words").read_text())
    assert answer_from_json(words) == answer
    assert words["step"] == 2
    assert "secret" not in told(tmp_path)
    assert "LAB_LANG=ko LAB=kueue_quota /usr/local/bin/lab here play" in told(tmp_path)


def test_a_login_that_is_not_roots_asks_as_root(inside, tmp_path):
    inside("echo '{'; echo '}'", user="maker").ask("launch", {}, within=5)
    assert "sudo -n -H env" in told(tmp_path)


def test_what_start_up_files_print_is_passed_over(inside):
    answer = inside("echo welcome; echo '{'; echo '\"port\": 1}'").ask("launch", {}, within=5)
    assert answer == {"port": 1}


def test_an_error_there_is_told_in_this_readers_words(inside):
    error = {
        "error": {
            "what": {"template": "{a} is full", "values": {"a": "disk"}},
            "next": {"template": "Make room.", "values": {}},
        }
    }
    there = inside(f"cat > /dev/null; echo '{json.dumps(error)}'; exit 3")
    with pytest.raises(LabError) as caught:
        there.ask("play", {}, within=5)
    assert caught.value.what.template == "{a} is full"
    assert str(caught.value.next_move) == "Make room."


@pytest.mark.parametrize(
    ("script", "words"),
    [
        ("echo 'Connection refused' >&2; exit 255", ["does not answer over SSH", "refused"]),
        ("echo 'Host key verification failed.' >&2; exit 255", ["box answers with another host"]),
        ("echo 'root@h: Permission denied' >&2; exit 255", ["box refuses the login root"]),
        ("echo 'lab: not found' >&2; exit 127", ["127", "not found"]),
        ("echo '[1]'", ["ended with 0"]),
        ("echo '{'; echo '}'; exit 3", ["ended with 3"]),
        ("exec sleep 5", ["did not end"]),
    ],
)
def test_what_is_no_answer_is_no_success(inside, script, words):
    with pytest.raises(LabError) as caught:
        inside(script).ask("play", {}, within=1)
    assert all(word in str(caught.value.what) for word in words), str(caught.value.what)


def test_a_host_key_that_was_taken_away_is_not_called_another_one(inside, tmp_path):
    there = inside("echo 'Host key verification failed.' >&2; exit 255")
    (tmp_path / "known_hosts").unlink()
    with pytest.raises(LabError, match="The host key of box is not known here") as caught:
        there.ask("play", {}, within=5)
    assert "make provision" in str(caught.value.next_move)


def test_a_shell_is_opened_on_a_terminal_and_a_dead_machine_is_told_before(inside):
    ssh, flag, *rest = inside("exit 0").terminal("shell")
    assert (ssh, flag) == ("ssh", "-t")
    assert rest[-1].endswith("/usr/local/bin/lab shell")
    with pytest.raises(LabError, match="does not answer"):
        inside("exit 255").terminal("shell")


@pytest.mark.parametrize("name", ["../x", "a/b", "/etc/passwd", "..", ""])
def test_an_answer_lays_nothing_outside_the_workspace(name):
    data = {"step": 1, "files": {name: "x"}, "commands": "", "replaces": []}
    with pytest.raises(ValueError):  # noqa: PT011  (its text is the name, or nothing)
        answer_from_json(data)


def test_an_answer_comes_back_as_it_was():
    answer = Answer({"a.yaml": "한글\n"}, "echo $HOME\n", ("Job a b",))
    one = Step(1, "x", {"en": "x"}, 1, "f", (), (), 0)
    assert answer_from_json(json.loads(json.dumps(answer_to_json(one, answer)))) == answer
