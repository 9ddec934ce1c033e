"""One place on disk: the files its components read, and the plan that they run by."""

from __future__ import annotations

import datetime as dt
import hashlib
import json
import os
import shutil
import sys
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from provision.drawing import drawn_word
from provision.errors import TargetError
from provision.local.certificates import Leaf, ensure_certificates
from provision.local.components import BASE, ControllerSpec, Inventory, companion_set
from provision.local.configuring import (
    leaves_of,
    write_configurations,
    write_kubeconfigs,
    write_serving,
)
from provision.local.own_manifests import Document, own_manifests
from provision.local.parts import Parts
from provision.local.plan import (
    Blanks,
    Component,
    Folders,
    kueue_gates,
    make_blanks,
    make_plan,
    port_names,
)
from provision.local.supervising import supervisor_config
from provision.message import say
from provision.target import PlaceSpec

ROOM_BYTES = 300 << 20
TOOLS = {"kubectl": "kubectl", "kubectl-kueue": "kueuectl"}


@dataclass(frozen=True, slots=True)
class Layout:
    """What a place consists of: its components, and the text of its supervisor's configuration.

    `digest` changes when anything changes that a running component has read at its start.
    """

    components: tuple[Component, ...]
    config: str
    digest: str


class Place:
    """The files of one place; nothing here starts or asks a process."""

    def __init__(self, spec: PlaceSpec, inventory: Inventory) -> None:
        self.spec = spec
        self.folders = Folders(spec.home)
        self.kubeconfig = spec.home / "kubeconfig"
        self.grader_kubeconfig = spec.home / "grader.kubeconfig"
        self.tools = spec.home / "bin"
        self._inventory = inventory
        self._sets = (*inventory.chosen(spec.parts), companion_set(spec.companions))

    def port_names(self) -> tuple[str, ...]:
        """The names of the ports that this place wants."""
        return port_names(self._sets)

    def names(self) -> tuple[str, ...]:
        """The names of the components."""
        return tuple(dict.fromkeys(c.name for s in self._sets for c in s.components))

    def controllers(self) -> tuple[ControllerSpec, ...]:
        """How the manifests of controllers are rewritten."""
        return self._inventory.controllers

    def added_parts(self) -> tuple[str, ...]:
        """The built parts that its lab asks for beyond the base ones."""
        return tuple(part.name for s in self._sets if s.name != BASE for part in s.build)

    def leaves(self) -> tuple[Leaf, ...]:
        """The certificates that its components and people have."""
        return leaves_of(self._sets)

    def own_manifests(self) -> tuple[Document, ...]:
        """Manifests of ours that its sets bring, filled for this life of the cluster."""
        return own_manifests(self._sets, drawn_word(self.spec.home))

    def late_objects(self, parts: Parts) -> tuple[Document, ...]:
        """What is applied when all is ready: objects of the sets' modules, then the lab's own."""
        owners = [owner for s in self._sets for owner in s.objects]
        shipped = [d for owner in owners for d in parts.manifests.get(owner, ())]
        return (*shipped, *(dict(d) for d in self.spec.objects))

    def gates(self, kueue_version: str) -> tuple[str, ...]:
        """The feature gates that its Kueue runs with."""
        return kueue_gates(self._inventory, kueue_version)

    def check_room(self) -> None:
        """TargetError when etcd, its snapshot and the logs would not fit."""
        free = shutil.disk_usage(self.spec.home).free
        if free < ROOM_BYTES:
            raise TargetError(
                say(
                    "The cluster needs {needed} MB of disk in {path}; {free} MB are free.",
                    needed=ROOM_BYTES >> 20,
                    path=self.spec.home,
                    free=free >> 20,
                ),
                next_move=say("Free some space, or choose another folder with LAB_HOME."),
            )

    def make_folders(self) -> None:
        """Make the folders that components write to."""
        for name in ("logs", "conf", "run", "bin", "parts"):
            (self.spec.home / name).mkdir(parents=True, exist_ok=True, mode=0o700)

    def plan(self, ports: Mapping[str, int], versions: Mapping[str, str]) -> tuple[Component, ...]:
        """The components as they run on these ports; writes nothing."""
        blanks = self._blanks(ports, versions)
        return make_plan(self._sets, self.folders, blanks, versions, sys.executable)

    def plan_of(
        self, ports: Mapping[str, int], versions: Mapping[str, str]
    ) -> tuple[Component, ...]:
        """The same for ports that are kept; empty when some are not among them yet."""
        if not set(self.port_names()) <= ports.keys():
            return ()
        return self.plan(ports, versions)

    def _blanks(self, ports: Mapping[str, int], versions: Mapping[str, str]) -> Blanks:
        gates, frameworks = self.gates(versions["kueue"]), self.spec.frameworks
        return make_blanks(self.folders, ports, self._sets, gates, frameworks)

    def write(
        self, parts: Parts, ports: Mapping[str, int], socket_file: Path, place_id: str
    ) -> Layout:
        """Bring every file up to date: certificates, kubeconfigs, configurations, links."""
        self.make_folders()
        now = dt.datetime.now(dt.UTC)
        ensure_certificates(self.folders.pki, now=now, leaves=self.leaves())
        components = self.plan(ports, parts.versions)
        blanks = self._blanks(ports, parts.versions)
        write_configurations(self.folders, blanks, self._sets, self.spec.kueue)
        write_serving(self.folders, blanks, self._sets)
        people = {
            self.kubeconfig: ("learner", "learner"),
            self.grader_kubeconfig: ("grader", "lab-grader"),
        }
        write_kubeconfigs(self.folders, self._sets, ports["apiserver"], people)
        self._link(parts)
        config = supervisor_config(components, self.spec.home, socket_file, place_id)
        return Layout(components, config, self.digest(config, parts.key))

    def _link(self, parts: Parts) -> None:
        for name, binary in parts.binaries.items():
            _link(self.folders.parts / name, binary)
        for name, part in TOOLS.items():
            _link(self.tools / name, parts.binaries[part])

    def digest(self, config: str, key: str) -> str:
        """Of all that components read at their start; `key` is that of the built parts."""
        digest = hashlib.sha256(f"{config}\n{key}\n".encode())
        if lying := (*self.own_manifests(), *self.spec.objects):
            digest.update(json.dumps(lying, sort_keys=True).encode())
        for folder in (self.folders.conf, self.folders.pki):
            for path in sorted(folder.rglob("*")):
                if path.is_file() and path.name != "supervisord.conf":
                    digest.update(path.name.encode() + b"\0" + path.read_bytes() + b"\0")
        return digest.hexdigest()

    def make_workspace(self) -> None:
        """Make the learner's folder when it is absent."""
        self.spec.workspace.mkdir(parents=True, exist_ok=True)

    def is_gone(self) -> bool:
        """Nothing is below home, or only the learner's folder."""
        home = self.spec.home
        return not home.is_dir() or all(path == self.spec.workspace for path in home.iterdir())

    def remove(self, foreign: frozenset[str]) -> None:
        """Remove everything below home but the workspace and what was there before us."""
        home, workspace = self.spec.home, self.spec.workspace
        for path in home.iterdir():
            if path.name in foreign:
                continue
            if workspace == path or workspace.is_relative_to(path):
                _remove_if_empty(workspace)
            elif path.is_dir() and not path.is_symlink():
                shutil.rmtree(path)
            else:
                path.unlink()
        _remove_if_empty(home)


def _remove_if_empty(folder: Path) -> None:
    try:
        folder.rmdir()
    except OSError:
        return  # something is in it: it stays


def _link(link: Path, target: Path) -> None:
    """Point a symbolic link at `target`, in one step."""
    if link.is_symlink() and link.readlink() == target:
        return
    draft = link.with_name(f".{link.name}.{os.getpid()}")
    draft.unlink(missing_ok=True)
    draft.symlink_to(target)
    draft.replace(link)
