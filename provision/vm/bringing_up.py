"""Bringing a place up: a machine, what is put on it, and the controller's way in."""

from __future__ import annotations

import contextlib
import hashlib
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

from provision.errors import LabError
from provision.local.running import Running
from provision.message import Message, say
from provision.settings import Settings
from provision.state import PlaceState, ensure_life, save_state
from provision.target import Progress, Provisioned, Tell
from provision.vm import preflight, underway
from provision.vm.bundle.checking import INDEX, Bundle, Kind
from provision.vm.choosing import Choices, keep_choices
from provision.vm.clearing import lets_in
from provision.vm.collecting.plan import PARTS
from provision.vm.connecting import Connecting
from provision.vm.gathering import Gathered, collect
from provision.vm.holding import held
from provision.vm.kubeconfigs import fetch
from provision.vm.looking import describe
from provision.vm.machine import Machine, MachineMaker, run
from provision.vm.place import VmPlace
from provision.vm.playbook_run import REMOTE_FOLDER, Limits, end_runs
from provision.vm.playing import FOLDER, Played, Player
from provision.vm.settings import VmSettings
from provision.vm.variables import Variables, reset_variables, site_variables

# What Ansible puts down on its way is in a folder of ours in the homes of root and of the login;
# a run that was broken off leaves things there.
_SWEEP = (
    'for user in root "$0"; do home=$(getent passwd "$user" | cut -d: -f6); '
    '[ -n "$home" ] && rm -rf "$home/$1"; done'
)
SWEEP_SECONDS = 30.0


