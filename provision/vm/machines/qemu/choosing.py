"""With KVM or without: what was set, what this controller can do, and what people hear of it."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from provision.errors import TargetError
from provision.message import Message, say
from provision.vm.machines.qemu.command import KVM, TCG
from provision.vm.machines.qemu.probe import ask_kvm
from provision.vm.machines.qemu.tools import Tools, given_instead

SLOWER = say("It is emulated: everything in it takes five to twenty times as long.")


@dataclass(frozen=True, slots=True)
class Choice:
    """How the machine's processor is run; `remark` is what people should know of it."""

    accelerator: str
    remark: Message | None = None


def choose_accelerator(wanted: str, tools: Tools, cache: Path, *, was_named: bool) -> Choice:
    """KVM where it has run a guest. Without it, emulation when QEMU was asked for by name.

    `wanted` is auto, kvm or tcg. Raises TargetError when KVM was asked for and runs no guest, and
    when nothing was asked for: nobody should wait for an hour without having chosen to.
    """
    if wanted == TCG:
        return Choice(TCG, SLOWER)
    found = ask_kvm(tools, cache, afresh=wanted == KVM)
    if found.reason is None:
        return Choice(KVM)
    if wanted == KVM or not was_named:
        raise _no_kvm(found.reason, is_wanted=wanted == KVM)
    return Choice(
        TCG,
        say("KVM runs no machine here: {reason}. {slower}", reason=found.reason, slower=SLOWER),
    )


def _no_kvm(reason: Message, *, is_wanted: bool) -> TargetError:
    emulated = (
        say("make provision TARGET=vm VM=qemu VM_ACCELERATOR=tcg emulates it, slowly.")
        if is_wanted
        else say("make provision TARGET=vm VM=qemu emulates it, slowly.")
    )
    return TargetError(
        say("KVM runs no machine here: {reason}.", reason=reason),
        next_move=say(
            "Let this user open /dev/kvm (group kvm), switch virtualization on in the firmware or "
            "the hypervisor, then VM_ACCELERATOR=kvm asks again. {emulated} {given}",
            emulated=emulated,
            given=given_instead(),
        ),
    )
