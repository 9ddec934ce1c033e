"""Starting the server of a launch, and what is set before Jupyter Server is imported."""

from __future__ import annotations

import logging
import os
import shutil
import sys
import tempfile
from pathlib import Path

from lab.web.launch import LOOPBACK, Launch, page_folder

# A grammar for identifiers of JSON schemas: it takes a second to build, and no schema of ours or of
# Jupyter Server's own events asks for it. jsonschema does without what it cannot import.
SLOW = "rfc3987_syntax"
# Jupyter Server hands Tornado milliseconds for seconds, and pings by itself: said for nothing.
NOISE = "websocket_ping_timeout"


def keep_jupyter_apart(folder: Path) -> None:
    """Jupyter's own files lie in `folder`, and it reads no configuration but what it is handed.

    One from /etc or from a home could open what is closed here.
    """
    folder.mkdir(parents=True, exist_ok=True, mode=0o700)
    for name in ("CONFIG", "DATA", "RUNTIME"):
        os.environ[f"JUPYTER_{name}_DIR"] = str(folder)
    os.environ["JUPYTER_NO_CONFIG"] = "1"
    _lay_out_no_configuration(folder)


def _lay_out_no_configuration(folder: Path) -> None:
    """The empty folder that stands for all configuration lies in `folder`, and it is the only one.

    jupyter_core makes one for each process among the machine's temporary files, and leaves it.
    """
    from jupyter_core.paths import jupyter_config_dir

    for left in folder.glob("jupyter-clean-cfg-*"):
        shutil.rmtree(left, ignore_errors=True)
    before, tempfile.tempdir = tempfile.tempdir, str(folder)
    try:
        jupyter_config_dir()
    finally:
        tempfile.tempdir = before


def make_quick() -> None:
    """To be called before Jupyter Server is imported: a start in half the time, less noise."""
    sys.modules.setdefault(SLOW, None)  # type: ignore[arg-type]
    for name in ("tornado.application", "tornado.general"):
        logging.getLogger(name).addFilter(lambda line: NOISE not in str(line.msg))


def serve(launch: Launch, *, home: Path, port: int) -> None:
    """Serve the page until it is told to stop."""
    folder = page_folder(home) / "jupyter"
    keep_jupyter_apart(folder)
    make_quick()
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
    config.PageApp.log_level = "WARN"
    config.PageApp.assets, config.PageApp.language = launch.assets, launch.language
    app = PageServer.instance(
        config=config, jpserver_extensions={PageApp.get_extension_package(): True}
    )
    app.listen_as(launch)
    app.initialize(argv=[], starter_extension=PageApp.name, find_extensions=False)
    app.start()
