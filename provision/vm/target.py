"""The vm target: a lab's cluster in a Linux machine of its own, reached over SSH."""

from __future__ import annotations

import time
from pathlib import Path

from provision.errors import TargetError
from provision.files import plain_file_errors
from provision.health import Diagnosis
from provision.local.supervised import SupervisedTarget
from provision.logs import unknown_log
from provision.message import Message, say
from provision.settings import Settings
from provision.state import (
    PlaceState,
    claim_home,
    ensure_life,
    foreign_names,
    load_state,
    new_state,
    save_state,
)
from provision.target import PlaceSpec, Provisioned, TargetInfo, TargetStatus, Tell
from provision.vm.bringing_up import Work
from provision.vm.choosing import choose, kept_choices
from provision.vm.examining import examine
from provision.vm.gathering import use, with_disk
from provision.vm.looking import INSIDE_BESIDE, Watch, describe, fetch_journal, inside_needed
from provision.vm.machine import Machine, MachineMaker, hang_up
from provision.vm.machines import open_maker
from provision.vm.place import VmPlace, nothing_yet
from provision.vm.removing import remove_home
from provision.vm.settings import VmSettings, read_settings
from provision.vm.underway import broken_off
from provision.vm.variables import require_one_node

KIND = "vm"
PLAYBOOK = "provision"


class VmTarget(SupervisedTarget):
    """Implements `provision.target.Target` for one place."""

    _place: VmPlace

    is_here = False

    def __init__(self, spec: PlaceSpec, settings: Settings) -> None:
        self._spec, self._settings = spec, settings
        self._place = VmPlace(spec, settings.environ.get("SSH_AUTH_SOCK", ""))

    def machine(self) -> Machine:
        """The machine that the place lives in."""
        maker = self._maker()
        if maker is None or (found := maker.find()) is None:
            raise nothing_yet(self._spec.lab)
        return found

    def up(self, tell: Tell) -> Provisioned:
        """Bring the place up; see the protocol."""
        started = time.monotonic()
        vm = self._vm()
        require_one_node(self._spec)
        choices = choose(self._spec.home, vm)
        open_maker(choices.maker, self._spec.home, vm, self._settings).check()
        with plain_file_errors():
            gathered = use(choices, self._spec.parts, tell, started)
            claim_home(self._spec.home, self._spec.lab, KIND)
            with self._alone(tell, started):
                state = load_state(self._spec.home) or new_state(self._spec.lab, KIND)
                save_state(self._spec.home, state)
                vm = vm if gathered is None else with_disk(vm, gathered.bundle)
                maker = open_maker(choices.maker, self._spec.home, vm, self._settings)
                work = self._work(state, tell, started)
                return work.bring_up(state, choices, gathered, maker)

    def down(self, tell: Tell) -> None:
        """Stop what runs here and power off a machine that is ours."""
        started = time.monotonic()
        self._state()
        with plain_file_errors(), self._alone(tell, started):
            state = self._state()
            work = self._work(state, tell, started)
            work.say(say("closing the ways into the machine"))
            work.close(state)
            maker = self._maker()
            if maker is not None:
                self._leave(maker, tell)
            work.say(say("closing the ways into the machine"), is_done=True)

    def reset(self, tell: Tell) -> Provisioned:
        """Bring the learner's things in the machine back to their start; see the protocol."""
        started = time.monotonic()
        machine, maker = self.machine(), self._maker()
        with plain_file_errors(), self._alone(tell, started):
            state = self._state()
            if maker is not None:
                machine = maker.ensure(tell)
            work = self._work(state, tell, started)
            work.close(state)
            kept = work.take_back(machine, kept_choices(self._spec.home), "lab")
            ensure_life(self._spec.home, is_new=True)
            state, connecting = work.connect(state, machine, state.entry)
            return Provisioned(
                describe(self._place, machine, state),
                is_changed=True,
                seconds=time.monotonic() - started,
                remarks=(*_where_kept(kept), *connecting.remarks),
            )

    def destroy(self, tell: Tell) -> None:
        """Remove the machine if it is ours, else what was put on it; then the place."""
        started = time.monotonic()
        if not self._spec.home.is_dir():
            return
        with plain_file_errors():
            foreign = foreign_names(self._spec.home)
            with self._alone(tell, started):
                try:
                    state = load_state(self._spec.home)
                except TargetError:  # damaged, and about to go: processes are found without it
                    state = None
                state = state or PlaceState(id="", lab=self._spec.lab, created="", kind=KIND)
                work = self._work(state, tell, started)
                work.close(state)
                self._running(state).kill()
                maker = self._maker()
                if maker is not None:
                    work.clear(maker, kept_choices(self._spec.home))
                    maker.destroy(tell)
                remove_home(self._spec.home, foreign)

    def status(self) -> TargetStatus:
        """What runs and what is ready, here and in the machine."""
        state, maker = load_state(self._spec.home), self._maker()
        if state is None or maker is None or (machine := maker.find()) is None:
            return TargetStatus(is_provisioned=False, components=(), info=None)
        watch = Watch(self._place, self._running(state), maker, state, self._vm().language)
        info = describe(self._place, machine, state)
        remark = broken_off(self._spec.home)
        return TargetStatus(state.is_prepared, watch.components(), info, remark)

    def examine(self) -> tuple[Diagnosis, ...]:
        """What is good and bad about the place."""
        state, maker = load_state(self._spec.home), self._maker()
        machine = maker.find() if maker is not None else None
        if state is None:
            return tuple(examine(self._place, None, machine, (), set()))
        pids = set(self._running(state).pids().values())
        return tuple(examine(self._place, state, machine, self.status().components, pids))

    def info(self) -> TargetInfo:
        """The target as it was provisioned."""
        return describe(self._place, self.machine(), self._state())

    def tools_dir(self) -> Path:
        """Folder with `kubectl`, which runs in the machine."""
        return self._place.tools

    def log_path(self, component: str) -> Path:
        """The log of a component here, or a copy of the newest lines of one in the machine."""
        here = (*self._place.names(), "supervisord", PLAYBOOK)
        there = (*inside_needed(self._spec.parts), *INSIDE_BESIDE.values())
        if component not in (*here, *there):
            raise unknown_log(component, (*here, *there))
        path = self._place.log(component)
        if component in there:
            fetch_journal(self.machine(), component, path)
        return path

    def _leave(self, maker: MachineMaker, tell: Tell) -> None:
        if (machine := maker.find()) is not None:
            hang_up(machine)
        maker.stop(tell)

    def _vm(self) -> VmSettings:
        return read_settings(self._settings.environ)

    def _maker(self) -> MachineMaker | None:
        """The way by which the place's machine came; None when it has none yet."""
        kept = kept_choices(self._spec.home).maker
        return open_maker(kept, self._spec.home, self._vm(), self._settings) if kept else None

    def _state(self) -> PlaceState:
        if (state := load_state(self._spec.home)) is None:
            raise nothing_yet(self._spec.lab)
        return state

    def _work(self, state: PlaceState, tell: Tell, started: float) -> Work:
        running = self._running(state)
        return Work(self._place, self._settings, self._vm(), running, tell, started)


def _where_kept(folder: str | None) -> tuple[Message, ...]:
    """What a reset says of the learner's files, which stay in the machine."""
    if folder is None:
        return ()
    return (say("Your files are kept in the machine, in {folder}.", folder=folder),)
