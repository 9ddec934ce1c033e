"""A machine that QEMU makes from a cloud image: `VM=qemu`, with KVM or, slowly, without.

All of it is in `home/machine/`; only the image that its disk lies over is in the cache. It goes on
running when the command that made it ends.
"""

from __future__ import annotations

import dataclasses
import shutil
import time
from collections.abc import Callable
from pathlib import Path

import psutil

from provision.errors import TargetError
from provision.files import plain_file_errors, write_atomically
from provision.local.ports import PortHolder
from provision.message import Message, say
from provision.settings import Settings
from provision.sockets import short_socket
from provision.target import Progress, Tell
from provision.vm.machine import FOLDER, Machine, hang_up, load_machine, save_machine, ssh_config
from provision.vm.machines.qemu.choosing import Choice, choose_accelerator
from provision.vm.machines.qemu.command import Files, Hardware, machine_command
from provision.vm.machines.qemu.greeting import await_first_boot, await_login, boot_seconds
from provision.vm.machines.qemu.image import get_image, require_source
from provision.vm.machines.qemu.making import (
    grow_disk,
    hostname_of,
    lay_out,
    require_image,
    require_whole,
)
from provision.vm.machines.qemu.process import end, find_process, power_off, start
from provision.vm.machines.qemu.room import require_room
from provision.vm.machines.qemu.source import wanted_source
from provision.vm.machines.qemu.state import QemuState, damaged, load_state, save_state
from provision.vm.machines.qemu.tools import Tools, find_tools
from provision.vm.machines.qemu.waking import wake
from provision.vm.settings import VmSettings

NAME = "qemu"
SSH = "ssh"
Stage = Callable[..., None]


