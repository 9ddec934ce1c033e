"""What `lab open` decides before a server runs: launch, environment, addresses, browser, tunnel."""

from __future__ import annotations

import json
import os
import shutil
import signal
import stat
import subprocess
import sys
import webbrowser
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace

import pytest

from lab.places import Place
from lab.web.browsing import has_display, show, tunnel
from lab.web.launch import (
    Launch,
    launch_file,
    new_token,
    read_launch,
    tmux_socket,
    write_launch,
)
from lab.web.launching import Opened, Shells, open_again, open_page
from lab.web.listening import Beyond
from lab.web.surroundings import allowed
from lab.web.terminals import tmux_command
from provision.errors import LabError, TargetError, UsageError
from provision.local.processes import is_alive
from provision.message import Message, say
from provision.target import Tell
from provision.waiting import wait_until

ROOT = Path(__file__).parents[3]


def test_a_launch_is_read_as_it_was_written_and_by_its_owner_only(tmp_path: Path) -> None:
    launch = Launch(new_token(), "ko", "/assets", {"HOME": "/한글"}, "0.0.0.0", ("a", "b"))
    write_launch(tmp_path, launch)
    assert read_launch(tmp_path) == launch
    assert stat.S_IMODE(launch_file(tmp_path).stat().st_mode) == 0o600
    assert stat.S_IMODE(launch_file(tmp_path).parent.stat().st_mode) == 0o700
    assert read_launch(tmp_path / "none") is None


@pytest.mark.parametrize(
    "change",
    [
        {"token": ""},
        {"token": "x" * 31},
        {"token": None},
        {"token": ["x"] * 40},
        {"language": "fr"},
        {"schema": 2},
        {"environment": {"PATH": 1}},
        {"environment": []},
        {"assets": None},
        {"hosts": [1]},
        {"more": 1},
    ],
)
def test_a_launch_that_would_be_open_to_all_is_refused(tmp_path: Path, change: object) -> None:
    write_launch(tmp_path, Launch(new_token(), "en", ""))
    raw = json.loads(launch_file(tmp_path).read_text())
    launch_file(tmp_path).write_text(json.dumps({**raw, **change}))
    with pytest.raises(LabError, match="cannot be used") as caught:
        read_launch(tmp_path)
    assert "make open" in str(caught.value.next_move)


@pytest.mark.timeout(10)
def test_a_launch_that_is_a_named_pipe_is_not_waited_at(tmp_path: Path) -> None:
    launch_file(tmp_path).parent.mkdir()
    os.mkfifo(launch_file(tmp_path))
    with pytest.raises(LabError, match="not a plain file"):
        read_launch(tmp_path)


@pytest.mark.parametrize("text", ["", "[]", "{", "null", '"x"', "[" * 100_000])
def test_a_damaged_launch_is_named(tmp_path: Path, text: str) -> None:
    write_launch(tmp_path, Launch(new_token(), "en", ""))
    launch_file(tmp_path).write_text(text)
    with pytest.raises(LabError, match=r"launch\.json cannot be used"):
        read_launch(tmp_path)


def test_no_two_tokens_are_the_same_and_each_is_long() -> None:
    tokens = {new_token() for _ in range(50)}
    assert len(tokens) == 50
    assert min(map(len, tokens)) >= 40


def test_only_what_is_named_reaches_the_shells() -> None:
    secrets = {
        *("JUPYTER_TOKEN", "JUPYTERHUB_API_TOKEN", "JPY_API_TOKEN", "AWS_SECRET_ACCESS_KEY"),
        *("GITHUB_TOKEN", "DB_PASSWORD", "SSH_AUTH_SOCK", "PYTHONPATH", "LD_PRELOAD", "X"),
        *("GPU_QUEUE_LAB_PLACE", "SUPERVISOR_ENABLED", "HTTPS_PROXY", "LANGUAGE", "BASH_ENV"),
    }
    wanted = {"PATH": "/bin", "HOME": "/h", "LAB_HOME": "/l", "LANG": "ko_KR.UTF-8", "LC_TIME": "C"}
    assert allowed({**dict.fromkeys(secrets, "secret"), **wanted}) == wanted


@pytest.mark.parametrize(
    ("environment", "locale"),
    [
        ({}, "C.UTF-8"),
        ({"LANG": "C"}, "C.UTF-8"),
        ({"LANG": "ko_KR.UTF-8", "LC_ALL": "POSIX"}, "C.UTF-8"),
        ({"LANG": "ko_KR.utf8"}, None),
        ({"LC_CTYPE": "en_US.UTF-8", "LANG": "C"}, None),
    ],
)
def test_the_shells_speak_utf_8(environment: dict[str, str], locale: str | None) -> None:
    assert allowed(environment).get("LC_ALL") == locale


