"""The page behind JupyterHub: a place for each learner, and who may come to whose."""

from __future__ import annotations

import os
import signal
from collections.abc import Iterator
from pathlib import Path

import pytest
from playwright.sync_api import Browser
from websocket import WebSocketException

from provision.message import say
from provision.waiting import wait_until
from tests.conftest import Surroundings
from tests.integration.web.calls import Terminal, Visitor
from tests.integration.web.hub import UP_SECONDS, Hub, hub_of
from tests.integration.web.seat import Seat, shoot
from tests.integration.web.test_probes import EVIL, STOCK

FETCH = """async ([path, header]) => (await fetch(path, { redirect: 'manual',
  headers: header ? { 'X-XSRFToken': document.body.dataset.xsrf } : {} })).status"""
NOTICE = "document.querySelector('#notices')?.innerText ?? ''"
LINK = "document.querySelector('#terminal-link')?.dataset.state ?? ''"
SECRETS = ("TOKEN", "SECRET", "PASSWORD", "JUPYTER", "JPY", "PYXTERM")


@pytest.fixture(scope="module")
def hub(surroundings: Surroundings, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Hub]:
    with hub_of(surroundings(tmp_path_factory.mktemp("hub"))) as hub:
        yield hub
    assert hub.left() == []


@pytest.fixture(scope="module")
def ann(hub: Hub, browser: Browser) -> Iterator[Seat]:
    """The first learner, at her page; what it said until her place was there is in `notices`."""
    seat = hub.enter(browser, "ann")
    yield arrive(seat)
    seat.leave()


@pytest.fixture(scope="module")
def visitor(hub: Hub, ann: Seat) -> Visitor:
    return hub.visitor("ann", ann)


def arrive(seat: Seat) -> Seat:
    """Wait until the page shows a place that is up; what it said meanwhile goes to `told`."""
    seen: list[str] = []

    def is_there() -> bool:
        if "/learn" not in seat.page.url:
            return False
        notice = str(seat.ask(NOTICE))
        if notice and notice not in seen:
            seen.append(notice)
        return seat.ask(LINK) == "connected" and not notice and bool(seat.rows("gpus"))

    seat.page.wait_for_url("**/learn", timeout=UP_SECONDS * 1000)
    seat.await_true(is_there, "the place is up", UP_SECONDS)
    seat.await_connected()
    seat.told += [f"notice: {notice}" for notice in seen]
    return seat


def complaints(seat: Seat) -> list[str]:
    """What the console said; not that a terminal was asked for before the place was there."""
    return [line for line in seat.told if not line.startswith("notice: ") and "503" not in line]


def test_a_learner_gets_a_place_of_her_own(hub: Hub, ann: Seat, tmp_path: Path) -> None:
    notices = [line for line in ann.told if line.startswith("notice: ")]
    assert any("is being brought up" in notice for notice in notices), ann.told
    assert ann.page.url.endswith("/user/ann/learn")
    workspace = hub.home("ann") / "kueue_quota" / "gsb-kueue"
    ann.run("pwd", str(workspace))
    ann.run("kubectl get nodes -o name", "node/gpu-node-0")
    assert "expected" in ann.check("NOT YET").lower()
    assert len(ann.rows("gpus")) == 4
    shoot(ann, "hub-ann", tmp_path)
    assert ann.violations == []
    assert complaints(ann) == []


def test_calls_of_a_page_carry_the_token_on_a_get_too(ann: Seat) -> None:
    """A hub asks for it, unlike Jupyter Server by itself."""
    assert ann.ask(FETCH, ["learn/api/state", False]) == 403
    assert ann.ask(FETCH, ["learn/api/state", True]) == 200
    assert ann.ask(FETCH, ["learn/api/stream", False]) in (0, 403)  # 0: led to the login


def test_the_shell_knows_no_secret_of_the_hub(hub: Hub, visitor: Visitor) -> None:
    with visitor.terminal() as terminal:
        names = "clear; env | cut -d= -f1 | sort | tr '\\n' ' '; echo end-$((1+1))"
        seen = set(terminal.run(names, "end-2").split())
        assert {"KUBECONFIG", "LAB_HOME"} <= seen
        assert not [name for name in seen if any(word in name for word in SECRETS)]
    server = hub.server("ann")
    assert server is not None
    secret = server.environ()["JUPYTERHUB_API_TOKEN"]
    with visitor.terminal() as terminal:
        assert secret not in terminal.run("clear; env; echo end-$((2+2))", "end-4")
    assert secret not in " ".join(server.cmdline())
    holders = [
        file
        for file in hub.home("ann").rglob("*")
        if file.is_file() and file.stat().st_size < 1 << 20 and secret in file.read_text("latin-1")
    ]
    assert holders == []


