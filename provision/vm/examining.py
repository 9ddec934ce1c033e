"""How a place of the vm target fares, for `lab doctor`; nothing is changed, here or there."""

from __future__ import annotations

import time
from collections.abc import Iterator
from dataclasses import replace

from provision.errors import LabError
from provision.health import Diagnosis, bad, good, skipped
from provision.local.examining import examine_components, examine_ports
from provision.message import say
from provision.state import PlaceState
from provision.target import ComponentStatus
from provision.vm import preflight
from provision.vm.machine import Machine
from provision.vm.place import VmPlace
from provision.vm.underway import broken_off

UP = say("make provision brings it up")


def examine(
    place: VmPlace,
    state: PlaceState | None,
    machine: Machine | None,
    components: tuple[ComponentStatus, ...],
    pids: set[int],
) -> Iterator[Diagnosis]:
    """Everything that can be told; `state` is None when the place was never provisioned."""
    if state is None or machine is None:
        yield bad("place", say("the place was not provisioned yet"), UP)
        return
    yield from _examine_machine(machine)
    yield from _examine_kubeconfigs(place)
    if state.ports:
        yield from examine_ports(state.ports, pids)
    remark = broken_off(place.spec.home)
    if remark is not None:
        yield bad("place", say("work on the place was not done to its end"), remark)
    for finding in examine_components(state, components):
        if remark is None:
            yield finding
        elif finding.name != "place":
            yield _without_logs(finding)


def _without_logs(finding: Diagnosis) -> Diagnosis:
    """Of what was never put there, or is taken off, no log says why it does not run."""
    return finding if finding.next_move is None else replace(finding, next_move=UP)


def _examine_machine(machine: Machine) -> Iterator[Diagnosis]:
    began = time.monotonic()
    try:
        facts = preflight.ask(machine)
    except LabError as error:
        yield bad("machine", error.what, error.next_move or UP)
        yield skipped("machine.room", say("not looked at, since the machine cannot be asked"))
        return
    seconds = time.monotonic() - began
    what = say("{machine} answers: {os}", machine=machine.name, os=facts.os)
    yield good("machine", what, seconds=seconds)
    if facts.k3s == "foreign":
        what = say("the k3s on it is not of this lab")
        yield bad("machine.k3s", what, say("use another machine"))
    if facts.disk < preflight.DISK_AGAIN_MIB:
        yield bad(
            "machine.room",
            say("{free} MiB are free in its /var/lib", free=facts.disk),
            say("free some space there: the kubelet ends pods when the disk is full"),
        )
    else:
        yield good("machine.room", say("{free} MiB are free in its /var/lib", free=facts.disk))
    if abs(facts.clock_off) > preflight.CLOCK_SECONDS:
        yield bad(
            "machine.clock",
            say("its clock is {seconds} s off from this machine's", seconds=f"{facts.clock_off:+}"),
            say("set both by a time server: timedatectl set-ntp true"),
        )
    else:
        yield good("machine.clock", say("its clock and this machine's agree"))


def _examine_kubeconfigs(place: VmPlace) -> Iterator[Diagnosis]:
    for name, path in (("learner", place.kubeconfig), ("grader", place.grader_kubeconfig)):
        if path.is_file():
            yield good(f"kubeconfig.{name}", say("the kubeconfig {path} is there", path=path))
        else:
            what = say("the kubeconfig {path} is missing", path=path)
            yield bad(f"kubeconfig.{name}", what, say("make provision writes it anew"))