@pytest.mark.parametrize("address", ["", "127.0.0.1", "localhost", "::1", "127.0.0.2"])
def test_loopback_is_nothing_beyond(address: str) -> None:
    assert Beyond(address).checked() == Beyond()


def test_an_address_beyond_is_called_by_its_names_only() -> None:
    beyond = Beyond("192.0.2.7").checked()
    assert beyond.hosts()[0] == "192.0.2.7"
    assert beyond.called() == "192.0.2.7"
    everywhere = Beyond("0.0.0.0").checked()
    assert "127.0.0.1" in everywhere.hosts()
    assert "0.0.0.0" not in everywhere.hosts()
    assert Beyond("2001:db8::1").called() == "[2001:db8::1]"


@pytest.mark.parametrize(
    "beyond",
    [
        Beyond("example.org"),
        Beyond("192.0.2.7", "cert.pem"),
        Beyond("192.0.2.7", key="key.pem"),
        Beyond("", "cert.pem", "key.pem"),
    ],
)
def test_what_cannot_be_meant_is_a_usage_error(beyond: Beyond) -> None:
    with pytest.raises(UsageError):
        beyond.checked()


def test_a_certificate_that_cannot_be_used_is_named(tmp_path: Path) -> None:
    (tmp_path / "c.pem").write_text("no certificate")
    for file in (tmp_path / "c.pem", tmp_path / "absent.pem"):
        with pytest.raises(LabError, match=r"\.pem cannot be used for TLS"):
            Beyond("192.0.2.7", str(file), str(file)).checked()


def test_the_link_logs_in_and_the_address_does_not() -> None:
    launch = Launch("t" * 40, "en", "", address="192.0.2.7", certificate="c", key="k")
    opened = Opened(launch, 21000)
    assert opened.link == f"{opened.address}?token={'t' * 40}"
    assert "token" not in opened.address
    assert str(opened.link_beyond).startswith("https://192.0.2.7:21000/learn?")
    assert launch.beyond == Beyond("192.0.2.7", "c", "k")
    assert Opened(Launch("t" * 40, "en", ""), 21000).link_beyond is None


