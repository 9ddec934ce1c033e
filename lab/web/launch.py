"""What `lab open` leaves for the page's server: a file only its owner can read.

The token stands in that file and nowhere else: not among the arguments of a process, which all
users see, and not in an environment, which the shells of the page would inherit.
"""

from __future__ import annotations

import json
import secrets
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

from lab.text import LANGUAGES
from lab.web.listening import Beyond
from provision.errors import LabError
from provision.files import read_plain, write_atomically
from provision.message import say
from provision.sockets import short_socket

SCHEMA = 1
LOOPBACK = "127.0.0.1"
TOKEN_LENGTH = 32  # characters that a token has at least


@dataclass(frozen=True, slots=True)
class Launch:
    """One launch of the page.

    `address` is where it listens besides loopback ("" for nowhere else), `hosts` are the names by
    which it may be called there; `certificate` and `key` are files for TLS there. `environment` is
    that of the person, as far as it is let through; `assets` the folder of xterm.js.
    """

    token: str
    language: str
    assets: str
    environment: Mapping[str, str] = field(default_factory=dict)
    address: str = ""
    hosts: tuple[str, ...] = ()
    certificate: str = ""
    key: str = ""

    @property
    def beyond(self) -> Beyond:
        """Where else it listens."""
        return Beyond(self.address, self.certificate, self.key)

    @property
    def is_remote(self) -> bool:
        """It listens beyond loopback."""
        return bool(self.address)


def page_folder(home: Path) -> Path:
    """Where the page of a place keeps its own files."""
    return home / "page"


def launch_file(home: Path) -> Path:
    """The file of the launch."""
    return page_folder(home) / "launch.json"


def tmux_socket(home: Path) -> Path:
    """Where the tmux server of a place's shells listens; a short way when the place lies deep."""
    return short_socket(page_folder(home) / "tmux.sock")


def page_address(port: int) -> str:
    """Where the page is on this machine, without the token."""
    return f"http://{LOOPBACK}:{port}/learn"


def link_to(address: str, token: str, wanted: str = "", spoken: str = "") -> str:
    """The link that logs in; with the wanted language where the page speaks another by itself."""
    named = f"&lang={wanted}" if wanted and wanted != spoken else ""
    return f"{address}?token={token}{named}"


def new_token() -> str:
    """A token that nobody guesses."""
    return secrets.token_urlsafe(TOKEN_LENGTH)


def write_launch(home: Path, launch: Launch) -> None:
    """Leave it for the server, readable by its owner only."""
    page_folder(home).mkdir(parents=True, exist_ok=True, mode=0o700)
    text = json.dumps({"schema": SCHEMA, **asdict(launch)}, indent=2, ensure_ascii=False)
    write_atomically(launch_file(home), text + "\n")


def read_launch(home: Path) -> Launch | None:
    """The launch there is, None when there is none; LabError for one that cannot be used.

    A launch without a token, or with a short one, is refused: such a page would be open to all.
    """
    try:
        raw: Any = json.loads(read_plain(launch_file(home)).decode())
    except FileNotFoundError:
        return None
    except (OSError, ValueError, RecursionError) as error:
        raise _unusable(home, str(error)) from error
    try:
        if raw.pop("schema") != SCHEMA:
            raise ValueError("schema")
        launch = Launch(**{**raw, "hosts": tuple(raw.get("hosts", ()))})
        if not isinstance(launch.token, str) or len(launch.token) < TOKEN_LENGTH:
            raise ValueError("token")
        if launch.language not in LANGUAGES:
            raise ValueError("language")
        texts = (launch.assets, launch.address, launch.certificate, launch.key, *launch.hosts)
        if not all(isinstance(text, str) for text in (*texts, *launch.environment.values())):
            raise ValueError("texts")
    except (AttributeError, KeyError, TypeError, ValueError) as error:
        raise _unusable(home, str(error)) from error
    return launch


def _unusable(home: Path, reason: str) -> LabError:
    return LabError(
        say("{path} cannot be used: {reason}.", path=launch_file(home), reason=reason),
        next_move=say("Run make open: it writes that file anew."),
    )
