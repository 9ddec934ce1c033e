"""Showing the link to a person: in a browser where there is one, and how to reach it from afar."""

from __future__ import annotations

import getpass
import html
import webbrowser
from collections.abc import Mapping
from pathlib import Path

from provision.files import write_atomically

TEXT_BROWSERS = ("GenericBrowser", "Elinks")  # how the library runs those that draw on a terminal
SSH_PORT = "22"


def has_display(environment: Mapping[str, str]) -> bool:
    """A window can be opened here, and would be seen: not at the other end of an SSH connection."""
    is_far = bool(environment.get("SSH_CONNECTION"))
    return not is_far and bool(environment.get("DISPLAY") or environment.get("WAYLAND_DISPLAY"))


def show(link: str, folder: Path, environment: Mapping[str, str]) -> bool:
    """Open the link in a graphical browser; False when there is none.

    The browser is given a file that leads on: the arguments of a process are for all to read.
    """
    if not has_display(environment):
        return False
    try:
        browser = webbrowser.get()
    except webbrowser.Error:
        return False
    if type(browser).__name__ in TEXT_BROWSERS:
        return False
    file = folder / "open.html"
    target = html.escape(link, quote=True)
    write_atomically(
        file,
        '<!doctype html><meta charset="utf-8"><title>gpu-queue-lab</title>'
        f'<meta http-equiv="refresh" content="0;url={target}">'
        f'<a href="{target}">gpu-queue-lab</a>\n',
    )
    return bool(browser.open(file.as_uri()))


def tunnel(port: int, environment: Mapping[str, str]) -> str | None:
    """The command that brings the page to the person's own machine, when this one is far away."""
    parts = environment.get("SSH_CONNECTION", "").split()
    if len(parts) != 4:
        return None
    host, ssh_port = parts[2], parts[3]
    option = "" if ssh_port == SSH_PORT else f" -p {ssh_port}"
    return f"ssh -N -L {port}:127.0.0.1:{port}{option} {getpass.getuser()}@{host}"