@dataclass(frozen=True, slots=True)
class Work:
    """One command on a place whose lock is held."""

    place: VmPlace
    settings: Settings
    vm: VmSettings
    running: Running
    tell: Tell
    started: float

    def bring_up(
        self, state: PlaceState, choices: Choices, used: Gathered | None, maker: MachineMaker
    ) -> Provisioned:
        """Get the machine, play `site.yml` on it, and connect to what came of it.

        `used` is a ready bundle; without one it is collected, for the system of a given machine.
        """
        keep_choices(self.place.spec.home, choices)
        if used is None and not maker.is_given:
            used = self._collect(choices, "")
        machine = maker.ensure(self.tell)
        facts = self._look_at(machine)
        gathered = used or self._collect(choices, facts.os)
        preflight.require_fit(machine, facts, gathered.bundle)
        variables = site_variables(
            self.place.spec,
            gathered.bundle,
            machine,
            gpus=choices.gpus,
            language=choices.language,
        )
        underway.begin(self.place.spec.home, underway.PROVISION)
        played = self._play(machine, "site.yml", variables)
        self._tell_roles(played)
        ensure_life(self.place.spec.home)
        versions = versions_of(gathered.bundle, choices.gpus, self.place.spec.parts)
        state = replace(state, versions=versions)
        key = hashlib.sha256((gathered.bundle.folder / INDEX).read_bytes()).hexdigest()[:16]
        state, connecting = self.connect(state, machine, key)
        state = replace(state, is_prepared=True)
        save_state(self.place.spec.home, state)
        underway.end(self.place.spec.home)
        remarks = (*gathered.remarks, *maker.remarks, *connecting.remarks)
        return Provisioned(
            describe(self.place, machine, state),
            is_changed=played.changes > 0 or connecting.is_changed,
            seconds=time.monotonic() - self.started,
            remarks=remarks,
        )

    def connect(
        self, state: PlaceState, machine: Machine, key: str
    ) -> tuple[PlaceState, Connecting]:
        """Bring up what runs here: forwards and recorder."""
        self.place.make_folders()
        self.place.lay_kubectl(is_root=machine.is_root)
        connecting = Connecting(self.place, self.settings, self.running, self.tell, self.started)
        texts = fetch(machine, self.place.spec.lab)
        return connecting.run(state, texts, key), connecting

    def take_back(self, machine: Machine, choices: Choices, depth: str) -> str | None:
        """Play `reset.yml`: `lab` for the learner's things, `all` for everything put on.

        Where the machine keeps the learner's files from now on; None when there were none.
        """
        variables = reset_variables(
            self.place.spec, gpus=choices.gpus, language=self.vm.language, depth=depth
        )
        return self._play(machine, "reset.yml", variables).kept

    def clear(self, maker: MachineMaker, choices: Choices) -> None:
        """Take off a given machine what was put on it, unless nobody answers there.

        LabError, and the place stays, when it answers and does not let us in.
        """
        machine = maker.find()
        if machine is None or not maker.is_given:
            underway.begin(self.place.spec.home, underway.DESTROY)
            return
        if not lets_in(machine, self.place.spec.home):
            self.say(
                say(
                    "{machine} does not answer: what was put on it stays there. To take it off, "
                    "provision that machine again later, then destroy.",
                    machine=machine.name,
                )
            )
            return
        underway.begin(self.place.spec.home, underway.DESTROY)
        self.take_back(machine, choices, "all")
        self.say(
            say(
                "{machine} stays, with what was there before; k3s, Kueue, the lab and the "
                "workspace are off it",
                machine=machine.name,
            )
        )

    def close(self, state: PlaceState) -> None:
        """End what runs here: forwards, recorder, and a playbook whose owner was killed."""
        end_runs(self.place.spec.home / FOLDER)
        self.running.stop(self.place.plan_of(state.ports, state.versions))

    def _collect(self, choices: Choices, system: str) -> Gathered:
        parts = self.place.spec.parts
        return collect(choices, parts, self.settings, system, self.tell, self.started)

    def _look_at(self, machine: Machine) -> preflight.Facts:
        stage = say("examining {machine}", machine=machine.name)
        self.say(stage)
        facts = preflight.ask(machine)
        self.say(stage, is_done=True)
        return facts

    def _play(self, machine: Machine, book: str, variables: Variables) -> Played:
        """Play a playbook while no other controller works on the machine."""
        limits = Limits(within=self.vm.within, idle=self.vm.idle)
        player = Player(self.place.spec.home, machine, limits)
        with held(machine, self.tell, self.started):
            self._sweep(machine)
            played = player.play(book, variables, self.tell, self.started)
            self._sweep(machine)
        return played

    def _sweep(self, machine: Machine) -> None:
        command = machine.as_root("sh", "-c", _SWEEP, machine.user, REMOTE_FOLDER)
        with contextlib.suppress(LabError):
            run(machine, command, input=None, within=SWEEP_SECONDS)

    def _tell_roles(self, played: Played) -> None:
        roles = _listed([_timed(role, seconds) for role, seconds in played.roles.items()])
        what = say("{count} tasks changed something; {roles}", count=played.changes, roles=roles)
        self.say(what if played.changes else say("nothing had to be changed; {roles}", roles=roles))

    def say(self, stage: Message, *, is_done: bool = False) -> None:
        """Tell of a stage, with the seconds since the command began."""
        self.tell(Progress(stage, time.monotonic() - self.started, is_done))


def _timed(role: str, seconds: float) -> Message:
    return say("{role} {seconds} s", role=role, seconds=f"{seconds:.0f}")


def _listed(found: Sequence[Message]) -> Message | str:
    """Messages after each other, with commas."""
    listed: Message | str = found[0] if found else ""
    for one in found[1:]:
        listed = say("{first}, {second}", first=listed, second=one)
    return listed


def versions_of(bundle: Bundle, gpus: str, parts: Sequence[str] = ()) -> Mapping[str, str]:
    """What runs, by the names that reports use."""
    held_by = {
        "fake-gpu-operator": ("fake-gpu-operator", Kind.CHART),
        "device-plugin": ("device-plugin", Kind.MANIFEST),
    }
    provider = gpus
    if gpus in held_by:
        provider = f"{gpus} {bundle.one(*held_by[gpus]).version}"
    return {
        "kubernetes": bundle.one("k3s", Kind.BINARY).version,
        "kueue": bundle.one("kueue", Kind.MANIFEST).version,
        "gpus": provider,
        **{name: bundle.one(name, Kind.MANIFEST).version for name in PARTS if name in parts},
    }