def test_another_learner_is_not_let_in(hub: Hub, browser: Browser, ann: Seat) -> None:
    ben = hub.enter(browser, "ben", following="/hub/home")
    ben.page.wait_for_url("**/hub/home")
    answer = ben.page.goto(hub.address("ben", "/user/ann/learn"))
    assert answer is not None
    assert answer.status == 403
    for path in ("api/lab", "api/stream"):
        assert ben.page.request.get(hub.address("ben", f"/user/ann/learn/{path}")).status == 403
    assert hub.server("ben") is None
    ben.leave()


# --- the table of probes, through the hub ---


@pytest.mark.parametrize(
    ("path", "status"),
    [
        *(("/learn", 302), ("/learn?token=wrong", 302), ("/learn/api/lab", 403)),
        *(("/learn/api/state", 403), ("/learn/api/files", 403), ("/learn/api/hint?step=1", 403)),
        *(("/api/status", 403), ("/learn/ready", 200)),
    ],
)
def test_nobody_gets_in_without_the_hub(hub: Hub, ann: Seat, path: str, status: int) -> None:
    answer = hub.calls("ann").get(path)
    assert answer.status == status
    if status == 302:
        assert answer.headers["Location"].startswith("/hub/api/oauth2/authorize")


def test_nobody_hears_or_types_without_the_hub(hub: Hub, visitor: Visitor) -> None:
    calls = hub.calls("ann")
    assert calls.get("/learn/api/stream").status in (302, 403)
    name = visitor.post("/learn/api/terminal", {"number": 1}).json()["name"]
    assert calls.connect(f"/terminals/websocket/{name}", origin=calls.origin) == 403
    for path in ("/learn/api/check", "/learn/api/hint", "/learn/api/terminal"):
        assert calls.call("POST", path, {}, '{"step": 1}').status == 403


def test_a_post_needs_the_right_xsrf_token(visitor: Visitor) -> None:
    cookie = {"Cookie": visitor.cookie}
    for path in ("/learn/api/check", "/learn/api/hint", "/learn/api/terminal"):
        assert visitor.calls.call("POST", path, cookie, "{}").status == 403
        bad = {**cookie, "X-XSRFToken": "bad"}
        assert visitor.calls.call("POST", path, bad, "{}").status == 403
        assert visitor.post(path, {"step": 1}, Origin=EVIL).status in (403, 404)
    assert visitor.post("/learn/api/terminal", {"number": 1}).status == 200


@pytest.mark.parametrize(
    ("origin", "status"), [(EVIL, 403), ("null", 403), ("http://127.0.0.1:1", 403), (None, 101)]
)
def test_a_websocket_is_for_our_own_origin(
    visitor: Visitor, origin: str | None, status: int
) -> None:
    made = visitor.socket(origin=origin)
    if isinstance(made, Terminal):
        made.connection.close()
        made = 101  # type: ignore[assignment]
    assert made == status


@pytest.mark.parametrize("path", STOCK)
def test_only_our_routes_answer(visitor: Visitor, path: str) -> None:
    answer = visitor.calls.get(path, Cookie=visitor.cookie, X_XSRFToken=visitor.xsrf)
    assert answer.status == 404


def test_the_page_says_what_it_may_load(hub: Hub, visitor: Visitor) -> None:
    answer = visitor.calls.get("/learn", Cookie=visitor.cookie)
    assert answer.status == 200
    policy = answer.headers["Content-Security-Policy"]
    assert "default-src 'none'" in policy
    assert f"connect-src 'self' ws://127.0.0.1:{hub.demo.port}" in policy
    assert "frame-ancestors 'none'" in policy


def test_a_terminal_is_what_we_say_it_is(visitor: Visitor) -> None:
    wishes = {"shell_command": ["touch", "x"], "cwd": "/", "env": {"WISH": "1"}, "name": "mine"}
    answer = visitor.post("/learn/api/terminal", {"number": 1, **wishes})
    assert answer.status == 200
    assert answer.json()["name"] != "mine"
    with visitor.terminal(2) as terminal:
        terminal.run(
            "until stty size | grep -q '40 150'; do :; done; echo sized-$((1+1))", "sized-2"
        )
        seen = terminal.run("pwd; echo wish=$WISH; printf '%s-\\n' 가나다 日本", "日本-")
        assert "gsb-kueue" in seen
        assert "wish=\r\n" in seen
        assert all(word in seen for word in ("가나다", "日本"))


def test_eight_terminals_may_be_open(visitor: Visitor) -> None:
    opened = [visitor.terminal() for _ in range(7)]  # the page holds one
    refused = visitor.post("/learn/api/terminal", {"number": 1})
    for terminal in opened:
        terminal.connection.close()
    assert refused.status == 429


def test_a_reload_keeps_the_shell(ann: Seat) -> None:
    ann.run("KEPT=yes; echo set-$((1+1))", "set-2")
    ann.page.reload()
    arrive(ann)
    ann.run("echo kept-$KEPT", "kept-yes")
    assert "1;2c" not in ann.screen()  # an answer of a terminal, typed into the shell


