"""Plain requests and websockets to the page, with just the headers that a test names."""

from __future__ import annotations

import http.client
import itertools
import json
import re
import time
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any
from urllib.parse import parse_qs, urlsplit

import websocket

LOOPBACK = "127.0.0.1"
ESCAPE = re.compile(r"\x1b(?:\[[0-9;?>=]*[ -/]*[@-~]|\][^\x07]*\x07|[()][A-Z0-9]|[^\[\]()])")
NUMBERS = itertools.count(1001)  # no screen of an earlier test holds the number of a later one


@dataclass(frozen=True, slots=True)
class Answer:
    """What came back; the body only as far as it came at once for a stream."""

    status: int
    body: bytes
    headers: http.client.HTTPMessage

    @property
    def cookies(self) -> dict[str, str]:
        pairs = [c.split(";")[0].split("=", 1) for c in self.headers.get_all("Set-Cookie") or ()]
        return {pair[0]: pair[1] for pair in pairs}

    def json(self) -> Any:
        return json.loads(self.body)


@dataclass(frozen=True)
class Calls:
    """Calls to a page at `port`, which knows `token`."""

    port: int
    token: str

    @classmethod
    def by(cls, link: str) -> Calls:
        """To the page of a link that `lab open` printed."""
        parts = urlsplit(link)
        assert parts.port is not None
        return cls(parts.port, parse_qs(parts.query)["token"][0])

    @property
    def origin(self) -> str:
        return f"http://{LOOPBACK}:{self.port}"

    @property
    def by_token(self) -> dict[str, str]:
        return {"Authorization": f"token {self.token}"}

    def call(
        self, method: str, path: str, headers: Mapping[str, str] | None = None, body: str = ""
    ) -> Answer:
        connection = http.client.HTTPConnection(LOOPBACK, self.port, timeout=10)
        try:
            connection.putrequest(method, path, skip_host=True)
            for name, value in {"Host": f"{LOOPBACK}:{self.port}", **(headers or {})}.items():
                connection.putheader(name, value)
            connection.putheader("Content-Length", str(len(body)))
            connection.endheaders(body.encode())
            response = connection.getresponse()
            is_stream = "event-stream" in (response.getheader("Content-Type") or "")
            content = response.read1(200) if is_stream else response.read()
            response.close()
            return Answer(response.status, content, response.headers)
        finally:
            connection.close()

    def get(self, path: str, **headers: str) -> Answer:
        """GET; header names as keywords, `_` for `-`."""
        return self.call("GET", path, {n.replace("_", "-"): v for n, v in headers.items()})

    def log_in(self) -> Visitor:
        """As a browser does that opens the link."""
        first = self.get(f"/learn?token={self.token}")
        assert first.status == 302, first
        jar = dict(first.cookies)
        second = self.get("/learn", Cookie=_cookie(jar))
        assert second.status == 200, second
        jar |= second.cookies
        found = re.search(rb'data-xsrf="([^"]+)"', second.body)
        assert found is not None
        return Visitor(self, jar, found.group(1).decode())

    def connect(self, path: str, **options: Any) -> Terminal | int:
        """A websocket, or the status of the refusal."""
        options.setdefault("suppress_origin", "origin" not in options)
        try:
            made = websocket.create_connection(
                f"ws://{LOOPBACK}:{self.port}{path}", timeout=10, **options
            )
        except websocket.WebSocketBadStatusException as error:
            return error.status_code
        return Terminal(made)


@dataclass(frozen=True)
class Visitor:
    """Somebody who is logged in by a cookie."""

    calls: Calls
    jar: Mapping[str, str]
    xsrf: str

    @property
    def cookie(self) -> str:
        return _cookie(self.jar)

    def post(self, path: str, body: Mapping[str, object], **headers: str) -> Answer:
        named = {name.replace("_", "-"): value for name, value in headers.items()}
        sent = {"Cookie": self.cookie, "X-XSRFToken": self.xsrf, **named}
        return self.calls.call("POST", path, sent, json.dumps(body))

    def socket(self, number: int = 1, **options: Any) -> Terminal | int:
        """A new terminal on a shell, from our own origin unless said otherwise."""
        answer = self.post("/learn/api/terminal", {"number": number})
        assert answer.status == 200, answer
        options.setdefault("origin", self.calls.origin)
        options.setdefault("header", {"Cookie": self.cookie})
        if options["origin"] is None:
            del options["origin"]
        return self.calls.connect(f"/terminals/websocket/{answer.json()['name']}", **options)

    def terminal(self, number: int = 1) -> Terminal:
        made = self.socket(number)
        assert isinstance(made, Terminal), made
        return made


@dataclass
class Terminal:
    """A websocket of the terminado protocol; `seen` is all output without its colours."""

    connection: websocket.WebSocket
    seen: str = ""
    rest: str = field(default="", repr=False)

    def __enter__(self) -> Terminal:
        self.send("set_size", 40, 150, 0, 0)
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        """Close it, also when the other side has done so before."""
        self.connection.close()
        self.connection.shutdown()

    def send(self, *message: object) -> None:
        self.connection.send(json.dumps(message))

    def type(self, text: str) -> None:
        self.send("stdin", text)

    def read(self, until: str, within: float = 30) -> str:
        """Read until a text was shown, at most so many seconds; what was seen since the start."""
        deadline, start = time.monotonic() + within, 0
        while until not in self.seen[start:]:
            start = max(len(self.seen) - len(until), 0)
            self.connection.settimeout(max(deadline - time.monotonic(), 0.01))
            try:
                message = self.connection.recv()
            except websocket.WebSocketTimeoutException:
                raise AssertionError(f"{until!r} is not in {self.seen[-2000:]!r}") from None
            if not message:
                raise EOFError(f"closed before {until!r}: {self.seen[-2000:]!r}")
            kind, *rest = json.loads(message)
            if kind == "stdout":
                self._hear(rest[0])
        return self.seen

    def _hear(self, text: str) -> None:
        """Take in output; an escape sequence that is cut off waits for its end."""
        text = self.rest + text
        cut = text.rfind("\x1b")
        whole = cut < 0 or len(text) - cut > 40 or ESCAPE.match(text, cut)
        self.rest = "" if whole else text[cut:]
        self.seen += ESCAPE.sub("", text if whole else text[:cut])

    def run(self, command: str, until: str, within: float = 30) -> str:
        self.type(command + "\r")
        return self.read(until, within)

    def ask(self, command: str) -> str:
        """What a command prints, on a cleared screen; it must have ended."""
        number = next(NUMBERS)
        start = len(self.seen)
        self.type(f"clear; {command}; echo said-$(({number} + 0))\r")
        return self.read(f"said-{number}")[start:]


def _cookie(jar: Mapping[str, str]) -> str:
    return "; ".join(f"{name}={value}" for name, value in jar.items())