def test_another_language_is_no_reason_for_another_page(
    place: Place, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The link names it, for a browser that has chosen none; whoever is logged in stays so."""
    monkeypatch.setattr("lab.web.launching.fetch", lambda *_: Path("/assets"))
    stopped: list[str] = []
    target = SimpleNamespace(
        info=lambda: None,
        is_running=lambda _: True,
        stop=stopped.append,
        start=lambda *_: 21000,
    )
    place = replace(place, target=target)  # type: ignore[arg-type]
    environment = {"LAB_HOME": str(place.home.parent), "LAB_CACHE": str(place.home.parent)}
    first = open_page(place, environment, "en", None, lambda progress: None)
    assert stopped == ["page"]
    other = open_page(place, environment, "ko", None, lambda progress: None)
    assert stopped == ["page"]
    assert other.launch == first.launch == read_launch(place.home)
    assert other.link == f"{first.link}&lang=ko"


@pytest.mark.parametrize(
    ("connection", "command"),
    [
        ("", None),
        ("odd", None),
        ("192.0.2.1 5 192.0.2.7 22", "ssh -N -L 21000:127.0.0.1:21000 {user}@192.0.2.7"),
        ("192.0.2.1 5 192.0.2.7 2222", "ssh -N -L 21000:127.0.0.1:21000 -p 2222 {user}@192.0.2.7"),
    ],
)
def test_the_way_from_afar(
    monkeypatch: pytest.MonkeyPatch, connection: str, command: str | None
) -> None:
    monkeypatch.setenv("USER", "ann")
    monkeypatch.setenv("LOGNAME", "ann")
    wanted = command and command.format(user="ann")
    assert tunnel(21000, {"SSH_CONNECTION": connection}) == wanted


def test_a_browser_is_opened_only_where_somebody_sees_it(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    opened: list[str] = []

    class Graphical:
        def open(self, url: str) -> bool:
            opened.append(url)
            return True

    class Elinks(Graphical):
        """Draws on the terminal."""

    link = "http://127.0.0.1:21000/learn?token=a-token"
    monkeypatch.setattr(webbrowser, "get", Graphical)
    assert not show(link, tmp_path, {})
    assert not show(link, tmp_path, {"DISPLAY": ":0", "SSH_CONNECTION": "a 1 b 22"})
    assert show(link, tmp_path, {"WAYLAND_DISPLAY": "wayland-0"})
    assert "token" not in opened[0]
    assert opened == [(tmp_path / "open.html").as_uri()]
    assert link in (tmp_path / "open.html").read_text()
    assert stat.S_IMODE((tmp_path / "open.html").stat().st_mode) == 0o600
    monkeypatch.setattr(webbrowser, "get", Elinks)
    assert not show(link, tmp_path, {"DISPLAY": ":0"})
    assert has_display({"DISPLAY": ":0"})


HIDING = """
import ctypes, os, sys
from lab.web.hiding import PR_SET_DUMPABLE, keep_to_ourselves
if os.geteuid() == 0:  # for an ordinary user it counts: root reads everything
    os.setgid(65534)
    os.setuid(65534)
    ctypes.CDLL(None).prctl(PR_SET_DUMPABLE, 1, 0, 0, 0)
if sys.argv[1] == "hide":
    keep_to_ourselves()
child = os.fork()
if child == 0:
    try:
        open(f"/proc/{os.getppid()}/environ", "rb").read()
    except PermissionError:
        os._exit(7)
    os._exit(0)
sys.exit(os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]))
"""


@pytest.mark.parametrize(("mode", "code"), [("show", 0), ("hide", 7)])
def test_the_server_hides_from_others_of_its_user(mode: str, code: int) -> None:
    done = subprocess.run(
        [sys.executable, "-c", HIDING, mode], cwd=ROOT, capture_output=True, text=True, check=False
    )
    assert done.returncode == code, done.stderr


class Refusing:
    """A target whose page does not start."""

    def __init__(self, next_move: Message | None) -> None:
        self.started: list[str] = []
        self.next_move = next_move

    def start(self, companion: str, tell: Tell) -> int:
        self.started.append(companion)
        raise TargetError(say("It ended."), next_move=self.next_move)


@pytest.mark.parametrize("following", [say("Look at the log."), None])
def test_a_page_that_does_not_come_back_is_told(place: Place, following: Message | None) -> None:
    """Whoever resets or provisions a place with an open page hears of it."""
    target = Refusing(following)
    place = replace(place, target=target)  # type: ignore[arg-type]
    assert open_again(place, lambda progress: None) == ()  # it was never open
    assert target.started == []
    write_launch(place.home, Launch(new_token(), "en", ""))
    [remark] = open_again(place, lambda progress: None)
    assert target.started == ["page"]
    told = following or "Open it with make open."
    assert str(remark) == f"The page did not come back: It ended. {told}"


@pytest.mark.skipif(shutil.which("tmux") is None, reason="no tmux")
@pytest.mark.parametrize("is_stopped", [False, True])
def test_the_shells_end_though_their_tmux_does_not_answer(place: Place, is_stopped: bool) -> None:
    assert Shells.of(place).server is None
    socket = tmux_socket(place.home)
    command = [*tmux_command(socket), "new-session", "-d", "sleep 600"]
    subprocess.run(command, check=True, timeout=10)
    server = Shells.of(place).server
    assert server is not None
    assert str(socket) in server.cmdline()
    if is_stopped:
        server.suspend()
    before = signal.getsignal(signal.SIGHUP)
    try:
        found = Shells.of(place)
        assert found.server == server
        found.end()
        wait_until(lambda: say("it runs") if is_alive(server) else None, within=5)
    finally:
        signal.signal(signal.SIGHUP, before)
    assert Shells.of(place).server is None


CONFIGURED = """
import sys
from pathlib import Path
from lab.web.serving import keep_jupyter_apart

keep_jupyter_apart(Path(sys.argv[1]))
from jupyter_core.application import JupyterApp

app = JupyterApp()
app.initialize(argv=[])
print(*app.config_file_paths)
"""


def test_no_configuration_of_jupyter_is_read_and_nothing_is_left_for_it(tmp_path: Path) -> None:
    home, temporary, folder = (tmp_path / name for name in ("home", "tmp", "page"))
    for where in (home / ".jupyter", temporary, folder):
        where.mkdir(parents=True)
    for where in (home / ".jupyter", folder):
        (where / "jupyter_config.py").write_text("print('was read')")
    environment = {"PATH": os.environ["PATH"], "HOME": str(home), "TMPDIR": str(temporary)}
    for _ in range(2):
        done = subprocess.run(
            [sys.executable, "-c", CONFIGURED, folder],
            env=environment,
            capture_output=True,
            text=True,
            check=True,
        )
        [empty] = (path for path in folder.iterdir() if path.is_dir())
        assert done.stdout.split() == [str(empty)]
        assert list(empty.iterdir()) == []
    assert list(temporary.iterdir()) == []
