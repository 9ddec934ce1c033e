"""What a target is asked for and what it tells: plain frozen data and one interface."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any, Protocol

from provision.health import Diagnosis
from provision.message import Message

if TYPE_CHECKING:
    from provision.vm.machine import Machine


@dataclass(frozen=True, slots=True)
class NodeSpec:
    """One node the lab wants: `cpu` and `memory` are Kubernetes quantities, `gpus` a count."""

    name: str
    cpu: str
    memory: str
    gpus: int
    gpu_product: str


@dataclass(frozen=True, slots=True)
class Companion:
    """A Python program of the lab's own that runs beside the cluster and is kept up like it.

    `module` is run as `python -m`; `args` are templates such as `$home` and `$port_<name>`, the
    loopback port where it answers 200 on `ready_path` when it is ready. `needs` are the components
    that must be ready first. Nothing of the cluster needs a companion: a place without it is ready.
    One that `is_on_demand` is started by `Target.start` only, and kept up from then on.
    """

    name: str
    module: str
    args: tuple[str, ...] = ()
    needs: tuple[str, ...] = ()
    ready_path: str = "/readyz"
    is_on_demand: bool = False


@dataclass(frozen=True, slots=True)
class PlaceSpec:
    """All that a target must know of a lab and of where its place is.

    `home` is `$LAB_HOME/<lab>`: etcd data, keys, kubeconfigs and logs live below it.
    `workspace` is the learner's folder; a target makes it when absent and never empties it.
    `parts` are named sets of components beyond the base ones, `companions` programs beside them.
    `kueue` is merged into Kueue's Configuration, where `frameworks` adds kinds of jobs to those of
    the parts. `objects` lie in the cluster from the start: manifests, applied when all is ready.
    """

    lab: str
    home: Path
    workspace: Path
    namespaces: tuple[str, ...]
    nodes: tuple[NodeSpec, ...]
    parts: tuple[str, ...] = ()
    companions: tuple[Companion, ...] = ()
    kueue: Mapping[str, object] = field(default_factory=dict)
    frameworks: tuple[str, ...] = ()
    objects: tuple[Mapping[str, Any], ...] = ()


@dataclass(frozen=True, slots=True)
class TargetInfo:
    """What a check may know of the place where the lab runs.

    `kubeconfig` is the learner's; `grader_kubeconfig` is an account that can only get, list and
    watch; `host` is a testinfra host spec such as `local://`; `versions` maps a part's name
    ("kubernetes", "kueue", "kwok", "etcd") to its version; `note` says in what the target differs
    from what the lab was written for (empty when it does not).
    """

    name: str
    lab: str
    kubeconfig: Path
    grader_kubeconfig: Path
    workspace: Path
    host: str
    versions: Mapping[str, str]
    note: Message | None = None


@dataclass(frozen=True, slots=True)
class ComponentStatus:
    """One component. Running (a process exists) and ready (its probe answers) are two facts.

    `is_needed` is False for a companion: without it the cluster is the same. One that is on demand
    and does not run is off, which is nothing wrong: its `detail` is None then.
    """

    name: str
    is_running: bool
    is_ready: bool
    detail: Message | None
    pid: int | None
    version: str
    log: Path
    is_needed: bool = True
    is_on_demand: bool = False

    @property
    def is_off(self) -> bool:
        """It runs on demand only, and nobody has asked for it."""
        return self.is_on_demand and not self.is_running


@dataclass(frozen=True, slots=True)
class TargetStatus:
    """A whole target: whether it was ever provisioned, its components, and what it is.

    `remark` tells of work on it that is not done, with what goes on with it.
    """

    is_provisioned: bool
    components: tuple[ComponentStatus, ...]
    info: TargetInfo | None
    remark: Message | None = None

    @property
    def is_ready(self) -> bool:
        """Every component that the cluster needs is ready."""
        needed = [c for c in self.components if c.is_needed]
        return bool(needed) and all(c.is_ready for c in needed)


@dataclass(frozen=True, slots=True)
class Progress:
    """One line about work under way: `stage` is done or starting, `seconds` since the start."""

    stage: Message
    seconds: float
    is_done: bool = False


Tell = Callable[[Progress], None]


def silent(progress: Progress) -> None:
    """Nothing is told: it takes no time that anybody notices."""


@dataclass(frozen=True, slots=True)
class Provisioned:
    """What `up` did: the target, whether anything was changed, and seconds until ready."""

    info: TargetInfo
    is_changed: bool
    seconds: float
    remarks: tuple[Message, ...] = field(default=())


class Target(Protocol):
    """A kind of place where a lab runs; made by `provision.registry.open_target`.

    All methods raise `LabError` (or a child) with the next move when they cannot do their work.
    """

    @property
    def is_here(self) -> bool:
        """Workspace, shells and page are on this machine; else `machine` leads to them.

        Told without a look at the place: it never raises.
        """

    def machine(self) -> Machine | None:
        """The machine over SSH that the place lives in; None when that is this one."""

    def up(self, tell: Tell) -> Provisioned:
        """Bring the place up, building what is missing; a second call changes nothing."""

    def down(self, tell: Tell) -> None:
        """Stop every process; the cluster's data stay."""

    def reset(self, tell: Tell) -> Provisioned:
        """Bring the cluster back to its state after the first `up`; the workspace stays."""

    def destroy(self, tell: Tell) -> None:
        """Remove the place (all below `home`), except the workspace; the shared cache stays."""

    def start(self, companion: str, tell: Tell) -> int:
        """Start a companion that is on demand; the loopback port where it answers.

        One that runs already is left alone. Another port is taken when its own is used by others.
        """

    def stop(self, companion: str) -> bool:
        """End a companion that is on demand; True when it ran."""

    def is_running(self, companion: str) -> bool:
        """Whether a process of that companion exists; whether it is ready is not asked."""

    def port(self, companion: str) -> int | None:
        """The loopback port kept for a companion; None when the place was never brought up."""

    def status(self) -> TargetStatus:
        """What runs and what is ready, read afresh."""

    def examine(self) -> tuple[Diagnosis, ...]:
        """How the place fares, looked at closely; nothing is changed, neither here nor there."""

    def info(self) -> TargetInfo:
        """The target as it was provisioned, without asking it; TargetError when it never was."""

    def tools_dir(self) -> Path:
        """Folder for the front of PATH: `kubectl` and `kubectl-kueue` of the target's versions."""

    def log_path(self, component: str) -> Path:
        """The log of one component; UsageError naming the known ones for an unknown name."""
