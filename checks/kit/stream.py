"""Lists and watches of the API server over plain HTTPS, for a program that runs all the time.

The Kubernetes client would double the memory of a recorder; a watch is one GET that never ends.
"""

from __future__ import annotations

import base64
import contextlib
import http.client
import json
import socket
import ssl
import tempfile
import threading
from collections.abc import Iterator, Mapping
from pathlib import Path
from urllib.parse import urlsplit

from checks.kit.kubeconfig import read_kubeconfig
from checks.kit.paths import dig_count, dig_list, dig_map, dig_text
from checks.outcome import CannotTell

ANSWER_SECONDS = 10.0
# A bookmark comes about once a minute (apiserver: watch cache), so silence beyond this is an end.
SILENCE_SECONDS = 100.0
WATCH_SECONDS = 1500


class StreamLost(Exception):
    """The API server does not answer, or what it says is no answer."""


class Refused(StreamLost):
    """It answers with a status that is not 200; `status` 410 means that the version is too old."""

    def __init__(self, status: int) -> None:
        super().__init__(f"HTTP {status}")
        self.status = status


class ApiStream:
    """Reads one API server as the account of a kubeconfig; each call opens its own connection."""

    def __init__(self, kubeconfig: Path) -> None:
        self._kubeconfig = kubeconfig
        self._open: set[socket.socket] = set()
        self._lock = threading.Lock()
        self._is_closed = False

    def close(self) -> None:
        """End all watches that are open, from whatever thread; none is opened after that."""
        with self._lock:
            self._is_closed = True
            for sock in self._open:
                # Not SSLSocket's own method: it takes the state away that a reader still uses.
                with contextlib.suppress(OSError):
                    socket.socket.shutdown(sock, socket.SHUT_RDWR)

    def reach(self, within: float) -> None:
        """Connect, which a server that hangs does not answer over TLS, and ask nothing.

        `within` is in seconds. Raises StreamLost.
        """
        try:
            connection, _ = self._connect()
            connection.timeout = within
            with contextlib.closing(connection):
                connection.connect()
        except (CannotTell, OSError, ValueError) as error:
            raise StreamLost(str(error)) from error

    def get(self, path: str) -> Mapping[str, object]:
        """The JSON object at a path. Raises StreamLost, or Refused for a status other than 200."""
        with self._answer(path) as answer:
            try:
                content = json.loads(answer.read())
            except ValueError as error:
                raise StreamLost("no JSON") from error
        if not isinstance(content, dict):
            raise StreamLost("no JSON object")
        return content

    def watch(self, path: str, version: str) -> Iterator[tuple[str, Mapping[str, object]]]:
        """Type and object of each event after `version`; ends when the server ends the watch.

        Raises Refused(410) when the server no longer knows that version.
        """
        query = f"watch=true&allowWatchBookmarks=true&timeoutSeconds={WATCH_SECONDS}"
        with self._answer(f"{path}?{query}&resourceVersion={version}") as answer:
            while line := answer.readline():
                try:
                    event = json.loads(line)
                except ValueError as error:  # cut off in the middle
                    raise StreamLost("torn event") from error
                content = dig_map(event, "object")
                if dig_text(event, "type") == "ERROR":
                    raise Refused(dig_count(content, "code"))
                yield dig_text(event, "type"), content

    @contextlib.contextmanager
    def _answer(self, path: str) -> Iterator[http.client.HTTPResponse]:
        try:
            connection, headers = self._connect()
        except (CannotTell, OSError, ValueError) as error:
            raise StreamLost(str(error)) from error
        sock: socket.socket | None = None
        try:
            connection.connect()
            sock = connection.sock
            with self._lock:
                self._open.add(sock)
            if self._is_closed:
                raise StreamLost("closed")
            connection.request("GET", path, headers=headers)
            answer = connection.getresponse()
            if answer.status != 200:
                raise Refused(answer.status)
            sock.settimeout(SILENCE_SECONDS)
            yield answer
        except (OSError, http.client.HTTPException) as error:
            raise StreamLost(f"{type(error).__name__}: {error}") from error
        finally:
            if sock is not None:
                with self._lock:
                    self._open.discard(sock)
            connection.close()

    def _connect(self) -> tuple[http.client.HTTPConnection, dict[str, str]]:
        config = read_kubeconfig(self._kubeconfig)
        url = urlsplit(config.server)
        user = _user_of(config.content)
        headers = {"Accept": "application/json"}
        if token := dig_text(user, "token"):
            headers["Authorization"] = f"Bearer {token}"
        if url.scheme == "http":
            return http.client.HTTPConnection(url.netloc, timeout=ANSWER_SECONDS), headers
        context = ssl.create_default_context(cadata=_decoded(config.authority) or None)
        _show(context, user)
        return http.client.HTTPSConnection(
            url.netloc, timeout=ANSWER_SECONDS, context=context
        ), headers


def _user_of(content: Mapping[str, object]) -> Mapping[str, object]:
    current = dig_text(content, "current-context")
    for context in dig_list(content, "contexts"):
        if dig_text(context, "name") == current:
            for user in dig_list(content, "users"):
                if dig_text(user, "name") == dig_text(context, "context", "user"):
                    return dig_map(user, "user")
    return {}


def _show(context: ssl.SSLContext, user: Mapping[str, object]) -> None:
    """Load the client certificate; the ssl module takes it from a file only."""
    certificate = _decoded(dig_text(user, "client-certificate-data"))
    key = _decoded(dig_text(user, "client-key-data"))
    if not certificate:
        return
    with tempfile.NamedTemporaryFile("w", suffix=".pem", encoding="ascii") as file:
        file.write(certificate + "\n" + key)
        file.flush()
        context.load_cert_chain(file.name)


def _decoded(text: str) -> str:
    return base64.b64decode(text, validate=True).decode("ascii")