def test_a_shell_that_does_not_read_stops_nobody(visitor: Visitor) -> None:
    with visitor.terminal(2) as stuck, visitor.terminal(1) as other:
        stuck.run("sleep 4; echo woke-$((5+5))", "sleep 4")
        for _ in range(40):
            stuck.type("#" * 4096)
        other.run("clear; echo quick-$((6+6))", "quick-12", within=2.5)
        stuck.type("\x03\x15\r")


def test_a_message_too_large_ends_that_socket_only(visitor: Visitor) -> None:
    with visitor.terminal(2) as terminal:
        terminal.type("#" * (300 << 10))
        with pytest.raises((WebSocketException, OSError, EOFError)):
            terminal.read("never")
    with visitor.terminal(2) as terminal:
        terminal.run("\x03clear; echo again-$((7+7))", "again-14")


@pytest.mark.full
def test_output_that_nobody_reads_is_not_kept(hub: Hub, visitor: Visitor) -> None:
    server, done = hub.server("ann"), hub.lab("ann").workspace / "done.txt"
    assert server is not None
    before = server.memory_info().rss
    with visitor.terminal(2) as terminal:
        terminal.type("clear; timeout 3 yes; touch done.txt\r")
        wait_until(lambda: None if done.exists() else say("still writing"), within=20)
        assert visitor.calls.get("/learn/ready").status == 200
        assert server.memory_info().rss - before < 60 << 20
    done.unlink()


def test_another_site_cannot_read_the_stream(visitor: Visitor) -> None:
    stream = f"/learn/api/stream?_xsrf={visitor.xsrf}"
    answer = visitor.calls.get(stream, Cookie=visitor.cookie, Origin=EVIL)
    assert "Access-Control-Allow-Origin" not in answer.headers


def test_a_name_that_points_here_gets_to_the_login_and_no_further(hub: Hub, ann: Seat) -> None:
    """A hub does not know its names, and checks no Host; a browser has no cookie for that one."""
    calls = hub.calls("ann")
    assert calls.get("/learn", Host="evil.example").status == 302
    assert calls.get("/learn/api/state", Host="evil.example").status == 403


def test_the_servers_own_token_is_a_login(hub: Hub, ann: Seat) -> None:
    server = hub.server("ann")
    assert server is not None
    secret = server.environ()["JUPYTERHUB_API_TOKEN"]
    calls = hub.calls("ann")
    assert calls.get("/learn/api/state", Authorization=f"token {secret}").status == 200
    assert calls.get("/learn/api/state", Authorization="token wrong").status == 403
    assert calls.get(f"/learn?token={secret}").status == 302  # not in an address


# --- two learners, and how servers end ---


@pytest.mark.full
def test_two_learners_see_their_own_clusters(
    hub: Hub, browser: Browser, ann: Seat, tmp_path: Path
) -> None:
    ben = arrive(hub.enter(browser, "ben"))
    make = "kubectl create namespace only-anns; echo made-$((1+1))"
    ann.run(make, "made-2")
    ben.run("kubectl get namespace only-anns; echo asked-$((2+2))", "asked-4")
    assert "not found" in ben.screen()
    assert ben.check("NOT YET")
    shoot(ben, "hub-ben", tmp_path)
    assert complaints(ben) == []
    stop(ben, hub, "ben")
    ben.leave()


def stop(seat: Seat, hub: Hub, name: str) -> None:
    """Stop a learner's server as the learner does, by the hub's own page."""
    seat.page.goto(hub.address(name, "/hub/home"))
    stopping = seat.page.locator("#stop")

    def is_asked() -> bool:
        if stopping.is_visible():
            stopping.click()  # the hub's page may not have heard the one before
        return not stopping.is_visible()

    seat.page.wait_for_selector("#start")
    wait_until(lambda: None if is_asked() else say("not asked"), within=60, every=0.5)
    hub.await_down(name)


@pytest.mark.full
def test_a_killed_server_leaves_nothing_and_comes_back(hub: Hub, ann: Seat) -> None:
    ann.run("echo kept > kept.txt; echo wrote-$((1+1))", "wrote-2")
    server = hub.server("ann")
    assert server is not None
    os.kill(server.pid, signal.SIGKILL)
    hub.await_down("ann")

    def is_starting() -> bool:
        ann.page.goto(hub.address("ann", "/hub/spawn"))
        return "spawn-pending" in ann.page.url or ann.page.url.endswith("/user/ann/learn")

    # Until the hub has looked, it leads to the server that is no more.
    ann.await_true(is_starting, "the hub starts another server", within=60, every=1)
    arrive(ann)
    ann.run("cat kept.txt", "kept")
    assert ann.check("NOT YET")


@pytest.mark.full
def test_a_place_that_was_taken_down_comes_back_with_the_page(ann: Seat) -> None:
    ann.type("lab down\n")
    ann.await_true(lambda: ann.ask(NOTICE), "the page says that the place is away", 60)
    ann.page.reload()
    arrive(ann)
    ann.run("kubectl get nodes -o name", "node/gpu-node-0")
