"""The page's process: opened, killed, moved, brought back by a reset, and ended with its shells."""

from __future__ import annotations

import os
import signal
import socket
import ssl
import subprocess
import sys
import time
import urllib.error
import urllib.request
import webbrowser
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from types import SimpleNamespace

import pytest
from playwright.sync_api import Browser

from lab.web.browsing import show
from lab.web.launch import Launch, new_token, tmux_socket, write_launch
from provision.message import Message, say
from provision.waiting import wait_until
from tests.integration.cli import Lab
from tests.integration.web.calls import Calls
from tests.integration.web.conftest import open_link


def await_answer(calls: Calls, within: float = 20) -> None:
    def missing() -> Message | None:
        try:
            return None if calls.get("/learn/ready").status == 200 else say("another answer")
        except OSError as error:
            return say("{error}", error=error)

    wait_until(missing, within=within, every=0.02)


def shells(home: Path) -> str:
    """The sessions of the place's tmux server, empty when it does not run."""
    where = str(tmux_socket(home))
    done = subprocess.run(["tmux", "-S", where, "ls"], capture_output=True, text=True, check=False)
    return done.stdout


def test_a_killed_server_comes_back_with_the_shell_as_it_was(lab: Lab, link: str) -> None:
    calls = Calls.by(link)
    visitor = calls.log_in()
    pid = lab.component("page")["pid"]
    with visitor.terminal() as terminal:
        terminal.ask("cd /tmp")
        terminal.type("echo kept-$((40")
        terminal.read("kept-$((40")
        os.kill(pid, signal.SIGKILL)
    await_answer(calls)
    with visitor.terminal() as terminal:  # by the cookie of before
        terminal.run("+2))-$PWD", "kept-42-/tmp")


def test_opening_again_and_provisioning_leave_it_alone(lab: Lab, link: str) -> None:
    pid = lab.component("page")["pid"]
    assert open_link(lab) == link
    lab.done("provision")
    said = lab.run("status", "--json").json()["components"]
    assert [c["pid"] for c in said if c["name"] == "page"] == [pid]


