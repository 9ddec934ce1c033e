"""Serving at more addresses than loopback: the same application behind a guard of the Host header.

A page elsewhere that lets its own name point to this machine would have the same origin as ours, to
a browser. So a request is answered only when it names the server as it is known.
"""

from __future__ import annotations

import ipaddress
import re
from collections.abc import Awaitable

from tornado import httputil, web
from tornado.httpserver import HTTPServer
from tornado.netutil import bind_sockets

from lab.web.launch import LOOPBACK, Launch
from lab.web.listening import tls

# The largest request: all of it is read before anybody asks who it is from.
BODY_BYTES = 1 << 20
_PORT = re.compile(r":\d+$")


class HostGuard(httputil.HTTPServerConnectionDelegate):
    """Hands on to the application what names one of `hosts`, or loopback; refuses the rest."""

    def __init__(self, application: web.Application, hosts: tuple[str, ...]) -> None:
        self._application = application
        self._hosts = frozenset(host.lower() for host in hosts)

    def start_request(
        self, server_conn: object, request_conn: httputil.HTTPConnection
    ) -> httputil.HTTPMessageDelegate:
        """One request."""
        inner = self._application.start_request(server_conn, request_conn)
        return _Guarded(self, inner, request_conn)

    def on_close(self, server_conn: object) -> None:
        """The connection is gone."""
        self._application.on_close(server_conn)

    def allows(self, header: str) -> bool:
        """Whether this is a Host by which the server may be called."""
        host = _PORT.sub("", header.strip().lower()).removeprefix("[").removesuffix("]")
        if host in self._hosts or host == "localhost":
            return True
        try:
            return ipaddress.ip_address(host).is_loopback
        except ValueError:
            return False


class _Guarded(httputil.HTTPMessageDelegate):
    """Looks at the headers of one request before the application does."""

    def __init__(
        self,
        guard: HostGuard,
        inner: httputil.HTTPMessageDelegate,
        connection: httputil.HTTPConnection,
    ) -> None:
        self._guard, self._connection = guard, connection
        self._inner: httputil.HTTPMessageDelegate | None = inner

    def headers_received(
        self,
        start_line: httputil.RequestStartLine | httputil.ResponseStartLine,
        headers: httputil.HTTPHeaders,
    ) -> Awaitable[None] | None:
        if self._guard.allows(headers.get("Host", "")):
            return self._inner.headers_received(start_line, headers) if self._inner else None
        self._inner = None
        self._connection.write_headers(
            httputil.ResponseStartLine("HTTP/1.1", 403, "Forbidden"),
            httputil.HTTPHeaders({"Content-Length": "0", "Connection": "close"}),
        )
        self._connection.finish()
        return None

    def data_received(self, chunk: bytes) -> Awaitable[None] | None:
        return self._inner.data_received(chunk) if self._inner else None

    def finish(self) -> None:
        if self._inner:
            self._inner.finish()

    def on_connection_close(self) -> None:
        if self._inner:
            self._inner.on_connection_close()


def servers(application: web.Application, launch: Launch, port: int) -> list[HTTPServer]:
    """Plain HTTP on loopback, which probes and tunnels use, and the address asked for beside it.

    Both have the same port: of two sockets that share one, the kernel takes the one whose address
    fits best.
    """
    guard = HostGuard(application, launch.hosts)
    here = HTTPServer(guard, max_body_size=BODY_BYTES, max_buffer_size=BODY_BYTES)
    here.add_sockets(bind_sockets(port, LOOPBACK, reuse_port=True))
    context = tls(launch.certificate, launch.key) if launch.certificate else None
    there = HTTPServer(
        guard, ssl_options=context, max_body_size=BODY_BYTES, max_buffer_size=BODY_BYTES
    )
    there.add_sockets(bind_sockets(port, launch.address, reuse_port=True))
    return [here, there]
