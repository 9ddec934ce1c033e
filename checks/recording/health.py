"""Whether the recorder sees everything, told on a loopback port: GET /readyz answers 200 or 503."""

from __future__ import annotations

import threading
from collections.abc import Callable
from http.server import BaseHTTPRequestHandler, HTTPServer

NEVER = 86400.0  # seconds between looks at whether to end: it ends with the process


def serve_health(port: int, missing: Callable[[], str]) -> HTTPServer:
    """Answer from now on, in a thread; `missing` says what is in the way, empty for nothing."""

    class Handler(BaseHTTPRequestHandler):
        timeout = 5

        def do_GET(self) -> None:
            """The state in one line."""
            why = missing()
            body = f"[-]{why}\n".encode() if why else b"ok\n"
            self.send_response(503 if why else 200)
            self.send_header("Content-Type", "text/plain; charset=utf-8")
            self.send_header("Content-Length", str(len(body)))
            self.end_headers()
            self.wfile.write(body)

        def log_message(self, format: str, *args: object) -> None:
            """Probes are not worth a line."""

    server = HTTPServer(("127.0.0.1", port), Handler)
    threading.Thread(target=server.serve_forever, args=(NEVER,), daemon=True).start()
    return server
