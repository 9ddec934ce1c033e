"""How pods behave on the node that KWOK plays, and what is refused there."""

from __future__ import annotations

import json
import ssl
import time
from pathlib import Path

import pytest
import websocket

from tests.integration.places import TestPlace, pod

pytestmark = pytest.mark.integration


def _run(place: TestPlace, name: str, command: list[str] | None, **spec: object) -> None:
    place.kubectl("apply", "-f", "-", stdin=pod(name, command, **spec))
    place.await_true(lambda: _phase(place, name) == "Running", 10, f"{name} does not run")


def _phase(place: TestPlace, name: str) -> str:
    return str(place.get("pod", name, "-n", "team-a")["status"].get("phase"))


def _seconds_to_delete(place: TestPlace, name: str) -> float:
    began = time.monotonic()
    place.kubectl("delete", "pod", name, "-n", "team-a")
    return time.monotonic() - began


def test_pod_is_pending_before_it_runs(place: TestPlace):
    place.kubectl("apply", "-f", "-", stdin=pod("first-pending", None))
    assert _phase(place, "first-pending") == "Pending"
    place.await_true(lambda: _phase(place, "first-pending") == "Running", 10, "does not run")
    status = place.get("pod", "first-pending", "-n", "team-a")["status"]
    container = status["containerStatuses"][0]
    assert container["ready"]
    assert container["started"]
    assert status["podIP"].startswith("10.244.")
    assert status["startTime"]
    assert _seconds_to_delete(place, "first-pending") < 3


@pytest.mark.parametrize(
    ("name", "command"),
    [
        ("sleeps", ["sleep", "3"]),
        ("sleeps-in-a-shell", ["/bin/sh", "-c", "sleep 3s"]),
        ("sleeps-minutes", ["sh", "-c", "exec sleep 0.05m"]),
    ],
)
def test_sleep_succeeds_in_its_time(place: TestPlace, name: str, command: list[str]):
    _run(place, name, command)
    began = time.monotonic()
    place.await_true(lambda: _phase(place, name) == "Succeeded", 12, f"{name} goes on")
    assert time.monotonic() - began > 1.5
    state = place.get("pod", name, "-n", "team-a")["status"]["containerStatuses"][0]["state"]
    assert state["terminated"]["exitCode"] == 0
    place.kubectl("delete", "pod", name, "-n", "team-a")


def test_job_of_sleep_completes(place: TestPlace):
    place.kubectl("create", "job", "short", "-n", "team-a", "--image=busybox", "--", "sleep", "1")
    place.kubectl("wait", "--for=condition=complete", "job/short", "-n", "team-a", "--timeout=20s")
    place.kubectl("delete", "job", "short", "-n", "team-a")


def test_trap_goes_at_once(place: TestPlace):
    command = ["sh", "-c", "trap 'exit 0' TERM; sleep 86400 & wait"]
    _run(place, "traps", command, terminationGracePeriodSeconds=20)
    assert _seconds_to_delete(place, "traps") < 3


@pytest.mark.parametrize("command", [["sleep", "3600"], ["sh", "-c", "sleep 3600"]])
def test_bare_sleep_takes_its_grace_period(place: TestPlace, command: list[str]):
    _run(place, "bare", command, terminationGracePeriodSeconds=4)
    assert 3 <= _seconds_to_delete(place, "bare") < 8


def test_status_written_by_hand_stays(place: TestPlace):
    _run(place, "crashes", ["sleep", "1"])
    status = {
        "phase": "Running",
        "conditions": [{"type": "Ready", "status": "False", "reason": "ContainersNotReady"}],
        "containerStatuses": [
            {
                "name": "main",
                "image": "busybox:1.36",
                "imageID": "",
                "ready": False,
                "restartCount": 3,
                "state": {"waiting": {"reason": "CrashLoopBackOff"}},
            }
        ],
    }
    patch = json.dumps({"status": status})
    place.kubectl(
        "patch",
        "pod",
        "crashes",
        "-n",
        "team-a",
        "--subresource=status",
        "--type=merge",
        "-p",
        patch,
    )
    _run(place, "later", ["sleep", "3"])
    place.await_true(lambda: _phase(place, "later") == "Succeeded", 12, "later goes on")
    found = place.get("pod", "crashes", "-n", "team-a")["status"]
    assert found["phase"] == "Running"
    assert found["containerStatuses"][0]["state"]["waiting"]["reason"] == "CrashLoopBackOff"
    place.kubectl("delete", "pod", "crashes", "later", "-n", "team-a", "--now")


def test_logs_answer_one_honest_line(place: TestPlace):
    _run(place, "logs", None)
    lines = place.kubectl("logs", "logs", "-n", "team-a").splitlines()
    assert len(lines) == 1
    assert "played by KWOK" in lines[0]
    place.kubectl("delete", "pod", "logs", "-n", "team-a")


def test_exec_attach_and_port_forward_are_refused(place: TestPlace):
    _run(place, "closed", None)
    for words in (
        ("exec", "closed", "-n", "team-a", "--", "id"),
        ("attach", "closed", "-n", "team-a"),
    ):
        done = place.run(*words)
        assert done.returncode != 0, words
        assert "no " in done.stderr, done.stderr
        assert "uid=" not in done.stdout
    place.kubectl("delete", "pod", "closed", "-n", "team-a")


def test_raw_websocket_to_kwok_runs_nothing(place: TestPlace, tmp_path: Path):
    """KWOK asks nobody who calls: all that protects this machine is that it has nothing to run."""
    _run(place, "target", None)
    proof = tmp_path / "proof"
    port = place.state["ports"]["kwok"]
    command = f"command=touch&command={proof}&input=1&output=1&error=1"
    for name, path in (
        ("target", "exec/team-a/target/main"),
        ("nobody", "exec/no-such/nobody/main"),
        ("attach", "attach/team-a/target/main"),
        ("forward", "portForward/team-a/target"),
    ):
        heard = _knock(f"wss://127.0.0.1:{port}/{path}?{command}")
        assert not proof.exists(), name
        assert "uid=" not in heard, name
    place.kubectl("delete", "pod", "target", "-n", "team-a")


def _knock(url: str) -> str:
    """What a server says to a WebSocket without credentials, from a foreign origin."""
    heard = ""
    try:
        socket = websocket.create_connection(
            url,
            timeout=5,
            sslopt={"cert_reqs": ssl.CERT_NONE, "check_hostname": False},
            subprotocols=["v4.channel.k8s.io"],
            origin="https://example.org",
            host="example.org",
        )
    except (websocket.WebSocketException, OSError) as error:
        return str(error)
    try:
        for _ in range(5):
            frame = socket.recv()
            heard += frame if isinstance(frame, str) else frame.decode(errors="replace")
    except (websocket.WebSocketException, OSError) as error:
        heard += str(error)
    finally:
        socket.close()
    return heard


def test_no_configuration_lets_kwok_run_anything(place: TestPlace):
    for path in (place.home / "conf").glob("kwok-*.yaml"):
        kinds = {line.split()[1] for line in path.read_text().splitlines() if line[:5] == "kind:"}
        assert kinds <= {"Stage", "ClusterLogs"}
