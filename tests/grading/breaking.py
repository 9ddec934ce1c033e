"""Ways in which a place is broken, so that the grader has to say that it cannot tell."""

from __future__ import annotations

import os
import signal
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from tempfile import TemporaryDirectory

import yaml

from lab.places import Place
from provision.message import Message, say
from provision.target import TargetInfo
from provision.waiting import wait_until
from tests.grading.api import Api, Refused
from tests.grading.desk import Desk

Breaking = Callable[[Place, Api, Desk], AbstractContextManager[Place]]


@dataclass(frozen=True, slots=True)
class Rig:
    """One way: `is_before` breaks the place before the learner acts, `is_ruin` needs a reset."""

    broken: Breaking
    is_before: bool = False
    is_ruin: bool = False


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


def _paused(component: str) -> Breaking:
    """A component that is there and does nothing; a killed one would be back at once."""

    @contextmanager
    def broken(place: Place, _api: Api, _desk: Desk) -> Iterator[Place]:
        components = place.target.status().components
        pid = next(one.pid for one in components if one.name == component)
        if pid is None:
            raise AssertionError(f"{component} does not run")
        os.kill(pid, signal.SIGSTOP)
        try:
            yield place
        finally:
            os.kill(pid, signal.SIGCONT)

    return broken


@contextmanager
def _crds_absent(place: Place, api: Api, desk: Desk) -> Iterator[Place]:
    desk.run("kubectl get crd -o name | grep 'kueue.x-k8s.io$' | xargs kubectl delete --wait=false")

    def missing() -> Message | None:
        try:
            api.call("GET", "/apis/kueue.x-k8s.io/v1beta2")
        except Refused as error:
            return None if error.status == 404 else say("{error}", error=error)
        return say("the kinds of Kueue are still served")

    wait_until(missing, within=60)
    yield place


RIGS = {
    "": Rig(_whole),
    "kubeconfig-broken": Rig(_kubeconfig_broken),
    "credentials-refused": Rig(_credentials_refused),
    "kueue-stopped": Rig(_paused("kueue"), is_before=True),
    "apiserver-paused": Rig(_paused("kube-apiserver")),
    "crds-absent": Rig(_crds_absent, is_ruin=True),
}
# Rigs of the format that cannot be played here yet, with the reason; their cases are counted.
NOT_PLAYED = {
    "no-kubelet": "needs a second node that nothing looks after, which the place has no way to add",
}


def rig_named(name: str) -> Rig:
    """The way of that name; the empty name leaves the place whole."""
    return RIGS[name]
