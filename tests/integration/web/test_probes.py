"""Whoever comes to the page without being asked: what every kind of request is answered."""

from __future__ import annotations

import socket
import stat
import subprocess
import time
from collections.abc import Iterator
from pathlib import Path

import psutil
import pytest
from websocket import WebSocketException

from lab.web.launch import tmux_socket
from provision.message import say
from provision.waiting import wait_until
from tests.integration.cli import Lab
from tests.integration.web.calls import Calls, Terminal, Visitor

STOCK = (
    *("/api/contents", "/api/kernels", "/api/sessions", "/api/kernelspecs", "/api/terminals"),
    *("/api/config/x", "/api/events/subscribe", "/api/nbconvert", "/api/security/csp-report"),
    *("/files/x", "/view/x", "/nbconvert/html/x", "/metrics", "/api/spec.yaml", "/tree", "/lab"),
)
EVIL = "http://evil.example"


@pytest.fixture(scope="module", autouse=True)
def fresh_shells(lab: Lab) -> None:
    """Shells of an earlier module's pages may have clients of other sizes: they are ended."""
    socket_file = tmux_socket(Path(lab.status()["home"]))
    subprocess.run(["tmux", "-S", socket_file, "kill-server"], capture_output=True, check=False)


@pytest.fixture(scope="module")
def calls(link: str) -> Calls:
    return Calls.by(link)


@pytest.fixture(scope="module")
def visitor(calls: Calls) -> Visitor:
    return calls.log_in()


@pytest.fixture
def closing() -> Iterator[list[Terminal]]:
    """Websockets to be closed after the test."""
    opened: list[Terminal] = []
    yield opened
    for terminal in opened:
        terminal.close()


def status_of(made: Terminal | int, closing: list[Terminal]) -> int:
    if isinstance(made, int):
        return made
    closing.append(made)
    return 101


# --- without being known ---


@pytest.mark.parametrize(
    ("path", "status"),
    [
        ("/learn", 302),
        ("/learn/api/lab", 403),
        ("/learn/api/state", 403),
        ("/learn/api/files", 403),
        ("/learn/api/file?name=x", 403),
        ("/learn/api/hint?step=1", 403),
        ("/learn/api/labs", 403),
        ("/learn/labs/kueue_quota", 302),
        ("/api/status", 403),
        ("/learn/ready", 200),
        ("/learn?token=wrong", 302),
        ("/learn?token=", 302),
    ],
)
def test_nobody_gets_in_without_the_token(calls: Calls, path: str, status: int) -> None:
    answer = calls.get(path)
    assert answer.status == status
    if status == 302:
        assert answer.headers["Location"].startswith("/login")


def test_nobody_hears_or_types_without_the_token(calls: Calls, visitor: Visitor) -> None:
    assert calls.get("/learn/api/stream").status in (302, 403)
    name = visitor.post("/learn/api/terminal", {"number": 1}).json()["name"]
    assert calls.connect(f"/terminals/websocket/{name}", origin=calls.origin) == 403
    for path in ("/learn/api/check", "/learn/api/hint", "/learn/api/start", "/learn/api/terminal"):
        assert calls.call("POST", path, {}, '{"step": 1}').status == 403
    assert calls.call("POST", "/login", {}, "password=").status == 403  # no XSRF cookie


def test_the_token_in_the_address_is_dropped_and_a_header_does(calls: Calls) -> None:
    first = calls.get(f"/learn?token={calls.token}")
    assert (first.status, first.headers["Location"]) == (302, "/learn")
    [login] = [c for c in first.headers.get_all("Set-Cookie") or () if c.startswith("username")]
    assert "SameSite=Strict" in login
    assert "HttpOnly" in login
    assert calls.get("/learn", Authorization=f"token {calls.token}").status == 200
    led = calls.get(f"/learn?token={calls.token}", Sec_Fetch_Site="cross-site")
    assert led.status == 200
    assert b'http-equiv="refresh"' in led.body
    assert calls.token.encode() not in led.body
    korean = calls.get(f"/learn?token={calls.token}&lang=ko")
    assert korean.headers["Location"] == "/learn?lang=ko"


def test_the_token_can_be_typed(calls: Calls) -> None:
    form = calls.get("/login?next=%2Flearn")
    assert form.status == 200
    assert b"make open" in form.body
    xsrf = form.cookies["_xsrf"]
    headers = {"Cookie": f"_xsrf={xsrf}", "Content-Type": "application/x-www-form-urlencoded"}
    wrong = calls.call("POST", "/login?next=%2Flearn", headers, f"password=x&_xsrf={xsrf}")
    assert wrong.status == 401
    right = calls.call(
        "POST", "/login?next=%2Flearn", headers, f"password={calls.token}&_xsrf={xsrf}"
    )
    assert (right.status, right.headers["Location"]) == (302, "/learn")


# --- from other sites ---


