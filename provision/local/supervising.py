"""The supervisor's configuration and calls. It keeps processes up and knows no readiness.

Settings that matter (supervisor 4.3.0): nothing starts by itself (`autostart=false`), as it would
start all at once; `startretries` has no practical end, as a program that fails a few times would be
given up for good; logs are capped; its socket lies in a folder that only we may enter.
"""

from __future__ import annotations

import contextlib
import http.client
import shlex
import socket
import subprocess
import sys
import xmlrpc.client
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from provision.errors import TargetError
from provision.files import write_atomically
from provision.local.plan import Component
from provision.message import say
from provision.sockets import short_socket

PLACE_VARIABLE = "GPU_QUEUE_LAB_PLACE"
LOG_BYTES = "5MB"
RPC_SECONDS = 10.0
# SPAWN_ERROR (seen in `processes` right after), ALREADY_STARTED, NOT_RUNNING
HARMLESS_FAULTS = frozenset({50, 60, 70})


@dataclass(frozen=True, slots=True)
class ProcessInfo:
    """What the supervisor knows of one process; `state` is its own word, such as RUNNING."""

    name: str
    state: str
    pid: int | None

    @property
    def is_running(self) -> bool:
        """A process exists."""
        return self.pid is not None


def socket_path(home: Path, runtime: Path) -> Path:
    """Where the supervisor listens; see `short_socket`."""
    return short_socket(home / "run" / "supervisor.sock", runtime)


def supervisor_config(
    components: Iterable[Component], home: Path, socket_file: Path, place_id: str
) -> str:
    """The text of supervisord.conf; components in their start order."""
    lines = [
        "[supervisord]",
        f"pidfile={_plain(home / 'run' / 'supervisord.pid')}",
        f"logfile={_plain(home / 'logs' / 'supervisord.log')}",
        "logfile_maxbytes=2MB",
        "logfile_backups=1",
        f"directory={_plain(home)}",
        f"environment={PLACE_VARIABLE}={_quoted(place_id)}",
        "umask=077",
        "minfds=1024",
        "",
        "[unix_http_server]",
        f"file={_plain(socket_file)}",
        "chmod=0600",
        "",
        "[rpcinterface:supervisor]",
        "supervisor.rpcinterface_factory = supervisor.rpcinterface:make_main_rpcinterface",
    ]
    for order, component in enumerate(components, start=1):
        lines += ["", *_program(component, order)]
    return "\n".join(lines) + "\n"


def _program(component: Component, order: int) -> list[str]:
    return [
        f"[program:{component.name}]",
        f"command={_plain(shlex.join(component.argv))}",
        f"environment={','.join(f'{k}={_quoted(v)}' for k, v in component.env)}",
        f"priority={order}",
        "autostart=false",
        "autorestart=true",
        "startsecs=1",
        "startretries=1000000",
        "stopsignal=TERM",
        f"stopwaitsecs={component.stop_seconds}",
        "killasgroup=true",
        "redirect_stderr=true",
        f"stdout_logfile={_plain(component.log)}",
        f"stdout_logfile_maxbytes={LOG_BYTES}",
        "stdout_logfile_backups=1",
    ]


def _plain(value: object) -> str:
    """Supervisor expands % in its configuration."""
    return str(value).replace("%", "%%")


def _quoted(value: str) -> str:
    return f'"{_plain(value)}"'


class Supervisor:
    """The supervisor of one place. Every call raises OSError when it does not answer."""

    def __init__(self, home: Path, socket_file: Path) -> None:
        self._home, self.socket = home, socket_file
        self.log = home / "logs" / "supervisord.log"

    def is_alive(self) -> bool:
        """Whether it answers."""
        try:
            with self._calls() as calls:
                return bool(calls.supervisor.getState())
        except (OSError, http.client.HTTPException):
            return False

    def launch(self, config: str, search_path: str) -> None:
        """Start it with this configuration; it answers on return. TargetError if it fails."""
        conf = self._home / "conf" / "supervisord.conf"
        write_atomically(conf, config)
        self.log.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
        self.socket.unlink(missing_ok=True)
        done = subprocess.run(
            [sys.executable, "-I", "-m", "supervisor.supervisord", "-c", str(conf)],
            cwd=self._home,
            env=clean_environment(self._home, search_path),
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            timeout=30,
            check=False,
        )
        if done.returncode:
            lines = (done.stderr or done.stdout).strip().splitlines()
            raise TargetError(
                say("The supervisor did not start: {reason}.", reason=lines[-1] if lines else "?"),
                next_move=say("Look at {path}.", path=self.log),
            )

    def processes(self) -> dict[str, ProcessInfo]:
        """All processes by name."""
        with self._calls() as calls:
            rows: Any = calls.supervisor.getAllProcessInfo()
        return {
            r["name"]: ProcessInfo(r["name"], r["statename"], int(r["pid"]) or None) for r in rows
        }

    def start(self, name: str) -> None:
        """Spawn a process unless it runs; an exit that comes later is seen in `processes`."""
        self._call("startProcess", name, False)

    def exchange(self, name: str, config: str) -> None:
        """Take a new configuration in which only `name` differs, which must not be running."""
        write_atomically(self._home / "conf" / "supervisord.conf", config)
        for method, arguments in (
            ("reloadConfig", ()),
            ("removeProcessGroup", (name,)),
            ("addProcessGroup", (name,)),
        ):
            self._call(method, *arguments)

    def stop(self, name: str) -> None:
        """Send the stop signal unless it is stopped."""
        self._call("stopProcess", name, False)

    def shut_down(self) -> None:
        """End the supervisor; all processes must have been stopped before."""
        with self._calls() as calls:
            calls.supervisor.shutdown()

    def pid(self) -> int:
        """Its process id."""
        with self._calls() as calls:
            return int(str(calls.supervisor.getPID()))

    def _call(self, method: str, *args: object) -> None:
        try:
            with self._calls() as calls:
                getattr(calls.supervisor, method)(*args)
        except xmlrpc.client.Fault as fault:
            if fault.faultCode not in HARMLESS_FAULTS:
                raise TargetError(
                    say(
                        "The supervisor refused {call}: {reason}.",
                        call=method,
                        reason=fault.faultString,
                    )
                ) from fault

    @contextlib.contextmanager
    def _calls(self) -> Iterator[Any]:
        with xmlrpc.client.ServerProxy(
            "http://localhost/RPC2", transport=_UnixTransport(self.socket), allow_none=True
        ) as proxy:
            yield proxy


def clean_environment(home: Path, search_path: str) -> Mapping[str, str]:
    """The environment of all processes of a place: nothing of the person's own leaks in."""
    scratch = home / "run" / "tmp"
    scratch.mkdir(parents=True, exist_ok=True, mode=0o700)
    return {"PATH": search_path, "HOME": str(home), "TMPDIR": str(scratch), "LANG": "C.UTF-8"}


class _UnixTransport(xmlrpc.client.Transport):
    def __init__(self, path: Path) -> None:
        super().__init__()
        self._path = path

    def make_connection(self, host: tuple[str, dict[str, str]] | str) -> http.client.HTTPConnection:
        connection = _UnixConnection(self._path)
        self._connection = host, connection  # so that the base class closes it
        return connection


class _UnixConnection(http.client.HTTPConnection):
    def __init__(self, path: Path) -> None:
        super().__init__("localhost", timeout=RPC_SECONDS)
        self._path = path

    def connect(self) -> None:
        self.sock = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
        self.sock.settimeout(RPC_SECONDS)
        try:
            self.sock.connect(str(self._path))
        except BaseException:
            self.sock.close()
            raise
