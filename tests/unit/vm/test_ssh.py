"""Contact with a given machine, through stand-ins for ssh that are slow, hang or refuse."""

import base64
import hashlib
import os
import stat
import sys
import time
from pathlib import Path

import pytest

from provision.errors import LabError, TargetError, TimedOut, UsageError
from provision.settings import Settings
from provision.target import silent
from provision.vm.contacting import fingerprint, is_worth_waiting
from provision.vm.machine import Done, Machine, load_machine, run
from provision.vm.machines import ssh as maker_module
from provision.vm.machines.ssh import SshMaker, read_login
from provision.vm.settings import SshSettings, VmSettings

KEY = "ssh-ed25519 " + base64.b64encode(b"the host key of a test").decode()
OTHER = "ssh-ed25519 " + base64.b64encode(b"another host key").decode()


@pytest.fixture
def programs(tmp_path, monkeypatch):
    """Lays programs at the front of PATH: a name and the shell text of what it does."""
    folder = tmp_path / "bin"
    folder.mkdir()
    monkeypatch.setenv("PATH", f"{folder}{os.pathsep}{os.environ['PATH']}")

    def lay(name: str, text: str) -> None:
        file = folder / name
        file.write_text(f"#!/bin/sh\n{text}\n", encoding="utf-8")
        file.chmod(0o755)

    lay("ssh-keyscan", f"echo '192.0.2.1 {KEY}'")
    return lay


@pytest.fixture
def home(tmp_path):
    return tmp_path / "home"


def maker(
    home: Path, host: str = "root@192.0.2.1", key: Path | None = None, *, is_key_dropped=False
) -> SshMaker:
    settings = Settings(cache=home.parent / "cache", runtime=home.parent)
    said = SshSettings(host=host, key=key, is_key_dropped=is_key_dropped)
    return SshMaker(home, VmSettings(ssh=said), settings)


def refused(home: Path, **more: object) -> str:
    with pytest.raises(LabError) as error:
        maker(home, **more).ensure(silent)  # type: ignore[arg-type]
    assert error.value.exit_code in (2, 3)
    assert error.value.next_move is not None
    return f"{error.value.what} {error.value.next_move}"


def says(text: str, code: int = 255) -> str:
    return f"echo '{text}' >&2; exit {code}"


def test_first_contact_shows_the_fingerprint_and_keeps_the_key(programs, home):
    programs("ssh", "exit 0")
    told: list[str] = []
    machine = maker(home).ensure(lambda p: told.append(str(p.stage)))
    digest = base64.b64encode(hashlib.sha256(b"the host key of a test").digest()).decode()
    assert any(f"SHA256:{digest.rstrip('=')} (ed25519)" in line for line in told)
    known_hosts = home / "machine" / "known_hosts"
    assert known_hosts.read_text() == f"machine {KEY} 192.0.2.1:22\n"
    assert stat.S_IMODE(known_hosts.stat().st_mode) == 0o600
    assert load_machine(home) == ("ssh", machine)
    assert "StrictHostKeyChecking yes" in machine.ssh_config.read_text()


def test_a_known_key_is_not_asked_for_again(programs, home):
    programs("ssh", "exit 0")
    maker(home).ensure(silent)
    programs("ssh-keyscan", f"echo '192.0.2.1 {OTHER}'")
    told: list[str] = []
    maker(home, host="").ensure(lambda p: told.append(str(p.stage)))
    assert not any("SHA256" in line for line in told)


def test_a_host_that_a_shell_has_set_is_no_matter_once_there_is_a_machine(programs, home):
    programs("ssh", "exit 0")
    maker(home).ensure(silent)
    assert maker(home, host="laptop").ensure(silent).address == "192.0.2.1"


def test_a_changed_key_is_refused_with_both_fingerprints_and_nothing_is_overwritten(programs, home):
    programs("ssh", "exit 0")
    maker(home).ensure(silent)
    programs("ssh-keyscan", f"echo '192.0.2.1 {OTHER}'")
    programs("ssh", says("Host key verification failed."))
    words = refused(home)
    assert f"now {fingerprint(OTHER)}" in words
    assert f"before {fingerprint(KEY)}" in words
    assert f"remove {home / 'machine' / 'known_hosts'}" in words
    assert KEY in (home / "machine" / "known_hosts").read_text()


@pytest.mark.parametrize("host", ["", "root@192.0.2.1", "laptop"])
def test_a_key_that_changed_before_anything_is_asked_is_no_other_machine(programs, home, host):
    programs("ssh", "exit 0")
    maker(home).ensure(silent)
    known_hosts = home / "machine" / "known_hosts"
    known_hosts.write_text(f"machine {KEY}\n")  # written by hand: it is not noted for whom
    programs("ssh-keyscan", f"echo '192.0.2.1 {OTHER}'")
    words = refused(home, host=host)
    assert "root@192.0.2.1 answers with another host key than before" in words
    assert f"remove {known_hosts} and run make provision" in words
    assert "HOST" not in words
    known_hosts.unlink()
    maker(home, host=host).ensure(silent)
    assert OTHER in known_hosts.read_text()


