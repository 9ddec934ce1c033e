"""What a hub is told, what a learner's server is given, and the shell that outlives it."""

from __future__ import annotations

import os
import runpy
import signal
import socket
import stat
import subprocess
import sys
import textwrap
from pathlib import Path

import psutil
import pytest
from traitlets.config import Config

from lab.places import Places
from lab.web.hub import settings
from lab.web.hub.demo import LEARNERS, lay_out, read_demo
from lab.web.hub.keeping import END_SECONDS
from lab.web.hub.settings import COMMAND, give_the_page, show_the_demo
from lab.web.hub.singleuser import FOLDER, FROM_HUB, PAGE, settle
from provision.errors import LabError
from provision.message import say
from provision.waiting import wait_until

ROOT = Path(__file__).parents[3]


# --- the server ---


def test_a_server_is_given_what_the_hub_leaves_open(tmp_path):
    environment = {FROM_HUB: "http://127.0.0.1:1", "HOME": str(tmp_path)}
    assert settle(environment) == tmp_path / FOLDER
    assert environment["LAB_HOME"] == str(tmp_path / FOLDER)
    assert environment["JUPYTERHUB_DEFAULT_URL"] == PAGE
    assert environment["JUPYTERHUB_ALLOW_TOKEN_IN_URL"] == "0"
    environment |= {"LAB_HOME": str(tmp_path / "else"), "JUPYTERHUB_ALLOW_TOKEN_IN_URL": "1"}
    assert settle(environment) == tmp_path / "else"
    assert environment["JUPYTERHUB_ALLOW_TOKEN_IN_URL"] == "0"


def test_a_server_is_not_started_by_hand():
    with pytest.raises(LabError, match="started by JupyterHub"):
        settle({"HOME": "/nowhere"})
    bare = {"PATH": os.environ["PATH"], "LAB_LANG": "ko"}
    command = [Path(sys.executable).parent / COMMAND]
    done = subprocess.run(command, env=bare, capture_output=True, text=True, check=False)
    assert done.returncode == 3
    assert "JupyterHub가 시작합니다" in done.stderr
    assert "Traceback" not in done.stderr


HIDDEN = """
import ctypes, sys
from lab.web.hiding import keep_to_ourselves

keep_to_ourselves()
print(ctypes.CDLL(None).prctl(3, 0, 0, 0, 0), flush=True)  # PR_GET_DUMPABLE
sys.stdin.read()
"""


def test_a_server_is_hidden_from_the_learners_shell():
    pipe = subprocess.PIPE
    with subprocess.Popen([sys.executable, "-c", HIDDEN], stdin=pipe, stdout=pipe) as process:
        assert process.stdout.readline() == b"0\n"
        if os.geteuid() != 0:  # root reads everything
            with pytest.raises(PermissionError):
                Path(f"/proc/{process.pid}/environ").read_bytes()
        process.stdin.close()


LISTENING = """
import os, socket, sys
from lab.web.arriving import Arrival
from lab.web.hub.app import PACKAGE, HubServer

def ensure(self):
    with socket.socket() as caller:
        refused = caller.connect_ex(("127.0.0.1", int(sys.argv[1])))
    print(os.strerror(refused) if refused else "it listens", flush=True)
    server.io_loop.add_callback_from_signal(server.stop)

Arrival.ensure = ensure
server = HubServer.instance(jpserver_extensions={PACKAGE: True})
server.initialize(
    argv=["--allow-root", "--ip=127.0.0.1", f"--port={sys.argv[1]}", "--HubPageApp.assets=/"],
    find_extensions=False,
)
server.start()
"""


def test_a_place_is_brought_up_when_its_server_listens(tmp_path):
    """A process that begins while a server looks at its port may keep that port open."""
    pytest.importorskip("jupyterhub")
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port = probe.getsockname()[1]
    folders = {f"JUPYTER_{name}_DIR": str(tmp_path) for name in ("CONFIG", "DATA", "RUNTIME")}
    home = {"HOME": str(tmp_path), "LAB_HOME": str(tmp_path / "home")}
    done = subprocess.run(
        [sys.executable, "-c", LISTENING, str(port)],
        env={"PATH": os.environ["PATH"], **home, **folders},
        cwd=tmp_path,
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )
    assert done.stdout == "it listens\n", done.stderr


# --- the shell that takes the place down ---

SERVER = """
import signal, sys
from pathlib import Path
from lab.places import Places
from lab.web.hub.keeping import Keeper

root = Path(sys.argv[1])
environment = {"PATH": "/usr/bin:/bin", "HOME": str(root), "LAB_HOME": str(root / "home")}
keeper = Keeper(Places(environment, is_root=False).open(), root / "hub", environment)
print("kept", flush=True)
sys.stdin.read()
keeper.end()
"""


def keepers(mark: Path) -> list[psutil.Process]:
    """The shells, and what they have become, that stand in a folder."""
    found = []
    for process in psutil.process_iter(["cmdline", "cwd"]):
        is_ours = process.info["cwd"] == str(mark) and "keeper" in (process.info["cmdline"] or ())
        if is_ours:
            found.append(process)
    return found


