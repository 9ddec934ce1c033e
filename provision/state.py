"""What a place remembers between commands, and the lock that lets one command at a time in."""

from __future__ import annotations

import contextlib
import fcntl
import json
import os
import secrets
import time
from collections.abc import Iterator, Mapping
from dataclasses import asdict, dataclass, field
from pathlib import Path

from provision.errors import TargetError, TimedOut
from provision.files import write_atomically
from provision.message import Message, say
from provision.target import Progress, Tell
from provision.waiting import wait_until

STATE_FILE = "place.json"
STATE_COPY = ".place.json.copy"
MARKER_FILE = ".gpu-queue-lab-place"
LOCK_FILE = ".lock"
LIFE_FILE = "cluster.id"
SCHEMA = 1
LOCK_PATIENCE = 1800.0


@dataclass(frozen=True, slots=True)
class PlaceState:
    """One place: `id` is random and marks its processes, `ports` are kept while they are free.

    `entry` is the key of the built parts in the cache, `digest` that of the configuration that the
    running processes were started with, `created` an RFC 3339 time, `is_prepared` whether the
    cluster was once complete, `kind` the name of the target that the place is one of.
    """

    id: str
    lab: str
    created: str
    ports: Mapping[str, int] = field(default_factory=dict)
    versions: Mapping[str, str] = field(default_factory=dict)
    entry: str = ""
    digest: str = ""
    is_prepared: bool = False
    is_override: bool = False
    kind: str = "local"


def new_state(lab: str, kind: str = "local") -> PlaceState:
    """The state of a place that was just made."""
    created = time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime())
    return PlaceState(id=secrets.token_hex(8), lab=lab, created=created, kind=kind)


def kind_of(home: Path) -> str | None:
    """The kind of target that the place at `home` is one of; None where there is none.

    A damaged state is no reason to refuse: the marker of the place says it, too.
    """
    try:
        if (state := load_state(home)) is not None:
            return state.kind
    except TargetError:
        with contextlib.suppress(OSError, ValueError, KeyError, TypeError):
            return str(json.loads((home / MARKER_FILE).read_text("utf-8")).get("kind", "local"))
        return None
    return None


def load_state(home: Path) -> PlaceState | None:
    """The state kept in `home`, or None when there is none; an unreadable one is a TargetError."""
    is_there = False
    for path in (home / STATE_FILE, home / STATE_COPY):
        try:
            raw = json.loads(path.read_text("utf-8"))
            if raw.pop("schema") == SCHEMA:
                return PlaceState(**raw)
            is_there = True
        except (FileNotFoundError, NotADirectoryError):
            continue
        except (OSError, ValueError, TypeError, KeyError, AttributeError):
            is_there = True
    if not is_there:
        return None
    raise TargetError(
        say("{path} and its copy are damaged.", path=home / STATE_FILE),
        next_move=say(
            "Copy your files, then make destroy ends what runs and removes the place; "
            "make provision makes it anew."
        ),
    )


def save_state(home: Path, state: PlaceState) -> None:
    """Write the state so that a crash leaves the old or the new one."""
    text = json.dumps({"schema": SCHEMA, **asdict(state)}, indent=2, sort_keys=True)
    write_atomically(home / STATE_FILE, text + "\n")
    write_atomically(home / STATE_COPY, text + "\n")


def ensure_life(home: Path, *, is_new: bool = False) -> None:
    """Give the cluster's life a random name in `cluster.id`; with `is_new`, one that differs.

    A life ends with a reset. Those that remember things of the cluster tell by this name whether it
    is still the one they know: uids and resource versions begin anew from the same snapshot.
    """
    if is_new or not (home / LIFE_FILE).exists():
        write_atomically(home / LIFE_FILE, secrets.token_hex(8) + "\n")


def claim_home(home: Path, lab: str, kind: str = "local") -> None:
    """Make `home` a place of ours and mark it; what was in it before is noted and never removed."""
    if home.exists() and not home.is_dir():
        raise TargetError(
            say("{path} is a file, but the place of the lab goes there.", path=home),
            next_move=say("Move it aside, or choose another folder with LAB_HOME."),
        )
    home.mkdir(parents=True, exist_ok=True, mode=0o700)
    marker = home / MARKER_FILE
    if not marker.exists():
        foreign = sorted(p.name for p in home.iterdir() if p.name != LOCK_FILE)
        write_atomically(marker, json.dumps({"lab": lab, "foreign": foreign, "kind": kind}) + "\n")


def foreign_names(home: Path) -> frozenset[str]:
    """Names in `home` that were there before it became a place; TargetError when it is none."""
    try:
        raw = json.loads((home / MARKER_FILE).read_text("utf-8"))
        return frozenset(str(name) for name in raw["foreign"])
    except (OSError, ValueError, TypeError, KeyError) as error:
        raise TargetError(
            say("{path} is not a place of this lab: its marker file is missing.", path=home),
            next_move=say("Look at LAB_HOME; nothing was removed."),
        ) from error


@contextlib.contextmanager
def locked(path: Path, tell: Tell, started: float) -> Iterator[None]:
    """Hold the lock file `path`; while another process holds it, tell of whom, and wait.

    The kernel drops the lock when its holder dies, so a stale file is harmless.
    """
    is_told = False
    handle: int | None = None

    def missing() -> Message | None:
        nonlocal is_told, handle
        handle = _try_lock(path)
        if handle is not None:
            return None
        reason = _holder(path)
        if not is_told:
            tell(Progress(reason, time.monotonic() - started))
            is_told = True
        return reason

    try:
        wait_until(missing, within=LOCK_PATIENCE, every=0.2)
    except TimedOut as error:
        raise TargetError(error.what, next_move=say("Wait for it, or end that process.")) from error
    try:
        yield
    finally:
        if handle is not None:
            os.close(handle)


def _try_lock(path: Path) -> int | None:
    """The locked file's descriptor, or None while someone else holds it."""
    path.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
    handle = os.open(path, os.O_RDWR | os.O_CREAT, 0o600)
    try:
        fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
        if os.fstat(handle).st_ino != path.stat().st_ino:  # removed by a destroy meanwhile
            raise FileNotFoundError(path)
    except (BlockingIOError, FileNotFoundError):
        os.close(handle)
        return None
    os.ftruncate(handle, 0)
    note = {"pid": os.getpid(), "since": time.strftime("%H:%M:%S")}
    os.pwrite(handle, json.dumps(note).encode(), 0)
    return handle


def _holder(path: Path) -> Message:
    try:
        note = json.loads(path.read_text("utf-8"))
        return say(
            "waiting for another run of this command (process {pid}, since {since})",
            pid=note["pid"],
            since=note["since"],
        )
    except (OSError, ValueError, KeyError, TypeError):
        return say("waiting for another run of this command")
