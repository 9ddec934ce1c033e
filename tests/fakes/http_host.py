"""A host on loopback that answers as a test says: whole, cut off, busy, moved, or as a registry."""

from __future__ import annotations

import contextlib
import gzip
import hashlib
import json
import threading
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer


class Answer(BaseHTTPRequestHandler):
    """One request; `server.routes` maps a path to a function of the request."""

    protocol_version = "HTTP/1.1"

    def do_GET(self) -> None:
        self.server.host.asked.append(self.path)
        route = self.server.host.routes.get(self.path.partition("?")[0])
        if route is None:
            self.whole(b"no such thing", status=404)
        else:
            route(self)

    def whole(self, body: bytes, *, status: int = 200, **headers: str) -> None:
        self.send_response(status)
        self.send_header("Content-Length", str(len(body)))
        for name, value in headers.items():
            self.send_header(name.replace("_", "-"), value)
        self.end_headers()
        self.wfile.write(body)

    def part(self, body: bytes, *, most: int) -> None:
        """Answer a Range if one is asked for; after `most` bytes the connection breaks."""
        offset = int(self.headers.get("Range", "bytes=0-").removeprefix("bytes=").rstrip("-"))
        rest = body[offset:]
        if not rest:
            self.whole(b"", status=416)
            return
        self.send_response(206 if offset else 200)
        self.send_header("Content-Length", str(len(rest)))
        if offset:
            self.send_header("Content-Range", f"bytes {offset}-{len(body) - 1}/{len(body)}")
        self.end_headers()
        self.wfile.write(rest[:most])
        self.close_connection = True

    def log_message(self, *words: object) -> None:
        pass


@dataclass
class Host:
    port: int
    routes: dict[str, Callable[[Answer], None]] = field(default_factory=dict)
    asked: list[str] = field(default_factory=list)
    over: threading.Event = field(default_factory=threading.Event)

    def url(self, path: str) -> str:
        return f"http://127.0.0.1:{self.port}{path}"

    def serve(self, path: str, body: bytes, *, status: int = 200, **headers: str) -> str:
        self.routes[path] = lambda answer: answer.whole(body, status=status, **headers)
        return self.url(path)


class Server(ThreadingHTTPServer):
    daemon_threads = True
    host: Host

    def handle_error(self, request: object, client_address: object) -> None:
        pass  # a client that hung up


@contextlib.contextmanager
def http_host() -> Iterator[Host]:
    with Server(("127.0.0.1", 0), Answer) as server:
        server.host = Host(server.server_address[1])
        thread = threading.Thread(target=server.serve_forever, args=(0.02,))
        thread.start()
        try:
            yield server.host
        finally:
            server.host.over.set()
            server.shutdown()
            thread.join(10)


def _unpacked(layer: bytes) -> bytes:
    return gzip.decompress(layer) if layer.startswith(b"\x1f\x8b") else layer


def digest(body: bytes) -> str:
    return f"sha256:{hashlib.sha256(body).hexdigest()}"


@dataclass
class FakeRegistry:
    """Images on a Host, behind the token that every public registry asks for."""

    host: Host
    token: str = "a-token"

    def name(self, repository: str, tag: str) -> str:
        return f"127.0.0.1:{self.host.port}/{repository}:{tag}"

    def push(self, repository: str, tag: str, layers: list[bytes], **options: str) -> str:
        """Serve an image for linux/amd64 and an empty one for arm64; the digest of its index."""
        kind = options.get("kind", "application/vnd.oci.image.layer.v1.tar+gzip")
        facts = {"architecture": "amd64", "os": "linux", "config": {}}
        plain = [digest(_unpacked(layer)) for layer in layers]
        facts["rootfs"] = {"type": "layers", "diff_ids": plain}
        config = json.dumps(facts).encode()
        manifest = {
            "schemaVersion": 2,
            "mediaType": "application/vnd.oci.image.manifest.v1+json",
            "config": self._blob(repository, config, "application/vnd.oci.image.config.v1+json"),
            "layers": [self._blob(repository, layer, kind) for layer in layers],
        }
        chosen = self._document(repository, manifest)
        index = {
            "schemaVersion": 2,
            "mediaType": "application/vnd.oci.image.index.v1+json",
            "manifests": [
                {
                    **self._document(repository, {**manifest, "layers": []}),
                    "platform": {"os": "linux", "architecture": "arm64"},
                },
                {**chosen, "platform": {"os": "linux", "architecture": "amd64"}},
            ],
        }
        return str(self._document(repository, index, tag)["digest"])

    def guard(self, route: Callable[[Answer], None], repository: str) -> Callable[[Answer], None]:
        def guarded(answer: Answer) -> None:
            if answer.headers.get("Authorization") == f"Bearer {self.token}":
                route(answer)
                return
            realm = self.host.url("/token")
            scope = f"repository:{repository}:pull"
            answer.whole(
                b"{}",
                status=401,
                WWW_Authenticate=f'Bearer realm="{realm}",service="fake",scope="{scope}"',
            )

        self.host.routes["/token"] = lambda answer: answer.whole(
            json.dumps({"token": self.token}).encode()
        )
        return guarded

    def _blob(self, repository: str, body: bytes, media_type: str) -> dict[str, object]:
        path = f"/v2/{repository}/blobs/{digest(body)}"
        self.host.routes[path] = self.guard(lambda a: a.part(body, most=len(body)), repository)
        return {"mediaType": media_type, "digest": digest(body), "size": len(body)}

    def _document(
        self, repository: str, raw: dict[str, object], tag: str = ""
    ) -> dict[str, object]:
        body = json.dumps(raw).encode()
        kind, name = str(raw["mediaType"]), digest(body)
        for reference in (name, *([tag] if tag else [])):
            self.host.routes[f"/v2/{repository}/manifests/{reference}"] = self.guard(
                lambda a: a.whole(body, Content_Type=kind, Docker_Content_Digest=name), repository
            )
        return {"mediaType": kind, "digest": name, "size": len(body)}
