"""A place heals: killed processes come back, a broken-off start is completed, ports give way."""

from __future__ import annotations

import os
import shutil
import signal
import socket
import subprocess
import sys
import textwrap
import time
from pathlib import Path

import psutil
import pytest

from provision.errors import TargetError
from provision.local.processes import place_processes
from provision.message import say
from provision.settings import Settings
from provision.waiting import wait_until
from tests.integration.local.conftest import MakePlace
from tests.integration.places import TestPlace

pytestmark = pytest.mark.integration

NOBODY = 65534


@pytest.mark.parametrize("name", ["etcd", "kube-apiserver", "kueue", "kwok", "kube-scheduler"])
def test_killed_component_is_back_with_its_state(place: TestPlace, name: str):
    before = place.get("namespace", "team-a")["metadata"]["uid"]
    pid = place.pids[name]
    os.kill(pid, signal.SIGKILL)
    began = time.monotonic()
    place.await_true(lambda: place.pids.get(name, pid) != pid, 10, f"{name} is not back")
    place.await_ready(10)
    assert time.monotonic() - began < 10
    assert place.get("namespace", "team-a")["metadata"]["uid"] == before


def test_status_tells_running_from_ready(place: TestPlace):
    pid = place.pids["kueue"]
    os.kill(pid, signal.SIGSTOP)
    try:
        kueue = next(c for c in place.target.status().components if c.name == "kueue")
        assert kueue.is_running
        assert not kueue.is_ready
        assert "does not answer" in str(kueue.detail)
    finally:
        os.kill(pid, signal.SIGCONT)
    place.await_ready(10)


def test_stopped_etcd_is_woken_by_up(place: TestPlace):
    """What a snapshot leaves behind that was killed while etcd stood still."""
    os.kill(place.pids["etcd"], signal.SIGSTOP)
    place.target.up(place.tell)
    assert place.target.status().is_ready


def test_up_after_the_supervisor_was_killed(place: TestPlace):
    before = place.get("namespace", "team-a")["metadata"]["uid"]
    supervisors = [p for p in _processes(place) if not p.component]
    assert len(supervisors) == 1
    os.kill(supervisors[0].pid, signal.SIGKILL)
    wait_until(lambda: None if not _alive(supervisors[0].pid) else say("alive"), within=5)
    status = place.target.status()
    assert any(c.is_running for c in status.components)
    assert place.target.up(place.tell).is_changed
    assert place.target.status().is_ready
    assert place.get("namespace", "team-a")["metadata"]["uid"] == before


def test_down_after_the_supervisor_was_killed(place: TestPlace):
    supervisor = next(p for p in _processes(place) if not p.component)
    os.kill(supervisor.pid, signal.SIGKILL)
    place.target.down(place.tell)
    assert not _processes(place)
    assert not any(c.is_running for c in place.target.status().components)


@pytest.mark.full
def test_down_twice_is_no_error(place: TestPlace):
    place.target.down(place.tell)
    place.target.down(place.tell)


def test_up_after_everything_was_killed_at_once(place: TestPlace):
    before = place.get("namespace", "team-a")["metadata"]["uid"]
    _kill_all(place)
    assert place.target.up(place.tell).is_changed
    assert place.get("namespace", "team-a")["metadata"]["uid"] == before


def test_taken_port_gives_way_everywhere(place: TestPlace):
    place.target.down(place.tell)
    before = dict(place.state["ports"])
    taken = [socket.create_server(("127.0.0.1", port)) for port in before.values()]
    try:
        place.target.up(place.tell)
    finally:
        for server in taken:
            server.close()
    after = place.state["ports"]
    assert not set(before.values()) & set(after.values())
    assert str(after["apiserver"]) in (place.home / "kubeconfig").read_text()
    node = place.get("node", "gpu-node-0")
    assert node["status"]["daemonEndpoints"]["kubeletEndpoint"]["Port"] == after["kwok"]
    hooks = place.get("mutatingwebhookconfigurations", "kueue-mutating-webhook-configuration")
    urls = {h["clientConfig"]["url"].split("/")[2] for h in hooks["webhooks"]}
    assert urls == {f"127.0.0.1:{after['kueue-webhook']}"}
    crd = place.get("crd", "workloads.kueue.x-k8s.io")
    conversion = crd["spec"]["conversion"]["webhook"]["clientConfig"]["url"]
    assert conversion == f"https://127.0.0.1:{after['kueue-webhook']}/convert"
    place.kubectl("create", "job", "after-move", "-n", "team-a", "--image=x", "--", "sleep", "1")
    place.kubectl("wait", "--for=condition=complete", "job/after-move", "-n", "team-a")
    pod = place.get("pods", "-n", "team-a")["items"][0]["metadata"]["name"]
    assert "KWOK" in place.kubectl("logs", pod, "-n", "team-a")
    place.kubectl("delete", "job", "after-move", "-n", "team-a")