def test_another_machine_at_a_place_that_has_one_is_refused(programs, home):
    programs("ssh", "exit 0")
    maker(home).ensure(silent)
    programs("ssh-keyscan", f"echo '192.0.2.2 {OTHER}'")
    words = refused(home, host="root@192.0.2.2")
    assert "This place lives in root@192.0.2.1" in words
    assert "make destroy" in words


def test_the_same_machine_under_another_address_is_taken(programs, home):
    programs("ssh", "exit 0")
    maker(home).ensure(silent)
    programs("ssh-keyscan", f"echo '192.0.2.9 {KEY}'")
    assert maker(home, host="root@192.0.2.9").ensure(silent).address == "192.0.2.9"


def test_a_host_that_was_mistyped_before_does_not_leave_its_key_to_the_right_one(programs, home):
    programs("ssh", says("Permission denied (publickey)."))
    refused(home)
    programs("ssh-keyscan", f"echo '192.0.2.2 {OTHER}'")
    programs("ssh", "exit 0")
    maker(home, host="root@192.0.2.2").ensure(silent)
    assert OTHER in (home / "machine" / "known_hosts").read_text()


@pytest.mark.parametrize(
    ("answer", "expected"),
    [
        ("root@h: Permission denied (publickey).", "refuses the login root with your own keys"),
        ("ssh: connect to host h port 22: No route to host", "No route to host"),
        ("ssh: connect to host h port 22: Connection refused", "Connection refused"),
        ("Bad owner or permissions on /x/ssh_config", "ssh refuses"),
    ],
)
def test_each_trouble_has_its_own_words(programs, home, answer, expected):
    programs("ssh", says(answer))
    assert expected in refused(home)


def test_a_wrong_key_is_named(programs, home, tmp_path):
    key = tmp_path / "id"
    key.write_text("no key")
    programs("ssh", says('Load key "id": invalid format\nroot@h: Permission denied (publickey).'))
    words = refused(home, key=key)
    assert f"The key {key} cannot be used" in words
    assert "invalid format" in words


def test_what_is_wrong_with_a_key_is_told_without_the_banner_around_it(programs, home, tmp_path):
    key = tmp_path / "id"
    key.write_text("root:x:0:0")
    line = "@" * 59
    programs(
        "ssh",
        f"cat >&2 <<'END'\n{line}\n@         WARNING: UNPROTECTED PRIVATE KEY FILE!          @\n"
        f"{line}\nPermissions 0644 for '{key}' are too open.\n"
        "It is required that your private key files are NOT accessible by others.\n"
        f'This private key will be ignored.\nLoad key "{key}": bad permissions\n'
        "root@h: Permission denied (publickey).\nEND\nexit 255",
    )
    words = refused(home, key=key)
    assert f"The key {key} cannot be used: Permissions 0644 for '{key}' are too open. " in words
    assert "@@" not in words
    assert "UNPROTECTED" not in words


@pytest.fixture
def key(tmp_path) -> Path:
    """A private key that gets in with the programs of `only_with`."""
    file = tmp_path / "right"
    file.write_text("a key")
    return file


def only_with(key: Path | None) -> str:
    """An ssh that lets in who comes with this key, or with none."""
    sign = "IdentityFile" if key is None else f'IdentityFile "{key}"'
    test = f"grep -q '{sign}' \"$2\""
    return (
        f"{'!' if key is None else ''} {test} && exit 0; {says('Permission denied (publickey).')}"
    )


def test_a_key_is_remembered_once_it_got_in(programs, home, key, tmp_path):
    wrong = tmp_path / "wrong"
    wrong.write_text("another")
    programs("ssh", only_with(key))
    assert f"with the key {wrong}" in refused(home, key=wrong)
    assert "with your own keys" in refused(home)
    maker(home, key=key).ensure(silent)
    maker(home, host="").ensure(silent)
    assert f"with the key {wrong}" in refused(home, key=wrong)
    assert str(wrong) not in (home / "machine" / "ssh_config").read_text()
    maker(home, host="").ensure(silent)


def test_an_empty_key_goes_back_to_ones_own_keys_and_lasts(programs, home, key):
    programs("ssh", only_with(key))
    maker(home, key=key).ensure(silent)
    assert "with your own keys" in refused(home, is_key_dropped=True)
    programs("ssh", only_with(None))
    maker(home, is_key_dropped=True).ensure(silent)
    maker(home).ensure(silent)


def test_a_remembered_key_that_is_gone_is_told_with_the_way_back(programs, home, key):
    programs("ssh", "exit 0")
    maker(home, key=key).ensure(silent)
    key.unlink()
    assert "KEY= with nothing for your own keys" in refused(home)
    maker(home, is_key_dropped=True).ensure(silent)
    maker(home).ensure(silent)


def test_a_key_that_is_not_there_is_refused_before_anything_is_asked(programs, home, tmp_path):
    programs("ssh-keyscan", "exit 9")
    assert "There is no private key" in refused(home, key=tmp_path / "none")


def test_a_login_without_a_shell_is_told(programs, home):
    programs("ssh", says("This account is currently not available.", code=1))
    words = refused(home)
    assert "runs no command: This account is currently not available." in words


