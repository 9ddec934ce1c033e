"""Answers of an API server that were recorded, served again on loopback while a check runs.

It knows nothing of Kubernetes: a GET of a recorded path gets the recorded JSON, every other GET a
404, and whatever would write a 405 that is counted.
"""

from __future__ import annotations

import json
import threading
from collections.abc import Mapping
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from types import TracebackType

import yaml

from lab.fields import CatalogError
from provision.message import say

HOST = "127.0.0.1"
Answers = Mapping[str, object]


def read_answers(file: Path) -> Answers:
    """The recorded answers by path; CatalogError when the file holds none."""
    try:
        answers = json.loads(file.read_text(encoding="utf-8"))
    except (OSError, ValueError) as error:
        raise CatalogError(
            say("{file} cannot be read: {error}", file=file, error=error),
            next_move=say("Correct {file}.", file=file),
        ) from error
    if not isinstance(answers, dict) or not all(key.startswith("/") for key in answers):
        raise CatalogError(
            say("{file} holds no answers by path", file=file),
            next_move=say("Correct {file}.", file=file),
        )
    return answers


class Replay:
    """A server of recorded answers, for as long as its `with` block lasts."""

    def __init__(self, answers: Answers) -> None:
        self.writes = 0
        self.missing: list[str] = []
        self._server = ThreadingHTTPServer((HOST, 0), self._handler(answers))
        self._server.daemon_threads = True
        self._thread = threading.Thread(target=self._server.serve_forever, daemon=True)

    def __enter__(self) -> Replay:
        self._thread.start()
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        tb: TracebackType | None,
    ) -> None:
        self._server.shutdown()
        self._server.server_close()
        self._thread.join(timeout=5)

    @property
    def kubeconfig(self) -> str:
        """The text of a kubeconfig that leads here; it holds no credentials."""
        server = f"http://{HOST}:{self._server.server_address[1]}"
        content = {
            "apiVersion": "v1",
            "kind": "Config",
            "clusters": [{"name": "recorded", "cluster": {"server": server}}],
            "users": [{"name": "recorded", "user": {}}],
            "contexts": [{"name": "lab", "context": {"cluster": "recorded", "user": "recorded"}}],
            "current-context": "lab",
        }
        return yaml.safe_dump(content)

    def _handler(self, answers: Answers) -> type[BaseHTTPRequestHandler]:
        replay = self

        class Handler(BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"

            def do_GET(self) -> None:
                path = self.path.partition("?")[0]
                if path in answers:
                    self._send(200, answers[path])
                else:
                    replay.missing.append(path)
                    self._send(404, {"kind": "Status", "status": "Failure", "code": 404})

            def _refuse(self) -> None:
                replay.writes += 1
                self.close_connection = True
                self._send(405, {"kind": "Status", "status": "Failure", "code": 405})

            do_POST = do_PUT = do_PATCH = do_DELETE = _refuse

            def _send(self, status: int, body: object) -> None:
                content = json.dumps(body).encode()
                self.send_response(status)
                self.send_header("Content-Type", "application/json")
                self.send_header("Content-Length", str(len(content)))
                self.end_headers()
                self.wfile.write(content)

            def log_message(self, format: str, *args: object) -> None:
                """Say nothing: standard error is the doctor's."""

        return Handler
