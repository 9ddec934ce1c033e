"""An API server of one kind whose streams can be cut, slowed and forgotten; for the recorder only.

Whether the recorder understands a real API server is proven on the real place.
"""

from __future__ import annotations

import json
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from urllib.parse import parse_qs, urlsplit

import yaml


@dataclass
class FakeApi:
    """Jobs by uid, the events so far, and how the next answers go wrong."""

    items: dict[str, dict] = field(default_factory=dict)
    events: list[tuple[int, str, dict]] = field(default_factory=list)
    version: int = 100
    oldest: int = 0
    refuse: list[int] = field(default_factory=list)
    torn: bool = False
    asked: list[str] = field(default_factory=list)
    news: threading.Condition = field(default_factory=threading.Condition)
    cut: int = 0

    def put(self, kind: str, uid: str, **spec: object) -> None:
        """One change, as the API server would tell it."""
        with self.news:
            self.version += 1
            metadata = {
                "name": f"job-{uid}",
                "namespace": "team-a",
                "uid": uid,
                "resourceVersion": str(self.version),
                "creationTimestamp": "2027-01-15T08:00:00Z",
            }
            content = {"kind": "Job", "metadata": metadata, "spec": spec}
            if kind == "DELETED":
                self.items.pop(uid)
            else:
                self.items[uid] = content
            self.events.append((self.version, kind, content))
            self.news.notify_all()

    def end_watches(self) -> None:
        """Close all open watches, in the middle of a line when `torn`."""
        with self.news:
            self.cut += 1
            self.news.notify_all()

    def listed(self) -> dict:
        with self.news:
            metadata = {"resourceVersion": str(self.version)}
            return {"kind": "JobList", "metadata": metadata, "items": list(self.items.values())}

    def watched(self, since: int) -> Iterator[bytes]:
        """Event lines after a version, until the watches are ended."""
        told, cut = since, self.cut
        while True:
            with self.news:
                due = [event for event in self.events if event[0] > told]
                if not due:
                    self.news.wait(0.05)
                is_cut = self.cut != cut
            for version, kind, content in due:
                told = version
                yield json.dumps({"type": kind, "object": content}).encode() + b"\n"
            if is_cut and not due:
                if self.torn:
                    yield b'{"type":"ADDED","obj'
                return None


@contextmanager
def serving(api: FakeApi, folder: Path) -> Iterator[Path]:
    """Serve it; gives the kubeconfig that names it."""

    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.0"

        def do_GET(self) -> None:
            api.asked.append(self.path)
            if api.refuse:
                self.send_response(api.refuse.pop(0))
                self.end_headers()
                return None
            query = parse_qs(urlsplit(self.path).query)
            if "watch" not in query:
                return self._send(200, [json.dumps(api.listed()).encode()])
            since = int(query["resourceVersion"][0])
            if since < api.oldest:
                status = {"kind": "Status", "code": 410}
                return self._send(200, [json.dumps({"type": "ERROR", "object": status}).encode()])
            return self._send(200, api.watched(since))

        def _send(self, status: int, parts) -> None:
            self.send_response(status)
            self.end_headers()
            for part in parts:
                self.wfile.write(part)
                self.wfile.flush()

        def log_message(self, format: str, *args: object) -> None:
            """Say nothing."""

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    server.daemon_threads = True
    thread = threading.Thread(target=server.serve_forever, args=(0.02,), daemon=True)
    thread.start()
    kubeconfig = folder / "kubeconfig"
    address = f"http://127.0.0.1:{server.server_port}"
    content = {
        "clusters": [{"name": "c", "cluster": {"server": address}}],
        "users": [{"name": "u", "user": {"token": "t"}}],
        "contexts": [{"name": "x", "context": {"cluster": "c", "user": "u"}}],
        "current-context": "x",
    }
    kubeconfig.write_text(yaml.safe_dump(content))
    try:
        yield kubeconfig
    finally:
        api.end_watches()
        server.shutdown()
        server.server_close()
        thread.join()
