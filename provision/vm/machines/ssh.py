"""A machine that is given: `VM=ssh HOST=user@host[:port]`, any Debian or Ubuntu with systemd."""

from __future__ import annotations

import contextlib
import re
import shutil
import time
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from provision.errors import LabError, TimedOut, UsageError
from provision.files import write_atomically
from provision.message import Message, say
from provision.settings import Settings
from provision.target import Progress, Tell
from provision.vm.contacting import (
    another_machine,
    changed_key,
    is_key_refused,
    is_worth_waiting,
    known_hosts_text,
    known_keys,
    lets_nobody_in,
    no_root,
    no_shell,
    scan,
    shown,
    unreachable,
    why_refused,
    why_silent,
)
from provision.vm.machine import (
    FOLDER,
    Done,
    Machine,
    hang_up,
    load_machine,
    run,
    save_machine,
    ssh_config,
)
from provision.vm.settings import VmSettings
from provision.waiting import wait_until

NAME = "ssh"
ANSWER_SECONDS = 25.0
PATIENCE = 90.0  # a machine that was had before may be booting
_HOST = re.compile(r"([\w.-]+)@(\[[0-9A-Fa-f:.%\w]+\]|[\w.-]+)(?::(\d{1,5}))?", re.ASCII)


@dataclass(frozen=True, slots=True)
class Login:
    """Where to log in, from `user@host[:port]`; `host` is without the brackets of IPv6."""

    user: str
    host: str
    port: int = 22

    def __str__(self) -> str:
        host = f"[{self.host}]" if ":" in self.host else self.host
        return f"{self.user}@{host}" + ("" if self.port == 22 else f":{self.port}")


def read_login(text: str) -> Login:
    """The parts of HOST. UsageError when it is not so written: it goes into a command line."""
    found = _HOST.fullmatch(text)
    port = int(found.group(3) or 22) if found else 0
    is_sane = found is not None and not found.group(1).startswith("-")
    if found is None or not is_sane or not 0 < port < 65536 or found.group(2).startswith("-"):
        raise UsageError(
            say("HOST is {value}, which is not a login on a machine.", value=text or '""'),
            next_move=say("Write it as in HOST=root@192.0.2.10, or HOST=root@192.0.2.10:2222."),
        )
    return Login(found.group(1), found.group(2).strip("[]"), port)


