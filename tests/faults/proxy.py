"""An API server that answers badly: a TLS proxy before the real one, for the grader's requests.

Run as `python -m tests.faults.proxy PKI PORT MODE`. It prints its own port, then serves until it is
ended. It shows the place's certificate and asks as the grader. Modes: `slow:5` (seconds before
every answer), `status:500` (all answers), `status:500/3` (every third), `cut` (half of every body),
`empty` (a JSON object without content), `page` (HTML), `date:3600` (its clock, in seconds ahead).
"""

from __future__ import annotations

import http.server
import itertools
import ssl
import sys
import threading
from collections.abc import Mapping
from email.utils import formatdate, parsedate_to_datetime
from pathlib import Path

import urllib3

PASSED_ON = ("Content-Type", "Date")
Answer = tuple[int, Mapping[str, str], bytes]


class Proxy(http.server.ThreadingHTTPServer):
    """Passes GET requests on, and spoils the answers."""

    daemon_threads = True

    def __init__(self, pki: Path, port: int, mode: str) -> None:
        super().__init__(("127.0.0.1", 0), Handler)
        self.kind, _, self.value = mode.partition(":")
        self.upstream = f"https://127.0.0.1:{port}"
        self.count = itertools.count(1)
        self.never = threading.Event()
        self.pool = urllib3.PoolManager(
            ca_certs=str(pki / "ca.crt"),
            cert_file=str(pki / "grader.crt"),
            key_file=str(pki / "grader.key"),
            retries=False,
            maxsize=8,
        )
        context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        context.load_cert_chain(pki / "apiserver.crt", pki / "apiserver.key")
        # The handshake belongs to the connection's own thread.
        self.socket = context.wrap_socket(
            self.socket, server_side=True, do_handshake_on_connect=False
        )

    def handle_error(self, request: object, client_address: object) -> None:
        """A client that went away is nobody's trouble."""

    def spoiled(self, answer: Answer) -> Answer:
        """What the client is told instead of the true answer."""
        status, headers, body = answer
        if self.kind == "slow":
            self.never.wait(float(self.value))
        elif self.kind == "status":
            code, _, every = self.value.partition("/")
            if next(self.count) % int(every or 1) == 0:
                return int(code), {"Content-Type": "application/json"}, b'{"kind": "Status"}'
        elif self.kind == "empty":
            return status, headers, b"{}"
        elif self.kind == "page":
            return 200, {"Content-Type": "text/html"}, b"<html><body>Welcome</body></html>"
        elif self.kind == "date":
            then = parsedate_to_datetime(headers["Date"]).timestamp() + float(self.value)
            return status, {**headers, "Date": formatdate(then, usegmt=True)}, body
        return answer


class Handler(http.server.BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    server: Proxy

    def do_GET(self) -> None:
        reply = self.server.pool.request("GET", self.server.upstream + self.path)
        headers = {name: reply.headers[name] for name in PASSED_ON if name in reply.headers}
        status, headers, body = self.server.spoiled((reply.status, headers, reply.data))
        self.send_response_only(status)
        for name, value in headers.items():
            self.send_header(name, value)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        if self.server.kind == "cut":
            self.wfile.write(body[: len(body) // 2])
            self.close_connection = True
            return
        self.wfile.write(body)

    def log_message(self, format: str, *args: object) -> None:
        """Say nothing."""


def main() -> None:
    pki, port, mode = sys.argv[1:]
    server = Proxy(Path(pki), int(port), mode)
    sys.stdout.write(f"{server.server_address[1]}\n")
    sys.stdout.flush()
    server.serve_forever()


if __name__ == "__main__":
    main()
