"""The page's data as its scripts get them: calls, and the stream, without a browser."""

from __future__ import annotations

import contextlib
import http.client
import json
import socket
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any
from urllib.parse import parse_qs, urlsplit

from provision.message import Message, say
from provision.waiting import wait_until


@dataclass(frozen=True, slots=True)
class Told:
    """One event of the stream; `at` is when it came, by the monotonic clock."""

    kind: str
    data: Any
    at: float


@dataclass
class Stream:
    """What one open stream has told so far."""

    events: list[Told] = field(default_factory=list)
    comments: int = 0

    def of(self, kind: str) -> list[Told]:
        """All events of a kind, oldest first."""
        return [event for event in list(self.events) if event.kind == kind]

    def last(self, kind: str) -> Any:
        """The data of the newest event of a kind."""
        return self.of(kind)[-1].data

    def await_told(self, kind: str, fits: Callable[[Any], object], within: float = 15) -> Told:
        """Wait for an event of a kind that fits; the first such."""

        def found() -> Told | None:
            return next((one for one in self.of(kind) if fits(one.data)), None)

        def missing() -> Message | None:
            seen = [one.data for one in self.of(kind)][-1:]
            return None if found() else say("no such {kind}; {seen}", kind=kind, seen=seen)

        wait_until(missing, within=within, every=0.01)
        told = found()
        assert told is not None
        return told

    def settled(self, kind: str, fits: Callable[[Any], object], within: float = 15) -> Any:
        """Wait until the newest event of a kind fits; its data."""

        def missing() -> Message | None:
            newest = self.of(kind)[-1:]
            is_fit = newest and fits(newest[0].data)
            return None if is_fit else say("{kind}: {seen}", kind=kind, seen=newest)

        wait_until(missing, within=within, every=0.02)
        return self.last(kind)


class PageCalls:
    """One logged-in caller, by the link that `lab open` prints."""

    def __init__(self, link: str) -> None:
        parts = urlsplit(link)
        self.port = parts.port or 80
        self._token = parse_qs(parts.query)["token"][0]

    def call(
        self, method: str, path: str, data: object = None, language: str = "en"
    ) -> tuple[int, Any]:
        """Status and JSON of a call below /learn/api; bytes go out as they are."""
        connection = http.client.HTTPConnection("127.0.0.1", self.port, timeout=30)
        mark = "&" if "?" in path else "?"
        try:
            body = data if data is None or isinstance(data, bytes) else json.dumps(data)
            address = f"/learn/api/{path}{mark}lang={language}"
            connection.request(method, address, body, self._headers())
            answer = connection.getresponse()
            return answer.status, json.loads(answer.read())
        finally:
            connection.close()

    def get(self, path: str, language: str = "en") -> Any:
        """The JSON of a GET that succeeds."""
        status, answer = self.call("GET", path, language=language)
        assert status == 200, (status, answer)
        return answer

    def is_ready(self) -> bool:
        """Whether the server answers at all."""
        connection = http.client.HTTPConnection("127.0.0.1", self.port, timeout=2)
        try:
            connection.request("GET", "/learn/ready")
            return connection.getresponse().status == 200
        except OSError:
            return False
        finally:
            connection.close()

    @contextmanager
    def listening(self, language: str = "en") -> Iterator[Stream]:
        """An open stream, read by a thread until the end of the block."""
        connection = http.client.HTTPConnection("127.0.0.1", self.port, timeout=60)
        connection.request("GET", f"/learn/api/stream?lang={language}", headers=self._headers())
        answer = connection.getresponse()
        assert answer.status == 200, answer.status
        stream, sock = Stream(), connection.sock
        reader = threading.Thread(target=_read, args=(answer, stream), daemon=True)
        reader.start()
        try:
            yield stream
        finally:
            if sock is not None:
                with contextlib.suppress(OSError):  # the server may have gone first
                    sock.shutdown(socket.SHUT_RDWR)
            reader.join(10)
            answer.close()
            connection.close()

    def _headers(self) -> dict[str, str]:
        return {"Authorization": f"token {self._token}", "Content-Type": "application/json"}


def _read(answer: http.client.HTTPResponse, stream: Stream) -> None:
    kind = ""
    try:
        for raw in answer:
            name, _, text = raw.decode().rstrip("\n").partition(": ")
            if name == "event":
                kind = text
            elif name == "data":
                stream.events.append(Told(kind, json.loads(text), time.monotonic()))
            elif raw.startswith(b":"):
                stream.comments += 1
    except (OSError, http.client.HTTPException, ValueError):
        return
