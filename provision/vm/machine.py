"""A machine that the lab lives in, and the one way into it: `ssh` with the place's own ssh_config.

Whoever gets a machine (`provision/vm/machines/`) leaves a `Machine` behind. Its ssh_config names
the address, user, key and the known host key, and is what ssh, Ansible and testinfra all read.
"""

from __future__ import annotations

import json
import shlex
import subprocess
from dataclasses import dataclass
from pathlib import Path
from typing import Protocol

from provision.errors import TargetError, TimedOut, UsageError
from provision.files import write_atomically
from provision.message import Message, say
from provision.sockets import short_socket
from provision.target import Tell

ALIAS = "machine"
FOLDER = "machine"
CONNECT_SECONDS = 10
ALIVE_SECONDS = 5
ALIVE_COUNT = 3
_ALWAYS = (
    "GlobalKnownHostsFile /dev/null",
    "StrictHostKeyChecking yes",
    "UpdateHostKeys no",
    "PasswordAuthentication no",
    "KbdInteractiveAuthentication no",
    "BatchMode yes",
    "ForwardAgent no",
    "ForwardX11 no",
)
_FILE = "machine.json"
_SCHEMA = 1


@dataclass(frozen=True, slots=True)
class Machine:
    """A machine that answers over SSH.

    `name` is what people call it, `address` and `port` where sshd listens as seen from here, `user`
    the login; in `ssh_config` (an absolute path) all of it stands under the alias `machine`.
    """

    name: str
    address: str
    port: int
    user: str
    ssh_config: Path

    @property
    def is_root(self) -> bool:
        """The login is root's, so nothing needs sudo."""
        return self.user == "root"

    def as_root(self, *command: str) -> tuple[str, ...]:
        """The command as root runs it there: by sudo, which must ask for nothing, if need be."""
        return command if self.is_root else ("sudo", "-n", "--", *command)

    def argv(self, *command: str) -> tuple[str, ...]:
        """The local command that runs `command` on the machine, each word kept as it is."""
        return ("ssh", "-F", str(self.ssh_config), ALIAS, "--", shlex.join(command))


@dataclass(frozen=True, slots=True)
class Done:
    """A command that ended on the machine. 255 is ssh's own: the machine could not be asked."""

    returncode: int
    stdout: bytes
    stderr: bytes

    @property
    def is_reached(self) -> bool:
        """The machine ran it, however it ended."""
        return self.returncode != 255

    @property
    def last_line(self) -> str:
        """The last thing that was said on standard error, or on standard output."""
        lines = (self.stderr.strip() or self.stdout.strip()).decode(errors="replace").splitlines()
        return lines[-1].strip() if lines else ""


def run(machine: Machine, command: tuple[str, ...], *, input: bytes | None, within: float) -> Done:
    """Run `command` on the machine and wait for its end, at most `within` seconds.

    Raises TimedOut when it does not end; TargetError when there is no ssh here.
    """
    try:
        done = subprocess.run(
            machine.argv(*command),
            input=b"" if input is None else input,
            capture_output=True,
            timeout=within,
            check=False,
        )
    except FileNotFoundError as error:
        raise no_ssh() from error
    except subprocess.TimeoutExpired as error:
        raise TimedOut(
            say(
                "{machine} did not end {command} within {seconds} s.",
                machine=machine.name,
                command=command[0],
                seconds=f"{within:g}",
            ),
            next_move=say("Look at the machine and its network, then run the same command again."),
        ) from error
    return Done(done.returncode, done.stdout, done.stderr)


def no_ssh() -> TargetError:
    """The error for a controller without an SSH client."""
    return TargetError(
        say("There is no ssh on this machine, and nothing else leads into the lab's machine."),
        next_move=say("Install an OpenSSH client (Debian: apt-get install openssh-client)."),
    )


