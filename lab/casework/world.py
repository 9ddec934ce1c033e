"""The cluster of the kit: brought to where a learner stands, and cleaned after each case.

A level is what is there after the base answers of a chain of steps (`playbook.Playbook.chain`).
Going to a level takes away what is too much and adds what is missing; when something of it was
changed, it goes back to the longest part of the chain that is still whole.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Collection, Iterable, Mapping
from contextlib import suppress
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path

import yaml

from lab.casework.api import AT_ONCE, BACKGROUND, Api, Object
from lab.casework.playbook import Chain, Playbook
from lab.casework.settling import (
    WATCHED,
    State,
    condition,
    is_true,
    owed,
    owned,
    read,
    settle,
)
from provision.errors import LabError, TimedOut
from provision.message import Message, say
from provision.waiting import wait_until

Key = tuple[str, str, str]
Prints = Mapping[Key, str]

PHASES = (
    ("CronJob", "Job", "Deployment", "StatefulSet", "DaemonSet", "ReplicaSet"),
    ("Pod", "Workload", "LimitRange", "ResourceQuota"),
    ("LocalQueue",),
    ("ClusterQueue",),
    ("Cohort", "AdmissionCheck", "ResourceFlavor", "Topology", "WorkloadPriorityClass"),
    ("PriorityClass", "RuntimeClass", "Namespace", "Node"),
)
# Kinds whose objects have no generation: what they say is looked at instead.
WHOLE = {
    "Node": ("spec",),
    "Namespace": ("spec",),
    "LimitRange": ("spec",),
    "ResourceQuota": ("spec",),
    "PriorityClass": ("value", "globalDefault"),
    "RuntimeClass": ("handler", "overhead", "scheduling"),
}
NOT_READY = "node.kubernetes.io/not-ready"
READY = 30.0  # seconds for a node that has just come
STUBBORN = 3.0  # seconds until an object that waits for its finalizers is set free


def _key(thing: Object) -> Key:
    meta = thing["metadata"]
    return (thing["kind"], meta.get("namespace", ""), meta["name"])


def fingerprint(thing: Object) -> str:
    """What must be the same for an object to be still the one of a level.

    Its uid, generation and labels; where status is what counts, that, too.
    """
    meta = thing["metadata"]
    truths = {
        "Workload": ("QuotaReserved", "Admitted", "Finished"),
        "Pod": ("Ready",),
        "Job": ("Complete", "Failed"),
    }.get(thing["kind"], ())
    return repr(
        (
            meta["uid"],
            meta.get("generation"),
            meta.get("deletionTimestamp"),
            sorted((meta.get("labels") or {}).items()),
            [is_true(thing, kind) for kind in truths],
            [thing.get(part) for part in WHOLE.get(thing["kind"], ())],
            sorted(thing.get("status", {}).get("allocatable", {}).items()),
        )
    )


class Spoilt(LabError):
    """A case has changed something that taking its own things away does not put right."""


@dataclass
class World:
    """One place's cluster; `play` runs a shell command as the learner would, in the folder given.

    What is there when it is made counts as level 0 and is never taken away, unless `levels` says
    what was there before.
    """

    api: Api
    play: Callable[[str, Path], object]
    book: Playbook
    levels: dict[Chain, Prints] = field(default_factory=dict)

    def __post_init__(self) -> None:
        if not self.levels:
            with suppress(TimedOut):
                wait_until(self._not_ready, within=READY)
            self.levels[()] = self._prints()

    def _not_ready(self) -> Message | None:
        """A node that has just come; the control plane takes its taint off by itself."""
        for node in self.api.items("Node"):
            if any(taint["key"] == NOT_READY for taint in node["spec"].get("taints", ())):
                return say("{node} is not ready", node=node["metadata"]["name"])
        return None

    def _prints(self) -> Prints:
        state = read(self.api, tuple(self.api.lists))
        return {_key(thing): fingerprint(thing) for kind in state for thing in state[kind]}

    def reach(self, chain: Chain) -> None:
        """Bring the cluster to where it is after the answers of a chain, from wherever it is.

        Raises Spoilt when what was there from the beginning is gone or changed.
        """
        now = self._prints()
        start = self._whole(chain, now)
        if not set(now) <= set(self.levels[start]):
            self._strip(self.levels[start])
            now = self._prints()
        if not self.levels[start].items() <= now.items():
            raise Spoilt(say("the place is not what it was before the first case"))
        if start != chain:
            self._climb(chain, len(start))

    def _whole(self, chain: Chain, now: Prints) -> Chain:
        """The longest beginning of the chain all of whose objects are there and unchanged."""
        for length in range(len(chain), 0, -1):
            known = self.levels.get(chain[:length])
            if known is not None and known.items() <= now.items():
                return chain[:length]
        return ()

    def _strip(self, known: Prints) -> None:
        """Take away whatever does not belong there, what runs first, and see it gone."""
        for kinds in (tuple(self.book.kinds), *PHASES):
            missing = partial(self._left, kinds, known, set(), time.monotonic())
            wait_until(missing, within=30, every=0.05)

    def _left(
        self, kinds: Iterable[str], known: Prints, asked: set[str], began: float
    ) -> Message | None:
        """Ask all that does not belong there to go; what has not gone yet."""
        things = [thing for kind in kinds for thing in self.api.items(kind)]
        extra = [thing for thing in things if _key(thing) not in known]
        for thing in extra:
            self._take(thing, asked, is_late=time.monotonic() - began > STUBBORN)
        names = ", ".join(thing["metadata"]["name"] for thing in extra)
        return say("still there: {names}", names=names) if extra else None

    def _take(self, thing: Object, asked: set[str], *, is_late: bool) -> None:
        uid = thing["metadata"]["uid"]
        if uid not in asked:
            asked.add(uid)
            self.api.delete(thing, AT_ONCE if thing["kind"] == "Pod" else BACKGROUND)
        elif is_late and thing["kind"] == "Workload":
            self.api.free(thing)

    def _climb(self, chain: Chain, start: int) -> None:
        """Play the base answers of a chain from a place in it on, in as few commands as may be."""
        bursts: list[list[str]] = [[]]
        for length in range(start + 1, len(chain) + 1):
            act = self.book.acts[chain[length - 1]]
            if act.build:
                self._apply(bursts, chain, start, length - 1)
                self.play(act.build, self.book.base)
                settle(self.api)
                self.levels[chain[:length]] = self._prints()
                bursts, start = [[]], length
                continue
            first, *rest = act.bursts
            bursts[-1].extend(first)
            bursts.extend(list(burst) for burst in rest)
        self._apply(bursts, chain, start, len(chain))

    def _apply(self, bursts: list[list[str]], chain: Chain, start: int, end: int) -> None:
        """Apply the files of a part of a chain, and note each of its levels."""
        if start == end:
            return
        for burst in bursts:
            names = " ".join(f"-f {name}" for name in burst)
            self.play(f"kubectl apply {names}", self.book.base)
            wait_until(partial(self._unmet, burst), within=30, every=0.05)
        now = self._prints()
        for length in range(start + 1, end + 1):
            later = {name for step in chain[length:end] for name in self._subjects(step)}
            self.levels[chain[:length]] = {k: v for k, v in now.items() if not _is_of(k, later)}

    def _subjects(self, step: str) -> set[str]:
        """Names of what the base answer of a step makes."""
        files = (self.book.base / name for burst in self.book.acts[step].bursts for name in burst)
        return {yaml.safe_load(path.read_bytes())["metadata"]["name"] for path in files}

    def _unmet(self, burst: Iterable[str]) -> Message | None:
        """What the objects of some base files still lack: running, waiting or active."""
        state = read(self.api, WATCHED)
        for name in burst:
            want = yaml.safe_load((self.book.base / name).read_bytes())
            about = (want["kind"], want["metadata"]["name"])
            if (reason := _unmet_by(*about, state, self.book.waiting)) is not None:
                return reason
        return owed(state)


def _unmet_by(kind: str, name: str, state: State, waiting: Collection[str]) -> Message | None:
    found = [thing for thing in state.get(kind, ()) if thing["metadata"]["name"] == name]
    if kind == "ResourceFlavor":
        return None
    if not found:
        return say("{kind} {name} is not there", kind=kind, name=name)
    if kind != "Job":
        is_met = is_true(found[0], "Active")
    elif name in waiting:
        reserved = [
            condition(workload, "QuotaReserved") for workload in owned(state["Workload"], found[0])
        ]
        is_met = any(one is not None and one["reason"] == "WaitingForQuota" for one in reserved)
    else:
        is_met = found[0].get("status", {}).get("ready") == 1
    return None if is_met else say("{kind} {name} is not where it should be", kind=kind, name=name)


def _is_of(key: Key, names: set[str]) -> bool:
    """Whether an object is one of those named, or a Job's pod or Workload among them."""
    kind, _, name = key
    if kind == "Pod":
        name = name.rsplit("-", 1)[0]
    if kind == "Workload":
        name = name.removeprefix("job-").rsplit("-", 1)[0]
    return kind not in ("Namespace", "LimitRange") and name in names
