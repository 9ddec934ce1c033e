"""A note of what is being done to a machine, so that work that was broken off is known as such."""

from __future__ import annotations

import contextlib
import json
import os
from pathlib import Path

import psutil

from provision.files import write_atomically
from provision.message import Message, say

_FILE = "underway.json"
PROVISION, DESTROY = "provision", "destroy"


def begin(home: Path, verb: str) -> None:
    """From now on the machine is neither what it was nor what it is to be."""
    write_atomically(home / _FILE, json.dumps({"verb": verb, "pid": os.getpid()}) + "\n")


def end(home: Path) -> None:
    """It is done."""
    (home / _FILE).unlink(missing_ok=True)


def broken_off(home: Path) -> Message | None:
    """What was not done to its end, or is being done; None when nothing is open."""
    file = home / _FILE
    try:
        raw = json.loads(file.read_text("utf-8"))
        verb, pid, since = str(raw["verb"]), int(raw["pid"]), file.stat().st_mtime
    except (OSError, ValueError, KeyError, TypeError):
        return None
    with contextlib.suppress(psutil.Error, ValueError, OverflowError):
        if psutil.Process(pid).create_time() <= since + 1:
            return say("make {verb} is at work here (process {pid}).", verb=verb, pid=pid)
    if verb == DESTROY:
        return say(
            "make destroy was broken off: run it again and it goes on, or bring the lab back with "
            "make provision."
        )
    return say("make provision was broken off: run it again and it goes on from there.")
