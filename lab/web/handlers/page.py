"""The page itself, and whether the server is ready."""

from __future__ import annotations

import secrets

from jupyter_server.auth.decorator import allow_unauthenticated, authorized
from jupyter_server.extension.handler import ExtensionHandlerJinjaMixin
from tornado import web

from lab.web.handlers.base import LabHandler


class PageHandler(ExtensionHandlerJinjaMixin, LabHandler):
    """GET `/learn`: the one page; all it shows comes by the calls of its scripts."""

    _nonce = ""

    @property
    def nonce(self) -> str:
        """A random word of this answer: xterm.js makes style elements, which need one."""
        if not self._nonce:
            self._nonce = secrets.token_urlsafe(16)
        return self._nonce

    @property
    def content_security_policy(self) -> str:
        """Nothing from elsewhere, no inline script; sockets to this host only."""
        scheme = "wss" if self.request.protocol == "https" else "ws"
        return "; ".join(
            (
                "default-src 'none'",
                "script-src 'self'",
                f"style-src 'self' 'nonce-{self.nonce}'",
                # xterm.js sets the style attribute for colours beyond the palette.
                "style-src-attr 'unsafe-inline'",
                "img-src 'self' data:",
                f"connect-src 'self' {scheme}://{self.request.host}",
                "font-src 'self'",
                "base-uri 'none'",
                "form-action 'none'",
                "frame-ancestors 'none'",
            )
        )

    @web.authenticated
    @authorized
    def get(self) -> None:
        """The page; a token in the address is dropped first, the cookie has been set by then."""
        self.set_header("Cache-Control", "no-store")
        self.set_header("Referrer-Policy", "same-origin")
        if self.get_query_argument("token", ""):
            self._drop_token()
            return
        self.write(
            self.render_template(
                "page.html",
                nonce=self.nonce,
                xsrf=self.xsrf_token.decode(),
                language=self.speech.language,
            )
        )

    def _drop_token(self) -> None:
        """Lead on to the address without it.

        When another site or a file led here, a redirect would still be theirs, and a browser would
        not send our cookie along. A page of our own that leads on is ours.
        """
        if self.request.headers.get("Sec-Fetch-Site", "none") in ("none", "same-origin"):
            self.redirect(f"{self.base_url}learn{self._asked}")
        else:
            language = self.speech.language
            self.write(self.render_template("enter.html", language=language, asked=self._asked))

    @property
    def _asked(self) -> str:
        """The language of the call as part of an address, when it is not that of the launch."""
        language = self.speech.language
        return "" if language == self.page.language else f"?lang={language}"


class ReadyHandler(LabHandler):
    """GET `/learn/ready`: the server answers; asked by the supervisor's probe, without a login."""

    @allow_unauthenticated
    def get(self) -> None:
        """Say ok."""
        self.set_header("Content-Type", "text/plain")
        self.finish("ok")


class ClosedHandler(LabHandler):
    """An address of Jupyter Server that is not answered here, whoever asks."""

    @allow_unauthenticated
    def get(self) -> None:
        """There is no such thing."""
        raise web.HTTPError(404)
