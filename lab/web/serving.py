"""Starting the server of a launch, and what is set before Jupyter Server is imported."""

from __future__ import annotations

import logging
import os
import sys
from pathlib import Path

from lab.web.launch import LOOPBACK, Launch, page_folder

# A grammar for identifiers of JSON schemas: it takes a second to build, and no schema of ours or of
# Jupyter Server's own events asks for it. jsonschema does without what it cannot import.
SLOW = "rfc3987_syntax"


# Jupyter Server hands Tornado milliseconds for seconds, and pings by itself: said for nothing.
NOISE = "websocket_ping_timeout"


def serve(launch: Launch, *, home: Path, port: int) -> None:
    """Serve the page until it is told to stop."""
    folder = page_folder(home) / "jupyter"
    folder.mkdir(parents=True, exist_ok=True, mode=0o700)
    for name in ("CONFIG", "DATA", "RUNTIME"):
        os.environ[f"JUPYTER_{name}_DIR"] = str(folder)
    os.environ["JUPYTER_NO_CONFIG"] = "1"  # nothing from /etc: it could open what is closed here
    sys.modules.setdefault(SLOW, None)  # type: ignore[arg-type]

    logging.getLogger("tornado.application").addFilter(lambda line: NOISE not in str(line.msg))
    logging.getLogger("tornado.general").addFilter(lambda line: NOISE not in str(line.msg))

    from traitlets.config import Config

    from lab.web.app import PageApp, PageServer, TokenOnly

    config = Config()
    config.TokenOnly.token = launch.token
    server = config.PageServer
    server.identity_provider_class = TokenOnly
    server.ip, server.port, server.port_retries = LOOPBACK, port, 0
    server.allow_root = True
    server.log_level = "WARN"
    server.root_dir = str(folder)
    server.cookie_secret_file = str(page_folder(home) / "cookie_secret")
    # Beyond loopback the guard of `beyond.py` looks at Host: Jupyter's own knows no addresses.
    server.allow_remote_access = launch.is_remote
    config.PageApp.assets, config.PageApp.language = launch.assets, launch.language
    app = PageServer.instance(
        config=config, jpserver_extensions={PageApp.get_extension_package(): True}
    )
    app.listen_as(launch)
    app.initialize(argv=[], starter_extension=PageApp.name, find_extensions=False)
    app.start()
