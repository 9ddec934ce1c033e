"""Ways in which a place is broken, so that the grader has to say that it cannot tell."""

from __future__ import annotations

import os
import signal
import time
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager, suppress
from dataclasses import dataclass, replace
from pathlib import Path
from tempfile import TemporaryDirectory

import yaml

from lab.casework.api import KUEUE, LISTS, Api, Refused
from lab.casework.desk import Desk
from lab.places import Place
from provision.errors import LabError
from provision.local.supervising import Supervisor, socket_path
from provision.message import Message, say
from provision.target import TargetInfo
from provision.waiting import wait_until

STUBBORN = 5.0  # seconds until objects are freed that wait for Kueue
LONELY = "lab-gpu-nokubelet"

Breaking = Callable[[Place, Api, Desk], AbstractContextManager[Place]]


@dataclass(frozen=True, slots=True)
class Rig:
    """One way: `is_before` breaks the place before the learner acts, `is_ruin` needs a reset.

    After one that `is_restarted`, the place is brought up again.
    """

    broken: Breaking
    is_before: bool = False
    is_ruin: bool = False
    is_restarted: bool = False


class _Told:
    """A target that tells something else about itself and is the same otherwise."""

    def __init__(self, place: Place, info: TargetInfo) -> None:
        self._target = place.target
        self._info = info

    def info(self) -> TargetInfo:
        return self._info

    def __getattr__(self, name: str) -> object:
        return getattr(self._target, name)


@contextmanager
def _whole(place: Place, _api: Api, _desk: Desk) -> Iterator[Place]:
    yield place


@contextmanager
def _kubeconfig_broken(place: Place, _api: Api, _desk: Desk) -> Iterator[Place]:
    with TemporaryDirectory() as folder:
        bad = Path(folder) / "kubeconfig"
        bad.write_text("apiVersion: v1\nkind: Config\nclusters: [\n", encoding="utf-8")
        info = replace(place.target.info(), kubeconfig=bad, grader_kubeconfig=bad)
        yield replace(place, target=_Told(place, info))  # type: ignore[arg-type]


@contextmanager
def _credentials_refused(place: Place, _api: Api, _desk: Desk) -> Iterator[Place]:
    info = place.target.info()
    config = yaml.safe_load(info.grader_kubeconfig.read_text(encoding="utf-8"))
    config["users"][0]["user"] = {"token": "no-such-token"}
    with TemporaryDirectory() as folder:
        bad = Path(folder) / "kubeconfig"
        bad.write_text(yaml.safe_dump(config), encoding="utf-8")
        info = replace(info, grader_kubeconfig=bad)
        yield replace(place, target=_Told(place, info))  # type: ignore[arg-type]


def _pid(place: Place, component: str) -> int | None:
    components = place.target.status().components
    return next((one.pid for one in components if one.name == component), None)


def _paused(component: str) -> Breaking:
    """A component that is there and does nothing; a killed one would be back at once."""

    @contextmanager
    def broken(place: Place, _api: Api, _desk: Desk) -> Iterator[Place]:
        pid = _pid(place, component)
        if pid is None:
            raise LabError(say("{component} does not run", component=component))
        os.kill(pid, signal.SIGSTOP)
        try:
            yield place
        finally:
            os.kill(pid, signal.SIGCONT)

    return broken


@contextmanager
def _crds_absent(place: Place, api: Api, desk: Desk) -> Iterator[Place]:
    desk.run("kubectl get crd -o name | grep 'kueue.x-k8s.io$' | xargs kubectl delete --wait=false")

    began = time.monotonic()

    def missing() -> Message | None:
        if time.monotonic() - began > STUBBORN:
            _free_all(api)
        try:
            api.call("GET", "/apis/kueue.x-k8s.io/v1beta2")
        except Refused as error:
            return None if error.status == 404 else say("{problem}", problem=str(error))
        return say("the kinds of Kueue are still served")

    wait_until(missing, within=60, every=0.5)
    yield place


def _free_all(api: Api) -> None:
    """Take the finalizers off Kueue's objects, whose kinds wait for them to go."""
    for kind in (kind for kind, path in LISTS.items() if path.startswith(KUEUE)):
        with suppress(Refused):
            for thing in api.items(kind):
                api.free(thing)


@contextmanager
def _apiserver_stopped(place: Place, _api: Api, _desk: Desk) -> Iterator[Place]:
    """A component that is not there, and that its supervisor does not start again."""
    supervisor = Supervisor(place.home, socket_path(place.home, Path("/tmp")))
    supervisor.stop("kube-apiserver")
    pid = _pid(place, "kube-apiserver")
    if pid is not None:  # it waits long for the watches that are open
        with suppress(ProcessLookupError):
            os.kill(pid, signal.SIGKILL)
    yield place


@contextmanager
def _no_kubelet(place: Place, api: Api, desk: Desk) -> Iterator[Place]:
    """All new pods land on a node that nobody looks after, so that nothing moves them on."""
    node = next(thing for thing in api.items("Node"))
    name = node["metadata"]["name"]
    labels = {**node["metadata"]["labels"], "kubernetes.io/hostname": LONELY}
    room = {key: node["status"][key] for key in ("allocatable", "capacity")}
    ready = {"type": "Ready", "status": "True", "reason": "KubeletReady", "message": ""}
    api.call(
        "POST",
        "/api/v1/nodes",
        {
            "metadata": {"name": LONELY, "labels": labels},
            "status": {**room, "conditions": [ready]},
        },
    )
    desk.run(f"kubectl cordon {name}")

    def tainted() -> Message | None:
        lonely = api.call("GET", f"/api/v1/nodes/{LONELY}")
        return say("{node} is still tainted", node=LONELY) if lonely["spec"].get("taints") else None

    try:
        wait_until(tainted, within=30)
        yield place
    finally:
        desk.run(f"kubectl uncordon {name}; kubectl delete node {LONELY} --wait=false")


RIGS = {
    "": Rig(_whole),
    "kubeconfig-broken": Rig(_kubeconfig_broken),
    "credentials-refused": Rig(_credentials_refused),
    "kueue-stopped": Rig(_paused("kueue"), is_before=True, is_restarted=True),
    "apiserver-paused": Rig(_paused("kube-apiserver")),
    "apiserver-stopped": Rig(_apiserver_stopped, is_restarted=True),
    "no-kubelet": Rig(_no_kubelet, is_before=True),
    "crds-absent": Rig(_crds_absent, is_ruin=True),
}


def rig_named(name: str) -> Rig:
    """The way of that name; the empty name leaves the place whole."""
    return RIGS[name]
