"""The page as a Jupyter Server extension, and the server it runs in: as little of it as we need."""

from __future__ import annotations

import hmac
import os
from pathlib import Path
from typing import Any

from jupyter_server.auth.identity import IdentityProvider, User
from jupyter_server.extension.application import ExtensionApp, ExtensionAppJinjaMixin
from jupyter_server.serverapp import ServerApp
from jupyter_server.services.contents.largefilemanager import AsyncLargeFileManager
from tornado.httpserver import HTTPServer
from tornado.web import RequestHandler
from traitlets import Unicode, default

from lab.text import choose_language
from lab.web.beyond import BODY_BYTES, servers
from lab.web.handlers.data import NEWSROOM
from lab.web.handlers.login import LoginHandler
from lab.web.handlers.terminal import TerminalSocket
from lab.web.launch import Launch
from lab.web.page import SETTING, Page, open_page
from lab.web.routes import routes
from lab.web.surroundings import allowed
from lab.web.terminals import PageTerminals

HERE = Path(__file__).parent
MESSAGE_BYTES = 256 << 10  # the largest message of a websocket; the page pastes in small pieces


class NoContents(AsyncLargeFileManager):
    """Serves no files: its one extra route would hand out all below the server's folder."""

    def get_extra_handlers(self) -> list[Any]:
        """No routes."""
        return []


class PageServer(ServerApp):
    """Jupyter Server without contents, files, kernels, sessions, nbconvert and configuration.

    `default_services` is a plain class attribute, so that a subclass is the way to change it. What
    are defaults here can still be set by a configuration, which JupyterHub needs.
    """

    name = "lab-page"
    default_services = ("api", "auth")  # type: ignore[assignment]

    @default("contents_manager_class")
    def _no_contents(self) -> type:
        return NoContents

    @default("allow_unauthenticated_access")
    def _only_known(self) -> bool:
        return False

    @default("extra_template_paths")
    def _our_templates(self) -> list[str]:
        return [str(HERE / "templates")]

    @default("tornado_settings")
    def _small_messages(self) -> dict[str, Any]:
        return {"websocket_max_message_size": MESSAGE_BYTES}

    @default("max_body_size")
    def _small_bodies(self) -> int:
        return BODY_BYTES

    @default("max_buffer_size")
    def _small_buffers(self) -> int:
        return BODY_BYTES

    launch: Launch | None = None
    _beyond: list[HTTPServer]

    def listen_as(self, launch: Launch) -> None:
        """Serve as this launch says; without one, as Jupyter Server is configured."""
        self.launch = launch

    def init_httpserver(self) -> None:
        """The sockets; those beyond loopback are ours."""
        self._beyond = []
        if self.launch is None or not self.launch.is_remote:
            super().init_httpserver()
            return
        first, *rest = servers(self.web_app, self.launch, self.port)
        self._http_server, self._beyond = first, rest

    def stop(self, from_signal: bool = False) -> None:
        """Listen no more, then end."""
        for server in self._beyond:
            server.stop()
        super().stop(from_signal=from_signal)

    def write_server_info_file(self) -> None:
        """Nothing: such a file holds the token, and nobody reads it here."""

    def write_browser_open_files(self) -> None:
        """Nothing, for the same reason."""


class PageApp(ExtensionAppJinjaMixin, ExtensionApp):
    """The extension."""

    name = "lab-web"
    extension_url = "/learn"
    serverapp_class = PageServer
    load_other_extensions = False
    open_browser = False

    assets = Unicode(help="The folder of xterm.js.").tag(config=True)
    language = Unicode(help="The language when a call names none.").tag(config=True)

    @classmethod
    def get_extension_package(cls) -> str:
        """The package that Jupyter Server loads."""
        return "lab.web"

    @default("static_paths")
    def _static_paths(self) -> list[str]:
        return [str(HERE / "static"), *([self.assets] if self.assets else [])]

    @default("template_paths")
    def _template_paths(self) -> list[str]:
        return [str(HERE / "templates")]

    def initialize_settings(self) -> None:
        """Hand the page to the handlers."""
        page = self.settings[SETTING] = self.make_page()
        self.settings["terminal_manager"] = PageTerminals(page, parent=self.serverapp)

    def make_page(self) -> Page:
        """The page of the lab that the environment means."""
        environment = allowed(os.environ)
        language = self.language or choose_language(environment)
        return open_page(environment, language=language, is_root=os.geteuid() == 0)

    def initialize_handlers(self) -> None:
        """Our routes come before those of the server."""
        self.handlers.extend(routes())
        socket = {"term_manager": self.settings["terminal_manager"]}
        self.handlers.append((r"/terminals/websocket/(\w+)", TerminalSocket, socket))

    async def stop_extension(self) -> None:
        """End watches and streams; a check that runs goes on."""
        # Not our own settings: handlers have those of the application, which are a copy.
        settings = self.serverapp.web_app.settings if self.serverapp else {}
        if (newsroom := settings.get(NEWSROOM)) is not None:
            newsroom.close()


class TokenOnly(IdentityProvider):
    """Logs in by the token of the launch; its cookie is sent by our own pages only."""

    @default("cookie_options")
    def _strict(self) -> dict[str, str]:
        return {"samesite": "Strict"}

    @default("login_handler_class")
    def _our_form(self) -> type:
        return LoginHandler

    def process_login_form(self, handler: RequestHandler) -> User | None:
        """The user when the token was typed right; None otherwise."""
        typed = handler.get_body_argument("password", "").strip()
        if self.token and hmac.compare_digest(typed.encode(), self.token.encode()):
            return self.generate_anonymous_user(handler)
        return None
