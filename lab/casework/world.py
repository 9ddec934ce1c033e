"""The cluster of the kit: brought to where a learner stands, and cleaned after each case.

A level is what is there after the base answers of the steps up to that number. Going to a level
takes away what is too much and adds what is missing; when something of it was changed, it goes
back to the highest level that is still whole.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path

import yaml

from lab.casework.api import AT_ONCE, BACKGROUND, LISTS, Api, Object
from lab.casework.settling import WATCHED, State, condition, is_true, owed, owned, read
from provision.errors import LabError
from provision.message import Message, say
from provision.waiting import wait_until

Key = tuple[str, str, str]
Prints = Mapping[Key, str]

# What the base answer of a step puts on the cluster, in bursts that must follow one another.
BURSTS: Mapping[int, tuple[tuple[str, ...], ...]] = {
    1: (("flavor.yaml",),),
    2: (("cq.yaml",),),
    3: (("lq.yaml",),),
    4: (("job-1.yaml",),),
    5: (("job-2.yaml",), ("job-3.yaml",)),
    6: (("sneaky.yaml",),),
}
WAITING = "train-3"  # the one Job of the base answers that must not be admitted
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
STUBBORN = 3.0  # seconds until an object that waits for its finalizers is set free


def level_of(step: int) -> int:
    """The level after the answer to a step: steps 7 and 8 put nothing on the cluster."""
    return min(step, max(BURSTS))


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
    base: Path
    levels: dict[int, Prints] = field(default_factory=dict)

    def __post_init__(self) -> None:
        if not self.levels:
            self.levels[0] = self._prints()

    def _prints(self) -> Prints:
        state = read(self.api, tuple(LISTS))
        return {_key(thing): fingerprint(thing) for kind in state for thing in state[kind]}

    def reach(self, step: int) -> None:
        """Bring the cluster to where it is after the answer to that step, from wherever it is.

        Raises Spoilt when what was there from the beginning is gone or changed.
        """
        level = level_of(step)
        now = self._prints()
        start = self._whole(level, now)
        if not set(now) <= set(self.levels[start]):
            self._strip(self.levels[start])
            now = self._prints()
        if not self.levels[start].items() <= now.items():
            raise Spoilt(say("the place is not what it was before the first case"))
        if start < level:
            self._climb(range(start + 1, level + 1))

    def _whole(self, level: int, now: Prints) -> int:
        """The highest level up to `level` all of whose objects are there and unchanged."""
        for candidate in range(level, 0, -1):
            known = self.levels.get(candidate)
            if known is not None and known.items() <= now.items():
                return candidate
        return 0

    def _strip(self, known: Prints) -> None:
        """Take away whatever does not belong there, what runs first, and see it gone."""
        for kinds in PHASES:
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

    def _climb(self, steps: range) -> None:
        """Play the base answers of some steps, in as few commands as their order allows."""
        bursts: list[list[str]] = [[]]
        for step in steps:
            first, *rest = BURSTS[step]
            bursts[-1].extend(first)
            bursts.extend(list(burst) for burst in rest)
        for burst in bursts:
            self.play("kubectl apply " + " ".join(f"-f {name}" for name in burst), self.base)
            wait_until(partial(self._unmet, burst), within=30, every=0.05)
        now = self._prints()
        for level in steps:
            later = {name for step in BURSTS if step > level for name in self._subjects(step)}
            self.levels[level] = {k: v for k, v in now.items() if not _is_of(k, later)}

    def _subjects(self, step: int) -> set[str]:
        """Names of what the base answer of a step makes."""
        files = (self.base / name for burst in BURSTS[step] for name in burst)
        return {yaml.safe_load(path.read_bytes())["metadata"]["name"] for path in files}

    def _unmet(self, burst: Iterable[str]) -> Message | None:
        """What the objects of some base files still lack: running, waiting or active."""
        state = read(self.api, WATCHED)
        for name in burst:
            want = yaml.safe_load((self.base / name).read_bytes())
            if (reason := _unmet_by(want["kind"], want["metadata"]["name"], state)) is not None:
                return reason
        return owed(state)


def _unmet_by(kind: str, name: str, state: State) -> Message | None:
    found = [thing for thing in state.get(kind, ()) if thing["metadata"]["name"] == name]
    if kind == "ResourceFlavor":
        return None
    if not found:
        return say("{kind} {name} is not there", kind=kind, name=name)
    if kind != "Job":
        is_met = is_true(found[0], "Active")
    elif name == WAITING:
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