class MachineMaker(Protocol):
    """One way of getting a machine; all that it keeps lies below `home/machine/`."""

    @property
    def is_given(self) -> bool:
        """The machine is somebody's own: it is neither made, powered off nor removed by us."""

    @property
    def remarks(self) -> tuple[Message, ...]:
        """What people should know of the machine; as `ensure` found it."""

    def check(self) -> None:
        """Refuse what cannot be meant or done, before a bundle is gathered; nothing is changed."""

    def ensure(self, tell: Tell) -> Machine:
        """The machine, made and powered on if need be; it answers over SSH on return."""

    def find(self) -> Machine | None:
        """The machine as it was last had, without asking it; None when there was none."""

    def is_on(self) -> bool:
        """Whether it runs, as far as can be told from here in a moment; a given one: it answers."""

    def stop(self, tell: Tell) -> None:
        """Power it off and keep its disk; a given one is left as it is."""

    def destroy(self, tell: Tell) -> None:
        """Remove the machine, its disk and keys; of a given one only what is kept here."""


def ssh_config(
    *,
    home: Path,
    address: str,
    port: int,
    user: str,
    known_hosts: Path,
    runtime: Path,
    key: Path | None = None,
) -> str:
    """The text of a machine's ssh_config; `key` is None when the user's own keys are to be tried.

    Nothing is asked, the host key must be known, and a machine that is gone is noticed within
    `ALIVE_SECONDS` times `ALIVE_COUNT`. Connections are shared by a socket with a short path.
    """
    control = short_socket(home / FOLDER / "ssh.sock", runtime)
    lines = [
        f"Host {ALIAS}",
        f"  HostName {address.replace('%', '%%')}",
        f"  Port {port}",
        f"  User {user}",
        f"  HostKeyAlias {ALIAS}",
        f"  UserKnownHostsFile {_quoted(known_hosts)}",
        *(f"  {line}" for line in _ALWAYS),
        f"  ConnectTimeout {CONNECT_SECONDS}",
        f"  ServerAliveInterval {ALIVE_SECONDS}",
        f"  ServerAliveCountMax {ALIVE_COUNT}",
        "  ControlMaster auto",
        f"  ControlPath {_quoted(control)}",
        "  ControlPersist 60",
        "  LogLevel ERROR",
    ]
    if key is not None:
        lines += [f"  IdentityFile {_quoted(key)}", "  IdentitiesOnly yes"]
    return "\n".join(lines) + "\n"


def _quoted(path: Path) -> str:
    """A path for ssh_config: % and ${ are expanded there, and a quote cannot be told to it."""
    text = str(path)
    if '"' in text or "${" in text or not text.isprintable():
        raise UsageError(
            say(
                "ssh cannot be told of {path}: it holds a quote, ${{ or an unprintable character.",
                path=repr(text),
            ),
            next_move=say("Name another file in KEY, or another folder in LAB_HOME."),
        )
    return '"' + text.replace("%", "%%") + '"'


def hang_up(machine: Machine) -> None:
    """End the connection that is shared by commands, if there is one; no error when it hangs."""
    command = ["ssh", "-F", str(machine.ssh_config), "-O", "exit", ALIAS]
    try:
        subprocess.run(
            command, capture_output=True, stdin=subprocess.DEVNULL, timeout=10, check=False
        )
    except (OSError, subprocess.TimeoutExpired):
        return


def save_machine(home: Path, maker: str, machine: Machine) -> None:
    """Remember which machine the place has, and by whose hands (`maker`: "qemu", "ssh", ...)."""
    note = {
        "schema": _SCHEMA,
        "maker": maker,
        "name": machine.name,
        "address": machine.address,
        "port": machine.port,
        "user": machine.user,
    }
    write_atomically(home / FOLDER / _FILE, json.dumps(note, indent=2) + "\n")


def load_machine(home: Path) -> tuple[str, Machine] | None:
    """The maker's name and the machine that the place has; None when it has none, or none we know.

    A damaged file counts as none: the maker's `ensure` writes it anew.
    """
    folder = home / FOLDER
    try:
        note = json.loads((folder / _FILE).read_text("utf-8"))
        if note["schema"] != _SCHEMA:
            return None
        machine = Machine(
            name=str(note["name"]),
            address=str(note["address"]),
            port=int(note["port"]),
            user=str(note["user"]),
            ssh_config=folder / "ssh_config",
        )
        return str(note["maker"]), machine
    except (OSError, ValueError, KeyError, TypeError):
        return None