def test_nobody_at_the_address_is_told_in_the_systems_words(programs, home):
    programs("ssh-keyscan", "exit 1")
    assert "127.0.0.1 does not answer on port 1: Connection refused" in refused(
        home, host="root@127.0.0.1:1"
    )


def test_a_login_that_may_not_become_root_is_told(programs, home):
    programs("ssh", f'case "$*" in *sudo*) {says("sudo: a password is required", 1)};; esac')
    words = refused(home, host="guest@192.0.2.1")
    assert "guest on guest@192.0.2.1 is not root and may not become it" in words
    assert "sudo: a password is required" in words
    assert load_machine(home) is None


@pytest.mark.parametrize(
    ("words", "expected"),
    [
        (says("guest@h: Permission denied (publickey)."), "refuses the login guest"),
        (f'case "$*" in *sudo*) {says("sudo: no", 1)};; esac', "may not become it"),
        (says("Connection refused"), "Connection refused"),
    ],
)
def test_a_wrong_host_takes_no_machine_away(programs, home, tmp_path, monkeypatch, words, expected):
    monkeypatch.setattr(maker_module, "PATIENCE", 0.0)
    programs("ssh", "exit 0")
    machine = maker(home).ensure(silent)
    folder = home / "machine"
    before = {path.name: path.read_bytes() for path in folder.iterdir()}
    key = tmp_path / "id"
    key.write_text("a key")
    programs("ssh", words)
    assert expected in refused(home, host="guest@192.0.2.1", key=key)
    assert {path.name: path.read_bytes() for path in folder.iterdir()} == before
    assert load_machine(home) == ("ssh", machine)


def test_a_machine_that_lets_one_in_and_hangs_is_given_up(programs, home, monkeypatch):
    monkeypatch.setattr(maker_module, "ANSWER_SECONDS", 0.3)
    programs("ssh", 'case "$*" in *"-O exit"*) exit 0;; esac; exec sleep 30')
    began = time.monotonic()
    words = refused(home)
    assert "192.0.2.1 answers on port 22, but lets nobody in within 0.3 s." in words
    assert time.monotonic() - began < 10


def test_a_machine_that_was_had_before_is_waited_for_while_it_boots(programs, home, tmp_path):
    programs("ssh", "exit 0")
    maker(home).ensure(silent)
    seen = tmp_path / "seen"
    refusal = says("ssh: connect to host h port 22: Connection refused")
    programs("ssh", f"[ -e {seen} ] && exit 0; touch {seen}; {refusal}")
    assert maker(home).ensure(silent).name == "root@192.0.2.1"


def test_a_command_that_does_not_end_has_a_limit(programs, home):
    programs("ssh", "exec sleep 30")
    machine = Machine("box", "h", 22, "root", home / "ssh_config")
    with pytest.raises(TimedOut, match=r"box did not end sleep within 0\.2 s"):
        run(machine, ("sleep", "30"), input=None, within=0.2)


def test_without_an_ssh_client_the_next_move_is_to_install_it(home, monkeypatch, tmp_path):
    monkeypatch.setenv("PATH", str(tmp_path))
    machine = Machine("box", "h", 22, "root", home / "ssh_config")
    with pytest.raises(TargetError, match="There is no ssh"):
        run(machine, ("true",), input=None, within=5)


def test_words_of_a_command_reach_the_machine_as_they_are(programs, home):
    # What sshd does with the command: one line, given to the login's shell.
    programs("ssh", 'while [ "$1" != -- ]; do shift; done; shift; exec sh -c "$*"')
    machine = Machine("box", "h", 22, "root", home / "ssh_config")
    odd = ("a b", "it's", "$HOME", '"', ";echo x", "*", "\\", "")
    program = "import sys; print(sys.argv[1:])"
    done = run(machine, (sys.executable, "-c", program, *odd), input=None, within=20)
    assert done.stdout.decode().strip() == str(list(odd))


@pytest.mark.parametrize(
    ("text", "user", "host", "port"),
    [
        ("root@192.0.2.1", "root", "192.0.2.1", 22),
        ("a.b-c@box.example:2222", "a.b-c", "box.example", 2222),
        ("root@[2001:db8::1]:22", "root", "2001:db8::1", 22),
    ],
)
def test_logins(text, user, host, port):
    login = read_login(text)
    assert (login.user, login.host, login.port) == (user, host, port)
    assert read_login(str(login)) == login


@pytest.mark.parametrize(
    "text",
    [
        "",
        "box",
        "@box",
        "root@",
        "-oX@box",
        "root@-oX",
        "root@box:0",
        "root@box:99999",
        "a b@c",
        "a@b\n",
    ],
)
def test_what_is_no_login_is_refused(text):
    with pytest.raises(UsageError, match="not a login"):
        read_login(text)


def test_only_a_machine_that_may_be_booting_is_worth_waiting_for():
    assert is_worth_waiting(Done(255, b"", b"ssh: connect to host h: Connection refused"))
    assert not is_worth_waiting(Done(255, b"", b"Permission denied (publickey)."))
    assert not is_worth_waiting(Done(1, b"", b"Connection refused"))
