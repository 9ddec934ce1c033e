"""A machine that is given: `VM=ssh HOST=user@host[:port]`, any Debian or Ubuntu with systemd."""

from __future__ import annotations

import contextlib
import shutil
import time
from collections.abc import Iterator
from pathlib import Path

from provision.errors import LabError, TimedOut, UsageError
from provision.files import write_atomically
from provision.message import Message, say
from provision.settings import Settings
from provision.target import Progress, Tell
from provision.vm.contacting import (
    changed_key,
    is_key_refused,
    is_worth_waiting,
    known_hosts_text,
    known_keys,
    lets_nobody_in,
    scan,
    shown,
    unreachable,
    why_refused,
    why_silent,
)
from provision.vm.login import Login, read_login
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
from provision.vm.refusals import another_machine, lost_key, no_root, no_shell
from provision.vm.settings import VmSettings
from provision.waiting import wait_until

NAME = "ssh"
ANSWER_SECONDS = 25.0
_KEY = "key"
PATIENCE = 90.0  # a machine that was had before may be booting


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
            self._remember(key)
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
        """The private key to log in with: the named one, else the one that got in before."""
        kept = self._folder / _KEY
        named = self._vm.key
        if named is None and kept.is_file() and not self._vm.is_key_dropped:
            named = Path(kept.read_text("utf-8").strip())
            if not named.is_file():
                raise lost_key(named)
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
        files = (self._known_hosts, self._config)
        texts = {path: path.read_bytes() for path in files if path.is_file()}
        try:
            yield
        except BaseException:
            if before is not None:
                hang_up(before)
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
            is_same = (login.host, login.port) == (before.address, before.port)
            raise changed_key(before, found) if is_same else another_machine(str(login), before)
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
        if write_atomically(self._config, text):
            hang_up(machine)  # a connection that is shared was made by the old one

    def _remember(self, key: Path | None) -> None:
        """The key that got in is the one for the runs to come; none stands for one's own keys."""
        if key is not None:
            write_atomically(self._folder / _KEY, f"{key}\n")
        else:
            (self._folder / _KEY).unlink(missing_ok=True)

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
            raise changed_key(machine)
        if not done.is_reached:
            raise why_refused(done, machine, key)
        if done.returncode != 0:
            raise no_shell(machine, done)
        if not machine.is_root:
            done = run(machine, machine.as_root("true"), input=None, within=ANSWER_SECONDS)
            if done.is_reached and done.returncode != 0:
                raise no_root(machine, done.last_line)
