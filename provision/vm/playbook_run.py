"""One run of ansible-playbook by ansible-runner, in process; the only module that imports it.

What ansible-runner 2.4 makes necessary: an exception in an event handler would leave the run behind
(so the handler only puts events aside), a cancel is looked at once per `pexpect_timeout`, what a
task started survives the end of its play (so all that carries this run's mark is ended), and the
files of a run hold its whole environment (so that is made here, and holds nothing of the person's).
"""

from __future__ import annotations

import contextlib
import os
import queue
import secrets
import sys
import threading
import time
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import psutil

from provision.errors import TargetError, TimedOut
from provision.message import Message, say
from provision.waiting import wait_until

KEEP_RUNS = 5
ARTEFACTS = "artifacts"  # ansible-runner's own name for it
SETTINGS: Mapping[str, object] = {"pexpect_timeout": 1, "pexpect_use_poll": True}
REMOTE_FOLDER = ".gpu-queue-lab-ansible"  # on the machine, in the home of who logs in
CANCEL_SECONDS = 20.0
RUN_MARK = "AWX_ISOLATED_DATA_DIR"  # set by ansible-runner, handed on to every process of a run
_HANDED_ON = ("SSH_AUTH_SOCK", "TZ")
_RUNNERS_OWN = (RUN_MARK, "ANSIBLE_STDOUT_CALLBACK")


@dataclass(frozen=True, slots=True)
class Limits:
    """Seconds: of a whole run, and of a time in it when nothing is heard."""

    within: float
    idle: float


@dataclass(frozen=True, slots=True)
class Ended:
    """How a run ended: `why` we ended it, None when it ended by itself; `trouble` of the runner."""

    why: Message | None
    trouble: str


class PlaybookRun:
    """One run, in a thread of its own. Always call `end`, which leaves nothing of it behind."""

    def __init__(self, folder: Path, project: Path, book: str, limits: Limits) -> None:
        """`folder` is ansible-runner's private_data_dir, laid out; `project` holds `book`."""
        self._folder, self._project, self._book = folder, project, book
        self._limits = limits
        self._ident = f"{time.strftime('%Y%m%d-%H%M%S')}-{secrets.token_hex(3)}"
        self._artefacts = folder / ARTEFACTS / self._ident
        self.output = self._artefacts / "stdout"
        self._events: queue.SimpleQueue[Mapping[str, Any]] = queue.SimpleQueue()
        self._cancel = threading.Event()
        self._thread = threading.Thread(target=self._work, name="playbook", daemon=True)
        self._why: Message | None = None
        self._trouble = ""
        self._began = self._heard = time.monotonic()

    def start(self) -> None:
        """Start it. TargetError when there is no Ansible in this environment."""
        program = Path(sys.executable).parent / "ansible-playbook"
        if not program.is_file():
            raise TargetError(
                say("There is no Ansible in the environment of {python}.", python=sys.executable),
                next_move=say("Run make provision TARGET=vm, which installs it."),
            )
        end_runs(self._folder)
        self._began = self._heard = time.monotonic()
        self._thread.start()

    def drain(self) -> list[Mapping[str, Any]]:
        """The events that came since the last call."""
        found = []
        with contextlib.suppress(queue.Empty):
            while True:
                found.append(self._events.get_nowait())
        return found

    def has_ended(self, within: float) -> bool:
        """Wait at most `within` seconds for its end; a run over its limits is told to end."""
        self._thread.join(within)
        now = time.monotonic()
        if self._why is None and now - self._began > self._limits.within:
            seconds = f"{self._limits.within:g}"
            self._stop(say("The playbook did not end within {seconds} s.", seconds=seconds))
        elif self._why is None and now - self._heard > self._limits.idle:
            seconds = f"{self._limits.idle:g}"
            self._stop(say("For {seconds} s nothing was heard of the playbook.", seconds=seconds))
        return not self._thread.is_alive()

    def end(self) -> Ended:
        """End it if it runs, and all that it started and that still runs here."""
        if self._thread.is_alive():
            self._cancel.set()
            self._thread.join(CANCEL_SECONDS)
        end_runs(self._folder)
        return Ended(self._why, self._trouble)

    def _stop(self, why: Message) -> None:
        self._why = why
        self._cancel.set()

    def _work(self) -> None:
        """In the thread: the runner, whose exceptions would be lost there."""
        try:
            from ansible_runner.interface import init_runner  # costs 0.3 s, for this alone

            runner = init_runner(
                private_data_dir=str(self._folder),
                project_dir=str(self._project),
                playbook=self._book,
                ident=self._ident,
                rotate_artifacts=KEEP_RUNS,
                quiet=True,
                event_handler=self._take,
                cancel_callback=self._cancel.is_set,
            )
            runner.config.env = self._environment(runner.config.env)
            runner.run()
        except Exception as error:
            self._trouble = f"{type(error).__name__}: {error}"

    def _take(self, event: Mapping[str, Any]) -> bool:
        """Ansible-runner's handler; False keeps the event out of its files, True lets it in."""
        self._heard = time.monotonic()
        self._events.put(event)
        return False

    def _environment(self, runners: Mapping[str, str]) -> dict[str, str]:
        """What ansible-playbook gets: nothing of ours but PATH, the agent's socket and the zone."""
        callbacks = runners["ANSIBLE_CALLBACK_PLUGINS"].rpartition(":")[2]
        scratch = str(self._folder / "tmp")
        search = (str(Path(sys.executable).parent), os.environ.get("PATH", os.defpath))
        return {
            "PATH": os.pathsep.join(search),
            "HOME": str(self._folder),
            "TMPDIR": scratch,
            "LANG": "C.UTF-8",
            "LC_ALL": "C.UTF-8",
            "ANSIBLE_CONFIG": str(self._folder / "ansible.cfg"),
            "ANSIBLE_HOME": str(self._folder / "home"),
            "ANSIBLE_LOCAL_TEMP": scratch,
            "ANSIBLE_CALLBACK_PLUGINS": callbacks,
            "ANSIBLE_HOST_KEY_CHECKING": "True",
            "ANSIBLE_NOCOLOR": "True",
            "ANSIBLE_NOCOWS": "True",
            "ANSIBLE_PIPELINING": "True",
            "ANSIBLE_REMOTE_TMP": f"~/{REMOTE_FOLDER}",
            "ANSIBLE_RETRY_FILES_ENABLED": "False",
            "ANSIBLE_SSH_ARGS": "",  # all of it stands in the machine's ssh_config
            "ANSIBLE_TIMEOUT": "20",
            **{name: runners[name] for name in _RUNNERS_OWN if name in runners},
            **{name: os.environ[name] for name in _HANDED_ON if name in os.environ},
        }


def end_runs(folder: Path) -> None:
    """End, by their ids, all processes of runs in this folder: also of one whose owner was killed.

    Ansible ignores the hang-up that the end of its owner is, and would go on side by side.
    """

    def missing() -> Message | None:
        left = _marked(f"{folder / ARTEFACTS}{os.sep}")
        for process in left:
            with contextlib.suppress(psutil.Error):
                process.kill()
        return say("{count} processes did not end", count=len(left)) if left else None

    with contextlib.suppress(TimedOut):
        wait_until(missing, within=10.0, every=0.1)


def _marked(beginning: str) -> list[psutil.Process]:
    found = []
    for process in psutil.process_iter():
        with contextlib.suppress(psutil.Error, OSError):
            is_ours = process.environ().get(RUN_MARK, "").startswith(beginning)
            if is_ours and process.status() != psutil.STATUS_ZOMBIE:
                found.append(process)
    return found
