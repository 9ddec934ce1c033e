"""JupyterHub's server of one user, made of our own reduced server, and the page in it."""

from __future__ import annotations

import asyncio
import atexit
import os
import signal
from dataclasses import replace
from pathlib import Path

from jupyter_server.serverapp import ServerApp
from jupyterhub.singleuser.extension import JupyterHubSingleUser
from traitlets import default

from lab.web.app import PageApp, PageServer
from lab.web.arriving import Arrival
from lab.web.assets import fetch
from lab.web.handlers.page import PageHandler
from lab.web.hub.keeping import Keeper
from lab.web.page import Page
from provision.settings import Settings
from provision.target import Progress

PACKAGE = "lab.web.hub"
OK = 200


class HubServer(PageServer):
    """The reduced server; the hub stops it by SIGINT, which is to be an end like SIGTERM."""

    def init_signal(self) -> None:
        """What a signal does."""
        super().init_signal()
        signal.signal(signal.SIGINT, signal.getsignal(signal.SIGTERM))


class HubPageHandler(PageHandler):
    """GET `/learn`: the page; its place is brought up when it is down."""

    def on_finish(self) -> None:
        """The page has been sent."""
        super().on_finish()
        if self.get_status() == OK and self.page.arrival is not None:
            asyncio.get_running_loop().run_in_executor(None, self.page.arrival.ensure)


class HubPageApp(PageApp):
    """The extension behind a hub: the place comes with the server, and goes with it."""

    @classmethod
    def get_extension_package(cls) -> str:
        """The package that Jupyter Server loads."""
        return PACKAGE

    @default("assets")
    def _from_the_cache(self) -> str:
        environment = dict(os.environ)
        cache = Settings.from_environment(environment).cache
        return str(fetch(cache, environment, self._tell))

    def make_page(self) -> Page:
        """The page of this learner, whose place is on its way."""
        page = super().make_page()
        folder = Path(os.environ["LAB_HOME"]) / "hub"
        arrival = Arrival(page.place, folder, page.environment)
        keeper = Keeper(page.place, folder, page.environment)
        atexit.register(keeper.end)
        atexit.register(arrival.stop)  # the last that is registered is called first
        self._arrival = arrival
        return replace(page, arrival=arrival)

    async def _start_jupyter_server_extension(self, serverapp: ServerApp) -> None:
        """Bring the place up, now that the server listens.

        Before, Jupyter Server tries its port, lets it go and takes it again: a process that begins
        in between is born with that socket, and the port is taken.
        """
        asyncio.get_running_loop().run_in_executor(None, self._arrival.ensure)

    def initialize_handlers(self) -> None:
        """The page brings its place up."""
        self.handlers.append((r"/learn/?", HubPageHandler))
        super().initialize_handlers()

    def _tell(self, progress: Progress) -> None:
        self.log.info("%s", progress.stage)


class SingleUser(JupyterHubSingleUser):
    """Login, tokens and addresses by the hub; the server and all that it answers are ours."""

    serverapp_class = HubServer
    load_other_extensions = False
    serverapp_config = {"jpserver_extensions": {PACKAGE: True}}  # noqa: RUF012

    @classmethod
    def get_extension_package(cls) -> str:
        """The package that Jupyter Server loads for the login."""
        return str(JupyterHubSingleUser.get_extension_package())
