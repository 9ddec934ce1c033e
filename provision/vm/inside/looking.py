"""How the machine fares, seen from inside: its services, its node, Kueue; changes nothing."""

from __future__ import annotations

import shutil
from collections.abc import Callable, Iterator, Mapping
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

from provision.errors import TargetError
from provision.health import Diagnosis, bad, good
from provision.local.api import make_pool, why_not_ready
from provision.local.examining import examine_components
from provision.local.plan import Probe
from provision.message import Message, say
from provision.state import PlaceState
from provision.target import Companion, ComponentStatus
from provision.vm.inside.facts import (
    GPU,
    K3S_UNIT,
    PLATFORM,
    PLATFORM_UNIT,
    PORTS,
    UNITS,
    InsideFacts,
    deployments_of,
)
from provision.vm.inside.units import Systemd
from provision.vm.kubectl import Kubectl

ROOM_BYTES = 1 << 30
DISK = Path("/var/lib")


@dataclass(frozen=True, slots=True)
class Look:
    """One look at all components of the machine, asked side by side."""

    facts: InsideFacts
    companions: tuple[Companion, ...]
    logs: Path
    kubectl: Kubectl
    systemd: Systemd
    parts: tuple[str, ...] = ()

    def components(self) -> tuple[ComponentStatus, ...]:
        """Running and ready of each."""
        asked: list[Callable[[], ComponentStatus]] = [self._k3s, self._node]
        deployed = deployments_of(self.parts)
        asked += [partial(self._deployment, name, *deployed[name]) for name in deployed]
        if PLATFORM in self.parts:
            asked.append(self._platform)
        asked += [partial(self._companion, one) for one in self.companions]
        with ThreadPoolExecutor(len(asked)) as pool:
            return tuple(future.result() for future in [pool.submit(one) for one in asked])

    def _k3s(self) -> ComponentStatus:
        unit = self.systemd.show(K3S_UNIT)
        detail = say("systemd says {state}", state=unit.state) if not unit.is_active else None
        if detail is None:
            detail = self._reason(lambda: self.kubectl.text("get", "--raw=/readyz"))
        return self._status("k3s", unit.is_active, detail, pid=unit.pid)

    def _node(self) -> ComponentStatus:
        found: dict[str, Any] = {}
        detail = self._reason(
            lambda: found.update(self.kubectl.json("get", "node", self.facts.node))
        )
        if detail is None:
            detail = node_trouble(found, self.facts.gpus)
        return self._status("node", bool(found), detail, version="kubernetes")

    def _deployment(self, name: str, namespace: str, deployment: str) -> ComponentStatus:
        found: dict[str, Any] = {}
        where = (f"--namespace={namespace}", "get", "deployment", deployment)
        detail = self._reason(lambda: found.update(self.kubectl.json(*where)))
        status = found.get("status") or {}
        if detail is None and not status.get("availableReplicas"):
            detail = say(
                "the Deployment {name} has {count} of {wanted} pods available",
                name=deployment,
                count=0,
                wanted=(found.get("spec") or {}).get("replicas", "?"),
            )
        return self._status(name, bool(status.get("replicas")), detail)

    def _platform(self) -> ComponentStatus:
        unit = self.systemd.show(PLATFORM_UNIT)
        detail: Message | None = say("systemd says {state}", state=unit.state)
        if unit.is_active:
            detail = _answer(PORTS[PLATFORM], "/readyz")
        return self._status(PLATFORM, unit.is_active, detail, pid=unit.pid)

    def _companion(self, companion: Companion) -> ComponentStatus:
        unit = self.systemd.show(UNITS[companion.name])
        detail: Message | None = say("systemd says {state}", state=unit.state)
        if unit.is_active:
            detail = answers(companion)
        return ComponentStatus(
            name=companion.name,
            is_running=unit.is_active,
            is_ready=unit.is_active and detail is None,
            detail=detail,
            pid=unit.pid,
            version="",
            log=self.logs / f"{companion.name}.log",
            is_needed=False,
        )

    def _status(
        self,
        name: str,
        is_running: bool,
        detail: Message | None,
        *,
        pid: int | None = None,
        version: str = "",
    ) -> ComponentStatus:
        return ComponentStatus(
            name=name,
            is_running=is_running,
            is_ready=is_running and detail is None,
            detail=detail,
            pid=pid,
            version=self.facts.versions.get(version or name, ""),
            log=self.logs / f"{name}.log",
        )

    @staticmethod
    def _reason(ask: Callable[[], object]) -> Message | None:
        try:
            ask()
        except TargetError as error:
            return error.what
        return None


def answers(companion: Companion) -> Message | None:
    """None when a companion's own probe answers well, else what is wrong."""
    return _answer(PORTS[companion.name], companion.ready_path)


def _answer(port: int, path: str) -> Message | None:
    probe = Probe(f"http://127.0.0.1:{port}{path}")
    with make_pool(probe) as pool:
        return why_not_ready(pool, probe)


def node_trouble(node: Mapping[str, Any], gpus: int) -> Message | None:
    """What keeps pods with GPUs off a node, from the API's JSON; None for nothing."""
    conditions = (node.get("status") or {}).get("conditions") or []
    ready: Mapping[str, Any] = next((c for c in conditions if c.get("type") == "Ready"), {})
    if ready.get("status") != "True":
        return say("the node is not Ready: {reason}", reason=ready.get("message") or "-")
    offered = ((node.get("status") or {}).get("allocatable") or {}).get(GPU, "0")
    if not str(offered).isdigit() or int(offered) < gpus:
        return say("the node offers {count} of {wanted} GPUs", count=offered, wanted=gpus)
    return None


def examine(
    facts: InsideFacts, state: PlaceState, components: tuple[ComponentStatus, ...]
) -> Iterator[Diagnosis]:
    """Findings for `lab doctor`."""
    free = shutil.disk_usage(DISK).free
    what = say("{free} GB of disk are free in {path}", free=f"{free / 1e9:.1f}", path=DISK)
    if free < ROOM_BYTES:
        yield bad("disk", what, say("free some space: the kubelet ends pods when the disk is full"))
    else:
        yield good("disk", what)
    yield _kubeconfig(facts)
    yield from examine_components(state, components)


def _kubeconfig(facts: InsideFacts) -> Diagnosis:
    try:
        mode = facts.kubeconfig.stat().st_mode & 0o777
    except OSError as error:
        what = say("{path} cannot be read: {reason}", path=facts.kubeconfig, reason=error.strerror)
        return bad("kubeconfig", what, say("k3s writes it when it starts: systemctl restart k3s"))
    if mode & 0o077:
        what = say("{path} can be read by others", path=facts.kubeconfig)
        return bad("kubeconfig", what, say("chmod 600 {path}", path=facts.kubeconfig))
    return good("kubeconfig", say("your kubeconfig is {path}", path=facts.kubeconfig))


def not_ready(components: tuple[ComponentStatus, ...]) -> Message | None:
    """What the cluster needs and is not ready, with its reason; None when all is."""
    for component in components:
        if component.is_needed and not component.is_ready:
            reason = component.detail or say("it does not run")
            return say("{name}: {reason}", name=component.name, reason=reason)
    return None