def test_two_places_do_not_touch_each_other(place: TestPlace, make_place: MakePlace):
    other = make_place("other place, 둘째")
    other.target.up(other.tell)
    assert not set(place.state["ports"].values()) & set(other.state["ports"].values())
    other.kubectl("create", "namespace", "only-here")
    assert place.run("get", "namespace", "only-here").returncode != 0
    crossed = place.run(
        "--server", f"https://127.0.0.1:{other.state['ports']['apiserver']}", "get", "ns"
    )
    assert crossed.returncode != 0
    pids = place.pids
    other.target.destroy(other.tell)
    assert place.target.status().is_ready
    assert place.pids == pids


def test_component_that_exits_at_start_is_named_and_all_is_stopped(make_place: MakePlace):
    place = make_place("exits")
    place.target.up(place.tell)
    place.target.down(place.tell)
    (place.home / "etcd" / "member" / "snap" / "db").write_bytes(b"not a database")
    with pytest.raises(TargetError) as caught:
        place.target.up(place.tell)
    text = str(caught.value.what)
    assert text.startswith("etcd ended while it was starting: exit status"), text
    assert "Its last lines" in text
    assert caught.value.next_move is not None
    assert not _processes(place)
    place.target.reset(place.tell)
    assert place.target.status().is_ready
    place.target.destroy(place.tell)


@pytest.mark.skipif(os.getuid() != 0, reason="only root can become somebody else")
def test_up_as_an_unprivileged_user(
    make_place: MakePlace, tmp_path_factory: pytest.TempPathFactory
):
    place = make_place("nobody")
    cache = _readable_copy(place.settings, tmp_path_factory.mktemp("cache"))
    for folder in (place.root, place.root / "person"):
        os.chown(folder, NOBODY, NOBODY)
    base = tmp_path_factory.getbasetemp()
    for folder in (base, *base.parents):
        if folder == base or folder.name.startswith("pytest-"):  # a worker's has another name
            folder.chmod(folder.stat().st_mode | 0o011)
    script = textwrap.dedent(f"""
        import os
        from pathlib import Path
        from provision.settings import Settings
        from tests.integration.places import TestPlace
        place = TestPlace(Path({str(place.root)!r}), Settings.from_environment(os.environ))
        place.target.up(place.tell)
        assert place.target.status().is_ready
        owners = {{p.lstat().st_uid for p in place.home.rglob("*")}}
        assert owners == {{{NOBODY}}}, owners
        place.target.destroy(place.tell)
    """)
    done = subprocess.run(
        [*_as_nobody(tmp_path_factory.mktemp("mount")), sys.executable, "-c", script],
        env={**place.settings.environ, "LAB_CACHE": str(cache), "XDG_RUNTIME_DIR": ""},
        cwd=Path(__file__).parents[3],
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
    )
    assert done.returncode == 0, done.stderr


def _as_nobody(scratch: Path) -> list[str]:
    """A command that runs another as an unprivileged user.

    When this Python lies in a closed folder, such as root's home, it is shown in its place within a
    mount namespace that only that command sees.
    """
    become = ["setpriv", f"--reuid={NOBODY}", f"--regid={NOBODY}", "--clear-groups"]
    prefix = Path(sys.base_prefix)
    closed = [p for p in reversed(prefix.parents) if not p.stat().st_mode & 0o001]
    if not closed:
        return become
    if shutil.which("unshare") is None:
        pytest.skip("this Python is out of reach for other users, and there is no unshare")
    show = (
        'mount --bind "$1" "$2"; mount -t tmpfs -o mode=0755 none "$3"; mkdir -p "$1"; '
        'mount --bind "$2" "$1"; shift 3; exec "$@"'
    )
    shell = ["sh", "-ec", show, "sh", str(prefix), str(scratch), str(closed[0])]
    return ["unshare", "--mount", "--propagation=private", *shell, *become]


def _readable_copy(settings: Settings, target: Path) -> Path:
    """The built parts as hard links (or copies) where everyone may read them, and nobody write."""
    done = subprocess.run(["cp", "-al", settings.cache / "parts", target], check=False)
    if done.returncode:
        subprocess.run(["cp", "-a", settings.cache / "parts", target], check=True)
    target.chmod(0o555)
    (target / "parts").chmod(0o555)
    return target


def _processes(place: TestPlace):
    return place_processes(place.home, place.state["id"])


def _kill_all(place: TestPlace) -> None:
    if not (place.home / "place.json").exists():
        return
    found = [p.process for p in _processes(place)]
    for process in found:
        process.kill()
    wait_until(lambda: say("alive") if any(_alive(p.pid) for p in found) else None, within=10)


def _alive(pid: int) -> bool:
    try:
        return psutil.Process(pid).status() != psutil.STATUS_ZOMBIE
    except psutil.NoSuchProcess:
        return False