class QemuMaker:
    """Implements `provision.vm.machine.MachineMaker`."""

    is_given = False

    def __init__(self, home: Path, vm: VmSettings, settings: Settings) -> None:
        self._home, self._vm, self._settings = home, vm, settings
        self._files = Files(home / FOLDER)
        self.remarks: tuple[Message, ...] = ()

    def check(self) -> None:
        """Refuse what this controller cannot do: QEMU, KVM, memory, room or the image may lack."""
        if self.is_on():
            return
        self._choose(find_tools(self._settings.search_path))
        folder = next(p for p in (self._files.folder, *self._files.folder.parents) if p.is_dir())
        require_room(self._vm.qemu, folder, is_new=not self._files.disk.exists())
        require_source(wanted_source(self._vm.qemu, Path.cwd()), self._settings.cache)

    def ensure(self, tell: Tell) -> Machine:
        """The machine, made and powered on if need be. `remarks` then says what people should know.

        Broken off anywhere, the next call goes on: the disk comes last, and a machine that runs
        already is only waited for.
        """
        started = time.monotonic()

        def stage(text: Message, *, is_done: bool = False) -> None:
            tell(Progress(text, time.monotonic() - started, is_done=is_done))

        self.remarks = ()
        with plain_file_errors():
            self._files.folder.mkdir(parents=True, exist_ok=True, mode=0o700)
            state = self._state()
            process = self._awake(stage)
            if process is None:
                tools = find_tools(self._settings.search_path)
                choice = self._choose(tools)
                self._remark(choice.remark, stage)
                state = self._ready_to_start(state, tools, stage)
                stage(say("powering the machine on"))
                state, process = self._powered_on(state, tools, choice.accelerator)
            elif state is None:
                raise damaged(self._files.disk)
            self._compare(state, stage)
            machine = self._greeted(state, process, stage)
        stage(say("the machine {name} is there", name=machine.name), is_done=True)
        return machine

    def find(self) -> Machine | None:
        """The machine as it was last had."""
        found = load_machine(self._home)
        return found[1] if found is not None and found[0] == NAME else None

    def is_on(self) -> bool:
        """Whether QEMU runs; whether the machine answers is not asked."""
        return find_process(self._files.pid) is not None

    def stop(self, tell: Tell) -> None:
        """Power it off as by its button; a machine that does not obey in time is switched off."""
        started = time.monotonic()
        self._hang_up()
        if (process := find_process(self._files.pid)) is None:
            return
        tell(Progress(say("powering the machine off"), 0.0))
        obeyed = power_off(process, self._monitor())
        text = (
            say("the machine is off")
            if obeyed
            else say("the machine did not go off by itself and was switched off")
        )
        tell(Progress(text, time.monotonic() - started, is_done=True))

    def destroy(self, tell: Tell) -> None:
        """End QEMU, which takes the forward along, and remove disk, seed, keys and all files."""
        self._hang_up()
        if (process := find_process(self._files.pid)) is not None:
            tell(Progress(say("removing the machine"), 0.0))
            end(process)
        with plain_file_errors():
            if self._files.folder.exists():
                self._monitor().unlink(missing_ok=True)
                shutil.rmtree(self._files.folder)

    def _choose(self, tools: Tools) -> Choice:
        was_named = bool(self._vm.maker) or self._files.disk.exists()
        return choose_accelerator(
            self._vm.qemu.accelerator, tools, self._settings.cache, was_named=was_named
        )

    def _state(self) -> QemuState | None:
        """The state of a machine that was laid out; None when there is none yet."""
        if not self._files.disk.exists():
            return None
        state = load_state(self._files.folder)
        if state is None:
            raise damaged(self._files.folder)
        require_whole(self._files)
        return state

    def _ready_to_start(self, state: QemuState | None, tools: Tools, stage: Stage) -> QemuState:
        """A machine that is off and only needs to be powered on."""
        vm, files, settings = self._vm, self._files, self._settings
        require_room(vm.qemu, files.folder, is_new=state is None)
        source = wanted_source(vm.qemu, Path.cwd())
        if state is None:
            stage(say("making the machine's disk"))
            image = get_image(source, tools, settings.cache, settings.environ)
            return lay_out(files, image, size=vm.qemu.disk, tools=tools)
        require_image(state, source, tools, settings.cache, settings.environ)
        if not grow_disk(files, vm.qemu.disk, tools):
            self._remark(say("The machine's disk is larger than VM_DISK, and stays so."), stage)
        return state

    def _powered_on(
        self, state: QemuState, tools: Tools, accelerator: str
    ) -> tuple[QemuState, psutil.Process]:
        """Start QEMU on a port that is free; the kept one if it is."""
        self._hang_up()
        wanted = self._vm.qemu
        kept = {SSH: state.port} if state.port else {}
        with PortHolder(*self._settings.ports) as holder:
            port = holder.choose([SSH], kept, seed=str(self._home))[SSH]
            state = dataclasses.replace(
                state, port=port, accelerator=accelerator, cpus=wanted.cpus, memory=wanted.memory
            )
            save_state(self._files.folder, state)
            hardware = Hardware(
                name=f"gpu-queue-lab {hostname_of(self._home.name)}",
                cpus=wanted.cpus,
                memory=wanted.memory,
                port=port,
                monitor=self._monitor(),
                accelerator=accelerator,
            )
            save_machine(self._home, NAME, self._machine(state))
            start(machine_command(tools, hardware, self._files), self._files.pid)
        process = find_process(self._files.pid)
        if process is None:
            raise TargetError(say("The machine went off as soon as it was powered on."))
        return state, process

    def _greeted(self, state: QemuState, process: psutil.Process, stage: Stage) -> Machine:
        """The machine as soon as it lets us in and its first boot is done."""
        machine = self._machine(state)
        within = boot_seconds(state.accelerator)
        stage(say("waiting until the machine lets us in"))
        await_login(machine, process, self._files.console, within=within)
        if not state.was_up:
            stage(say("waiting until its first boot is done"))
            self._remark(await_first_boot(machine, within=within), stage)
            save_state(self._files.folder, dataclasses.replace(state, was_up=True))
        save_machine(self._home, NAME, machine)  # what is damaged is written anew
        return machine

    def _machine(self, state: QemuState) -> Machine:
        machine = Machine(
            name=f"{hostname_of(self._home.name)} (QEMU)",
            address="127.0.0.1",
            port=state.port,
            user="root",
            ssh_config=self._files.ssh_config,
        )
        text = ssh_config(
            home=self._home,
            address=machine.address,
            port=machine.port,
            user=machine.user,
            known_hosts=self._files.known_hosts,
            runtime=self._settings.runtime,
            key=self._files.key,
        )
        write_atomically(self._files.ssh_config, text)
        return machine

    def _awake(self, stage: Stage) -> psutil.Process | None:
        """QEMU's process, its machine at work; None when it is off."""
        if (process := find_process(self._files.pid)) is not None:
            self._remark(wake(process, self._monitor(), self._files.folder), stage)
        return find_process(self._files.pid)

    def _compare(self, state: QemuState, stage: Stage) -> None:
        """Say so when the machine that runs has other sizes than those that are set."""
        wanted = self._vm.qemu
        if (state.cpus, state.memory) != (wanted.cpus, wanted.memory):
            moves = say("The machine gets its new sizes by make down, then make provision.")
            self._remark(moves, stage)

    def _remark(self, remark: Message | None, stage: Stage) -> None:
        if remark is not None:
            self.remarks += (remark,)
            stage(remark)

    def _monitor(self) -> Path:
        return short_socket(self._files.monitor, self._settings.runtime)

    def _hang_up(self) -> None:
        if self._files.ssh_config.is_file() and (machine := self.find()) is not None:
            hang_up(machine)