@pytest.fixture
def server(tmp_path):
    """A process that has a keeper; its place was never up, so that there is nothing to take."""
    pipe = subprocess.PIPE
    command = [sys.executable, "-c", SERVER, str(tmp_path)]
    with subprocess.Popen(command, stdin=pipe, stdout=pipe, text=True) as process:
        assert process.stdout is not None
        assert process.stdout.readline() == "kept\n"
        yield process
        process.kill()


def await_down(folder: Path) -> None:
    log = folder / "hub" / "down.log"
    wait_until(
        lambda: None if "There is no cluster" in log.read_text() else say("no word yet"),
        within=30,
    )


def test_a_place_goes_down_with_its_server(server, tmp_path):
    [keeper] = keepers(tmp_path / "hub")
    assert os.getsid(keeper.pid) != os.getsid(server.pid)
    for name in (signal.SIGHUP, signal.SIGINT, signal.SIGTERM):
        keeper.send_signal(name)  # as when a whole group is told to end
    assert (tmp_path / "hub" / "down.log").read_text() == ""
    server.stdin.close()
    assert server.wait(END_SECONDS) == 0
    assert "There is no cluster" in (tmp_path / "hub" / "down.log").read_text()
    assert not keepers(tmp_path / "hub")


def test_a_place_goes_down_when_its_server_is_killed(server, tmp_path):
    assert keepers(tmp_path / "hub")
    server.kill()
    await_down(tmp_path)
    wait_until(lambda: say("the shell is there") if keepers(tmp_path / "hub") else None, within=10)


def test_taking_down_makes_nothing_where_there_was_no_place(server, tmp_path):
    server.kill()
    await_down(tmp_path)
    place = Places({"HOME": "/", "LAB_HOME": str(tmp_path / "home")}, is_root=False).open()
    assert not place.home.exists()


# --- the hub ---


def test_a_hub_gives_the_page_and_time_to_end():
    config = Config()
    give_the_page(config)
    assert config.Spawner.cmd == [COMMAND]
    assert config.Spawner.default_url == PAGE
    assert config.LocalProcessSpawner.interrupt_timeout > END_SECONDS


def test_the_example_for_a_class_says_the_same():
    given = Config()
    runpy.run_path(str(ROOT / "docs/hub/jupyterhub_config.py"), {"get_config": lambda: given})
    ours = Config()
    give_the_page(ours)
    assert given.Spawner.cmd == ours.Spawner.cmd
    assert given.Spawner.default_url == ours.Spawner.default_url
    assert given.Spawner.poll_interval == ours.Spawner.poll_interval
    assert given.KubeSpawner.delete_grace_period > END_SECONDS
    assert given.KubeSpawner.uid != 0
    scripts = (ROOT / "pyproject.toml").read_text()
    assert f"{COMMAND} = " in scripts
    assert f'CMD ["{COMMAND}"]' in (ROOT / "docs/hub/Dockerfile").read_text()


def test_a_demo_has_a_new_password_and_keeps_its_port(tmp_path):
    first = lay_out(tmp_path, "/proxy", {"LAB": "kueue_quota"})
    assert read_demo(tmp_path) == first
    assert stat.S_IMODE((tmp_path / "demo.json").stat().st_mode) == 0o600
    assert len({first.port, first.hub_port, first.proxy_port}) == 3
    second = lay_out(tmp_path, "/proxy", {})
    assert second.port == first.port
    assert second.password != first.password
    assert first.password not in (tmp_path / "jupyterhub_config.py").read_text()
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", second.port))
        taken.listen()
        assert lay_out(tmp_path, "/proxy", {}).port != second.port
    assert list(second.links()) == list(LEARNERS)
    hosts = {link.split("/")[2] for link in second.links().values()}
    assert hosts == {f"127.0.0.1:{second.port}", f"localhost:{second.port}"}


def test_a_demo_lets_in_its_two_learners_only(tmp_path, monkeypatch):
    monkeypatch.setattr(settings, "end_with_parent", lambda: None)  # it would be about these tests
    demo = lay_out(tmp_path, "/the proxy/run", {"LAB_CACHE": "/cache"})
    told = textwrap.dedent((tmp_path / "jupyterhub_config.py").read_text())
    assert repr(str(tmp_path)) in told
    config = Config()
    show_the_demo(config, str(tmp_path))
    assert config.Authenticator.allowed_users == set(LEARNERS)
    assert config.SharedPasswordAuthenticator.user_password == demo.password
    assert config.ConfigurableHTTPProxy.command == ["/the proxy/run"]
    assert config.JupyterHub.bind_url == f"http://127.0.0.1:{demo.port}"
    assert config.Spawner.environment == {"LAB_CACHE": "/cache"}
    assert str(tmp_path) in config.SimpleLocalProcessSpawner.home_dir_template
