"""Kubeconfigs from the machine, rewritten so that they lead through the place's own forward."""

from __future__ import annotations

import base64
import binascii
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import yaml

from provision.errors import TargetError
from provision.files import write_atomically
from provision.local.plan import Probe
from provision.message import say
from provision.vm.contacting import why_not_in
from provision.vm.machine import Machine, run

ADMIN = "/etc/rancher/k3s/k3s.yaml"
GRADER = "/root/.local/state/gpu-queue-lab/{lab}/grader.kubeconfig"
READ_SECONDS = 30.0
_PARTS = {
    "ca.crt": ("clusters", "cluster", "certificate-authority-data"),
    "admin.crt": ("users", "user", "client-certificate-data"),
    "admin.key": ("users", "user", "client-key-data"),
}


@dataclass(frozen=True, slots=True)
class Kubeconfigs:
    """The texts of both kubeconfigs as they are on the machine."""

    learner: str
    grader: str


def fetch(machine: Machine, lab: str) -> Kubeconfigs:
    """Read both from the machine; TargetError when one is not there."""
    return Kubeconfigs(_read(machine, ADMIN), _read(machine, GRADER.format(lab=lab)))


def _read(machine: Machine, path: str) -> str:
    done = run(machine, machine.as_root("cat", path), input=None, within=READ_SECONDS)
    if not done.is_reached:
        raise why_not_in(done, machine)
    if done.returncode != 0:
        raise TargetError(
            say(
                "{path} on {machine} cannot be read: {why}.",
                path=path,
                machine=machine.name,
                why=done.last_line,
            ),
            next_move=say("Run make provision again: this writes the file anew."),
        )
    return done.stdout.decode(errors="replace")


def lay(texts: Kubeconfigs, home: Path, port: int) -> None:
    """Write both, and what a probe needs of the learner's, so that they lead to this port here."""
    server = f"https://127.0.0.1:{port}"
    write_atomically(home / "kubeconfig", _rewritten(texts.learner, server))
    write_atomically(home / "grader.kubeconfig", _rewritten(texts.grader, server))
    content = _tree(texts.learner)
    for name, (group, kind, key) in _PARTS.items():
        try:
            data = base64.b64decode(content[group][0][kind][key], validate=True)
        except (LookupError, TypeError, binascii.Error) as error:
            raise _odd(key) from error
        write_atomically(home / "pki" / name, data)


def api_probe(home: Path, port: int) -> Probe:
    """How the API server is asked through the forward whether it is ready."""
    pki = home / "pki"
    url = f"https://127.0.0.1:{port}/readyz"
    return Probe(url, pki / "ca.crt", pki / "admin.crt", pki / "admin.key")


def _rewritten(text: str, server: str) -> str:
    content = _tree(text)
    try:
        content["clusters"][0]["cluster"]["server"] = server
    except (LookupError, TypeError) as error:
        raise _odd("server") from error
    return yaml.safe_dump(dict(content), sort_keys=False)


def _tree(text: str) -> Mapping[str, Any]:
    try:
        content = yaml.load(text, Loader=yaml.CSafeLoader)
    except yaml.YAMLError as error:
        raise _odd("?") from error
    if not isinstance(content, dict):
        raise _odd("?")
    return content


def _odd(key: str) -> TargetError:
    return TargetError(
        say(
            "A kubeconfig of the machine is not as it should be: {key} is missing or odd.", key=key
        ),
        next_move=say("Run make provision again: this writes the kubeconfig anew."),
    )