def test_a_post_needs_the_right_xsrf_token(calls: Calls, visitor: Visitor) -> None:
    cookie = {"Cookie": visitor.cookie}
    for path in ("/learn/api/check", "/learn/api/hint", "/learn/api/start", "/learn/api/terminal"):
        assert calls.call("POST", path, cookie, "{}").status == 403
        assert calls.call("POST", path, {**cookie, "X-XSRFToken": "bad"}, "{}").status == 403
        assert visitor.post(path, {"step": 1}, Origin=EVIL).status == 404
    assert visitor.post("/learn/api/terminal", {"number": 1}).status == 200
    assert calls.call("POST", "/learn/api/terminal", calls.by_token, "{}").status == 200


@pytest.mark.parametrize(
    ("origin", "status"), [(EVIL, 403), ("null", 403), ("http://127.0.0.1:1", 403), (None, 101)]
)
def test_a_websocket_is_for_our_own_origin(
    visitor: Visitor, closing: list[Terminal], origin: str | None, status: int
) -> None:
    assert status_of(visitor.socket(origin=origin), closing) == status


def test_who_knows_the_token_needs_no_origin(
    calls: Calls, visitor: Visitor, closing: list[Terminal]
) -> None:
    assert status_of(visitor.socket(origin=EVIL, header=calls.by_token), closing) == 101
    assert calls.connect("/terminals/websocket/nosuch", header=calls.by_token) == 404


@pytest.mark.parametrize(
    "host", ["evil.example", "10.0.0.9", "0.0.0.0", "127.0.0.1.evil.example", "evil.example:{port}"]
)
def test_a_foreign_host_name_is_refused_everywhere(
    calls: Calls, visitor: Visitor, host: str
) -> None:
    named = host.format(port=calls.port)
    for path in (
        "/learn",
        "/learn/api/state",
        "/learn/ready",
        "/static/lab-web/login.css",
        "/login",
    ):
        assert calls.get(path, Cookie=visitor.cookie, Host=named).status == 403, path
    name = visitor.post("/learn/api/terminal", {"number": 1}).json()["name"]
    header = {"Cookie": visitor.cookie}
    refused = calls.connect(
        f"/terminals/websocket/{name}", header=header, origin=f"http://{named}", host=named
    )
    assert refused == 403


@pytest.mark.parametrize("host", ["localhost", "localhost:{port}", "127.0.0.1", "[::1]:{port}"])
def test_loopback_by_any_name_is_answered(calls: Calls, visitor: Visitor, host: str) -> None:
    named = host.format(port=calls.port)
    assert calls.get("/learn/api/state", **calls.by_token, Host=named).status == 200


def test_another_site_cannot_read_the_stream(calls: Calls, visitor: Visitor) -> None:
    answer = calls.get(
        f"/learn/api/stream?_xsrf={visitor.xsrf}", Cookie=visitor.cookie, Origin=EVIL
    )
    assert "Access-Control-Allow-Origin" not in answer.headers


# --- what is not there ---


@pytest.mark.parametrize("path", STOCK)
def test_only_our_routes_answer(calls: Calls, path: str) -> None:
    assert calls.get(path, **calls.by_token).status == 404


@pytest.mark.parametrize(
    ("method", "path"),
    [
        *(
            ("POST", p)
            for p in ("/api/terminals", "/api/shutdown", "/api/kernels", "/api/sessions")
        ),
        *(("PUT", "/api/contents/x"), ("DELETE", "/api/terminals/1"), ("POST", "/api/contents")),
    ],
)
def test_nothing_else_can_be_changed(calls: Calls, method: str, path: str) -> None:
    body = '{"shell_command": ["touch", "/tmp/x"], "cwd": "/", "env": {"X": "1"}}'
    assert calls.call(method, path, calls.by_token, body).status in (404, 405)


def test_a_large_request_is_not_taken_in(calls: Calls) -> None:
    with socket.create_connection(("127.0.0.1", calls.port), timeout=10) as raw:
        head = f"POST /login HTTP/1.1\r\nHost: localhost\r\nContent-Length: {64 << 20}\r\n\r\n"
        raw.sendall(head.encode())
        assert raw.recv(100).startswith(b"HTTP/1.1 400")


def test_the_page_says_what_it_may_load(calls: Calls) -> None:
    answer = calls.get("/learn", **calls.by_token)
    policy = dict(
        part.strip().split(" ", 1) for part in answer.headers["Content-Security-Policy"].split(";")
    )
    assert policy["default-src"] == "'none'"
    assert policy["script-src"] == "'self'"
    assert policy["connect-src"] == f"'self' ws://127.0.0.1:{calls.port}"
    assert policy["frame-ancestors"] == policy["base-uri"] == policy["form-action"] == "'none'"
    assert "unsafe" not in policy["style-src"]
    nonces = [
        calls.get("/learn", **calls.by_token).headers["Content-Security-Policy"] for _ in "ab"
    ]
    assert nonces[0] != nonces[1]
    assert answer.headers["X-Content-Type-Options"] == "nosniff"
    assert answer.headers["Cache-Control"] == "no-store"
    assert calls.token.encode() not in answer.body


# --- the terminal ---


