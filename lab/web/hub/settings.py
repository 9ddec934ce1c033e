"""What a hub is told so that each learner gets the page; its configuration file calls these.

For a hub whose own Python does not have this package, docs/hub.md has the same as plain lines.
"""

from __future__ import annotations

import os
import sys
from pathlib import Path

from traitlets.config import Config

from lab.web.hiding import end_with_parent
from lab.web.hub.demo import LEARNERS, Demo, read_demo
from lab.web.hub.keeping import END_SECONDS
from lab.web.hub.singleuser import PAGE

COMMAND = "lab-singleuser"
START_SECONDS = 60  # a learner's server answers after two; with a class that comes at once, later
POLL_SECONDS = 5  # how soon the hub sees that a server has died, and offers to start it again


def give_the_page(config: Config, command: str = COMMAND) -> None:
    """Each learner's server is ours, and has the time to take its place down."""
    config.Spawner.cmd = [command]
    config.Spawner.default_url = PAGE
    config.Spawner.start_timeout = config.Spawner.http_timeout = START_SECONDS
    config.Spawner.poll_interval = POLL_SECONDS
    config.LocalProcessSpawner.interrupt_timeout = int(END_SECONDS) + 5


def show_the_demo(config: Config, folder: str) -> None:
    """Two learners on this machine, as `lab hub-demo` has laid it out in `folder`."""
    end_with_parent()
    demo = read_demo(Path(folder))
    give_the_page(config, str(Path(sys.executable).parent / COMMAND))
    _lay_out(config, demo)
    config.Authenticator.allowed_users = set(LEARNERS)
    config.JupyterHub.authenticator_class = "shared-password"
    config.SharedPasswordAuthenticator.user_password = demo.password
    # All learners are one user of this machine: there is nothing between them but manners.
    config.JupyterHub.spawner_class = "simple"
    config.SimpleLocalProcessSpawner.home_dir_template = str(demo.folder / "homes" / "{username}")
    config.Spawner.environment = dict(demo.environment)
    if os.geteuid() == 0:
        config.Spawner.args = ["--allow-root"]


def _lay_out(config: Config, demo: Demo) -> None:
    here = "http://127.0.0.1"
    config.JupyterHub.bind_url = f"{here}:{demo.port}"
    config.JupyterHub.hub_bind_url = f"{here}:{demo.hub_port}"
    config.JupyterHub.db_url = f"sqlite:///{demo.folder / 'hub.sqlite'}"
    config.JupyterHub.cookie_secret_file = str(demo.folder / "cookie_secret")
    config.ConfigurableHTTPProxy.command = [demo.proxy]
    config.ConfigurableHTTPProxy.api_url = f"{here}:{demo.proxy_port}"
    config.ConfigurableHTTPProxy.pid_file = str(demo.folder / "proxy.pid")