class SshMaker:
    """Implements `provision.vm.machine.MachineMaker` for a machine that somebody has already."""

    is_given = True
    remarks: tuple[Message, ...] = ()

    def __init__(self, home: Path, vm: VmSettings, settings: Settings) -> None:
        self._home, self._vm, self._settings = home, vm.ssh, settings
        self._folder = home / FOLDER
        self._known_hosts = self._folder / "known_hosts"
        self._config = self._folder / "ssh_config"

    def check(self) -> None:
        """Refuse a HOST or KEY that cannot be meant."""
        self._login(self.find())
        self._key()

    def ensure(self, tell: Tell) -> Machine:
        """Contact the machine; the host key is taken down the first time and held to after it."""
        started = time.monotonic()
        before = self.find()
        login = self._login(before)
        key = self._key()
        tell(Progress(say("contacting {login}", login=login), 0.0))
        self._folder.mkdir(parents=True, exist_ok=True, mode=0o700)
        with self._kept(before):
            self._learn_host_key(login, before, tell, started)
            machine = Machine(str(login), login.host, login.port, login.user, self._config)
            self._write_config(machine, key)
            self._greet(machine, key, patience=0.0 if before is None else PATIENCE)
            save_machine(self._home, NAME, machine)
        seconds = time.monotonic() - started
        tell(Progress(say("contacting {login}", login=login), seconds, is_done=True))
        return machine

    def find(self) -> Machine | None:
        """The machine as it was last had."""
        found = load_machine(self._home)
        return found[1] if found is not None and found[0] == NAME else None

    def is_on(self) -> bool:
        """Whether it answers."""
        machine = self.find()
        if machine is None:
            return False
        try:
            return run(machine, ("true",), input=None, within=ANSWER_SECONDS).returncode == 0
        except LabError:
            return False

    def stop(self, tell: Tell) -> None:
        """Nothing but the connection ends: the machine is not ours."""
        if (machine := self.find()) is not None:
            hang_up(machine)

    def destroy(self, tell: Tell) -> None:
        """Forget the machine: what is kept of it here is removed."""
        self.stop(tell)
        shutil.rmtree(self._folder, ignore_errors=True)

    def _login(self, before: Machine | None) -> Login:
        # Some shells keep the name of this machine in HOST: it is no login.
        if self._vm.host and (before is None or "@" in self._vm.host):
            return read_login(self._vm.host)
        if before is not None:
            return Login(before.user, before.address, before.port)
        raise UsageError(
            say("VM=ssh needs a machine, and HOST names none."),
            next_move=say("Write it as in make provision TARGET=vm VM=ssh HOST=root@192.0.2.10."),
        )

    def _key(self) -> Path | None:
        """The private key to log in with: the named one, else the one used before."""
        kept = self._folder / "key"
        named = self._vm.key
        if named is None and kept.is_file():
            named = Path(kept.read_text("utf-8").strip())
        if named is None:
            return None
        if not named.is_file():
            raise UsageError(
                say("There is no private key {path}.", path=named),
                next_move=say("Look at KEY, or leave it out to use your own keys."),
            )
        return named

    @contextlib.contextmanager
    def _kept(self, before: Machine | None) -> Iterator[None]:
        """A machine that was had stays reachable when a wrong HOST or KEY is named for it."""
        key = self._folder / "key"
        files = (self._known_hosts, self._config, key)
        texts = {path: path.read_bytes() for path in files if path.is_file()}
        try:
            yield
        except BaseException:
            if before is not None:
                hang_up(before)
                if key not in texts:
                    key.unlink(missing_ok=True)
                for path, text in texts.items():
                    write_atomically(path, text)
            raise

    def _learn_host_key(
        self, login: Login, before: Machine | None, tell: Tell, started: float
    ) -> None:
        known = known_keys(self._known_hosts)
        where = f"{login.host}:{login.port}"
        if known and self._known_hosts.read_text("utf-8").rstrip().endswith(f" {where}"):
            return
        found = scan(login.host, login.port)
        if not found:
            raise unreachable(login.host, login.port, why_silent(login.host, login.port))
        if before is not None and known and not set(known) & set(found):
            raise another_machine(str(login), before)
        if not set(known) & set(found):
            stage = say("its host key, seen for the first time: {key}", key=shown(found[0]))
            tell(Progress(stage, time.monotonic() - started))
        write_atomically(self._known_hosts, known_hosts_text(found[:1], where))

    def _write_config(self, machine: Machine, key: Path | None) -> None:
        text = ssh_config(
            home=self._home,
            address=machine.address,
            port=machine.port,
            user=machine.user,
            known_hosts=self._known_hosts,
            runtime=self._settings.runtime,
            key=key,
        )
        if key is not None:
            write_atomically(self._folder / "key", f"{key}\n")
        if write_atomically(self._config, text):
            hang_up(machine)  # a connection that is shared was made by the old one

    def _greet(self, machine: Machine, key: Path | None, *, patience: float) -> None:
        """Returns when the machine ran a command; raises what hinders it."""
        answers: list[Done] = []

        def missing() -> Message | None:
            done = run(machine, ("true",), input=None, within=ANSWER_SECONDS)
            answers.append(done)
            if not is_worth_waiting(done):
                return None
            return say("{reason}", reason=done.last_line)

        with contextlib.suppress(TimedOut):
            wait_until(missing, within=patience, every=1.0)
        if not answers:
            raise lets_nobody_in(machine, ANSWER_SECONDS)
        done = answers[-1]
        if is_key_refused(done):
            raise changed_key(machine, self._known_hosts)
        if not done.is_reached:
            raise why_refused(done, machine, key)
        if done.returncode != 0:
            raise no_shell(machine, done)
        if not machine.is_root:
            done = run(machine, machine.as_root("true"), input=None, within=ANSWER_SECONDS)
            if done.is_reached and done.returncode != 0:
                raise no_root(machine, done.last_line)