def test_a_file_that_leads_to_the_link_logs_in(
    browser: Browser, link: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A strict cookie is not sent along when a redirect began elsewhere."""
    opened: list[str] = []
    fake = SimpleNamespace(open=lambda url: not opened.append(url))
    monkeypatch.setattr(webbrowser, "get", lambda: fake)
    assert show(link, tmp_path, {"DISPLAY": ":0"})
    context = browser.new_context()
    page = context.new_page()
    page.goto(opened[0])
    page.wait_for_url(Calls.by(link).origin + "/learn", wait_until="commit", timeout=15_000)
    assert page.locator("body[data-xsrf]").count() == 1
    context.close()


def test_a_reset_in_its_own_shell_brings_it_back_with_a_new_shell(lab: Lab, link: str) -> None:
    visitor = Calls.by(link).log_in()
    told, home = lab.workspace.parent / "told.txt", lab.workspace.parent

    def missing() -> Message | None:
        said, left = _text(told), shells(home)
        is_done = "Ready after" in said and not left
        return None if is_done else say("told.txt: {said}\nshells: {left}", said=said, left=left)

    with visitor.terminal() as terminal:
        terminal.run(f"OLD=yes; lab reset --yes > {told} 2>&1", "reset")
        wait_until(missing, within=60)
    await_answer(visitor.calls)
    with visitor.terminal() as terminal:
        assert "old--" in terminal.ask("echo old-$OLD-")
    assert (lab.workspace / "Makefile").is_file()


def test_down_ends_it_with_its_shells_and_another_port_is_taken(lab: Lab, link: str) -> None:
    calls, home = Calls.by(link), lab.workspace.parent
    with calls.log_in().terminal() as terminal:
        terminal.ask("true")
        assert "lab-1" in shells(home)
        terminal.run("kubectl get namespaces -w", "team-a")
    began = time.monotonic()
    lab.done("down")
    assert time.monotonic() - began < 14, "the API server waits for the learner's watch"
    assert not shells(home)
    assert not (home / "page" / "launch.json").exists()
    with pytest.raises(ConnectionRefusedError):
        calls.get("/learn/ready")
    said = lab.run("open", "--no-browser")
    assert said.code == 3
    assert "make provision" in said.err
    lab.done("provision")
    assert "off (make open)" in lab.run("status").out
    status = lab.status()
    [page] = [c for c in status["components"] if c["name"] == "page"]
    assert (page["running"], page["on_demand"], page["detail"]) == (False, True, None)
    assert status["ready"]
    with socket.socket() as other:
        other.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        other.bind(("127.0.0.1", calls.port))
        other.listen()
        moved = Calls.by(open_link(lab))
        assert moved.port != calls.port
        await_answer(moved)
    assert "nothing had to be changed" in lab.done("provision").out
    assert f":{moved.port}/learn" in lab.run("status").out


# --- beyond loopback; no cluster is needed for it ---


@contextmanager
def bare_server(home: Path, environment: dict[str, str], **beyond: object) -> Iterator[Calls]:
    """The page's server of a place that was never brought up."""
    token = new_token()
    write_launch(home, Launch(token, "en", "", environment, **beyond))  # type: ignore[arg-type]
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port = probe.getsockname()[1]
    command = [sys.executable, "-I", "-m", "lab.web", f"--home={home}", f"--port={port}"]
    with (home / "page.log").open("w") as log:
        process = subprocess.Popen(command, env=environment, stdout=log, stderr=log)
    calls = Calls(port, token)
    try:
        await_answer(calls, within=30)
        yield calls
    finally:
        process.terminate()
        process.wait(timeout=10)


def test_beyond_loopback_only_known_names_are_answered(surroundings, tmp_path: Path) -> None:
    environment = {**surroundings(tmp_path), "LAB": "kueue_quota"}
    names = ("10.1.2.3", "lab.example")
    home = tmp_path / "kueue_quota"
    certificate, key = self_signed(tmp_path)
    options = {"address": "0.0.0.0", "hosts": names, "certificate": certificate, "key": key}
    with bare_server(home, environment, **options) as calls:
        for host, status in (
            *(("evil.example", 403), ("10.9.9.9", 403), ("127.0.0.1.evil.example", 403), ("", 403)),
            *(("10.1.2.3", 200), ("lab.example:443", 200), ("LAB.example", 200), ("[::1]", 200)),
        ):
            assert calls.get("/learn", **calls.by_token, Host=host).status == status, host
        assert calls.get("/learn", Host="lab.example").status == 302
        assert calls.get("/static/lab-web/login.css", Host="evil.example").status == 403
        context = ssl.create_default_context(cafile=certificate)
        request = f"https://127.0.0.2:{calls.port}/learn/ready"
        with pytest.raises(urllib.error.HTTPError, match="403") as refused:
            urllib.request.urlopen(
                urllib.request.Request(request, headers={"Host": "evil.example"}), context=context
            )
        refused.value.close()
        with urllib.request.urlopen(request, context=context) as answer:
            assert answer.read() == b"ok"


def test_no_token_no_server(surroundings, tmp_path: Path) -> None:
    environment = {**surroundings(tmp_path), "LAB": "kueue_quota"}
    home = tmp_path / "kueue_quota"
    command = [sys.executable, "-I", "-m", "lab.web", f"--home={home}", "--port=1"]
    for token, word in ((None, "never opened"), ("", "token"), ("short", "token")):
        if token is not None:
            write_launch(home, Launch(token, "en", ""))
        done = subprocess.run(command, env=environment, capture_output=True, text=True, check=False)
        assert done.returncode == 3
        assert word in done.stderr
        assert "make open" in done.stderr


def self_signed(folder: Path) -> tuple[str, str]:
    """A certificate for 127.0.0.2, and its key."""
    import datetime as dt
    import ipaddress

    from cryptography import x509
    from cryptography.hazmat.primitives import hashes, serialization
    from cryptography.hazmat.primitives.asymmetric import ec
    from cryptography.x509.oid import NameOID

    key = ec.generate_private_key(ec.SECP256R1())
    name = x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, "page")])
    now = dt.datetime.now(dt.UTC)
    where = x509.SubjectAlternativeName([x509.IPAddress(ipaddress.ip_address("127.0.0.2"))])
    certificate = (
        x509.CertificateBuilder()
        .subject_name(name)
        .issuer_name(name)
        .public_key(key.public_key())
        .serial_number(x509.random_serial_number())
        .not_valid_before(now - dt.timedelta(hours=1))
        .not_valid_after(now + dt.timedelta(hours=1))
        .add_extension(where, critical=False)
        .add_extension(x509.BasicConstraints(ca=True, path_length=None), critical=True)
        .sign(key, hashes.SHA256())
    )
    files = folder / "page.crt", folder / "page.key"
    files[0].write_bytes(certificate.public_bytes(serialization.Encoding.PEM))
    files[1].write_bytes(
        key.private_bytes(
            serialization.Encoding.PEM,
            serialization.PrivateFormat.PKCS8,
            serialization.NoEncryption(),
        )
    )
    return str(files[0]), str(files[1])


def _text(file: Path) -> str:
    return file.read_text() if file.exists() else ""
