"""One place on disk: the files its components read, and the plan that they run by."""

from __future__ import annotations

import datetime as dt
import hashlib
import os
import shutil
import sys
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from provision.errors import TargetError
from provision.files import write_atomically
from provision.local.certificates import ensure_certificates
from provision.local.components import DATA, ControllerSpec, Inventory, companion_set
from provision.local.kubeconfig import kubeconfig
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
FILLED = ("kueue.yaml", "kwok-logs.yaml")
COPIED = ("kwok-stages.yaml", "audit-policy.yaml", "container.log")
TOOLS = {"kubectl": "kubectl", "kubectl-kueue": "kueuectl"}
# File name, client certificate, and the user name that people see.
INTERNAL_KUBECONFIGS = (
    ("controller-manager.kubeconfig", "controller-manager-client", "kube-controller-manager"),
    ("scheduler.kubeconfig", "scheduler-client", "kube-scheduler"),
    ("kwok.kubeconfig", "kwok-client", "kwok"),
    ("kueue.kubeconfig", "kueue-client", "kueue"),
)


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
        return make_blanks(self.folders, ports, self._sets, self.gates(versions["kueue"]))

    def write(
        self, parts: Parts, ports: Mapping[str, int], socket_file: Path, place_id: str
    ) -> Layout:
        """Bring every file up to date: certificates, kubeconfigs, configurations, links."""
        self.make_folders()
        ensure_certificates(self.folders.pki, now=dt.datetime.now(dt.UTC))
        components = self.plan(ports, parts.versions)
        self._write_configurations(self._blanks(ports, parts.versions))
        self._write_kubeconfigs(ports["apiserver"])
        self._link(parts)
        config = supervisor_config(components, self.spec.home, socket_file, place_id)
        return Layout(components, config, self.digest(config, parts.key))

    def _write_configurations(self, blanks: Blanks) -> None:
        for name in FILLED:
            text = blanks.for_yaml().fill((DATA / name).read_text("utf-8"))
            write_atomically(self.folders.conf / name, text)
        for name in COPIED:
            write_atomically(self.folders.conf / name, (DATA / name).read_bytes())
        webhook = self.folders.conf / "kueue-webhook"
        pairs = {
            "tls.crt": "kueue-webhook.crt",
            "tls.key": "kueue-webhook.key",
            "ca.crt": "kueue-ca.crt",
        }
        for name, source in pairs.items():
            write_atomically(webhook / name, (self.folders.pki / source).read_bytes())

    def _write_kubeconfigs(self, port: int) -> None:
        server = f"https://127.0.0.1:{port}"
        files = [
            (self.folders.conf / n, identity, user) for n, identity, user in INTERNAL_KUBECONFIGS
        ]
        files.append((self.kubeconfig, "learner", "learner"))
        files.append((self.grader_kubeconfig, "grader", "lab-grader"))
        for path, identity, user in files:
            write_atomically(path, kubeconfig(server, self.folders.pki, identity, user=user))

    def _link(self, parts: Parts) -> None:
        for name, binary in parts.binaries.items():
            _link(self.folders.parts / name, binary)
        for name, part in TOOLS.items():
            _link(self.tools / name, parts.binaries[part])

    def digest(self, config: str, key: str) -> str:
        """Of all that components read at their start; `key` is that of the built parts."""
        digest = hashlib.sha256(f"{config}\n{key}\n".encode())
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