def test_a_terminal_is_what_we_say_it_is(visitor: Visitor) -> None:
    wishes = {"shell_command": ["touch", "x"], "cwd": "/", "env": {"WISH": "1"}, "name": "mine"}
    answer = visitor.post("/learn/api/terminal", {"number": 1, **wishes})
    assert answer.status == 200
    assert answer.json()["name"] != "mine"
    for number in (0, 3, "1", True, None, [1]):
        assert visitor.post("/learn/api/terminal", {"number": number}).status == 400
    with visitor.terminal() as terminal:
        seen = terminal.ask("echo in-${PWD##*/}-wish-$WISH-")
        assert "in-gsb-kueue-wish--" in seen


def test_the_shell_knows_no_secret(lab: Lab, visitor: Visitor, calls: Calls) -> None:
    with visitor.terminal() as terminal:
        seen = terminal.ask("env | cut -d= -f1 | sort | tr '\\n' ' '")
        names = set(seen.replace("\r", " ").replace("\n", " ").split())
        assert "KUBECONFIG" in names
        telling = ("TOKEN", "SECRET", "PASSWORD", "JUPYTER", "JPY", "PYXTERM", "SUPERVISOR", "GPU_")
        assert not [name for name in names if any(word in name for word in telling)]
        assert calls.token not in terminal.ask("env")
    home = Path(lab.status()["home"])
    pid = lab.component("page")["pid"]
    assert calls.token not in " ".join(psutil.Process(pid).cmdline())
    assert calls.token.encode() not in Path(f"/proc/{pid}/environ").read_bytes()
    files = [f for f in home.rglob("*") if f.is_file() and f.stat().st_size < 1 << 20]
    telling_files = [f for f in files if calls.token.encode() in f.read_bytes()]
    assert [f.name for f in telling_files] == ["launch.json"]
    assert stat.S_IMODE(telling_files[0].stat().st_mode) == 0o600
    assert stat.S_IMODE((home / "page").stat().st_mode) == 0o700


def test_the_shell_is_the_learners(visitor: Visitor) -> None:
    with visitor.terminal(2) as terminal:
        assert "gpu-node-0" in terminal.ask("export KEPT=yes; kubectl get nodes")
        seen = terminal.ask("printf '<%s>' 가나다 ün✓ 日本; stty size")
        assert all(word in seen for word in ("<가나다>", "<ün✓>", "<日本>", "40 150"))
        assert "is a function" in terminal.ask("type __start_kubectl | head -1")
    with visitor.terminal(2) as terminal:
        seen = terminal.ask("echo kept-$KEPT-")
        assert "kept-yes-" in seen
        assert "1;2c" not in seen  # an answer of a terminal, typed into the shell
    with visitor.terminal(1) as other:
        assert "kept--" in other.ask("echo kept-$KEPT-")


def test_eight_terminals_may_be_open(visitor: Visitor, closing: list[Terminal]) -> None:
    for _ in range(12):  # those that nobody came for make room
        assert visitor.post("/learn/api/terminal", {"number": 1}).status == 200
    closing += [visitor.terminal() for _ in range(8)]
    refused = visitor.post("/learn/api/terminal?lang=ko", {"number": 1})
    assert refused.status == 429
    assert set(refused.json()) == {"error", "next"}
    assert "터미널" in refused.json()["error"]


def test_a_shell_that_does_not_read_stops_nobody(visitor: Visitor) -> None:
    with visitor.terminal(1) as stuck, visitor.terminal(2) as other:
        stuck.ask("true")
        stuck.type("sleep 4; sed /^end/q > /dev/null\r")
        for _ in range(40):
            stuck.type(("#" * 99 + "\r") * 40)
        began = time.monotonic()
        other.ask("true")
        assert time.monotonic() - began < 3.5
        stuck.type("\rend\r")
        stuck.ask("true")


def test_a_message_too_large_ends_that_socket_only(visitor: Visitor) -> None:
    with visitor.terminal(1) as terminal:
        terminal.type("#" * (300 << 10))
        with pytest.raises((WebSocketException, OSError, EOFError)):
            terminal.read("never")
    with visitor.terminal(1) as terminal:
        terminal.ask("true")


def test_output_that_nobody_reads_is_not_kept(lab: Lab, visitor: Visitor, calls: Calls) -> None:
    process = psutil.Process(lab.component("page")["pid"])
    before = process.memory_info().rss
    with visitor.terminal(1) as terminal:
        terminal.type("clear; timeout 3 yes; touch done.txt\r")
        done = lab.workspace / "done.txt"
        wait_until(lambda: None if done.exists() else say("still writing"), within=10)
        assert calls.get("/learn/ready").status == 200
        assert process.memory_info().rss - before < 60 << 20
        terminal.type("rm done.txt\r")


def test_it_listens_on_loopback_only(lab: Lab, calls: Calls) -> None:
    process = psutil.Process(lab.component("page")["pid"])
    listening = [c.laddr for c in process.net_connections("inet") if c.status == "LISTEN"]
    assert [(where.ip, where.port) for where in listening] == [("127.0.0.1", calls.port)]
