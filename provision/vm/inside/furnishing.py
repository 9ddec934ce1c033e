"""What lies in a lab's cluster from the start, laid out by the lab in the machine.

These are the manifests that the lab's parts bring, with the word drawn for this life of the
cluster, the lab's own objects, and the account of the platform's controller.
"""

from __future__ import annotations

import base64
import json
import subprocess
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

from provision.drawing import drawn_word
from provision.errors import TargetError
from provision.files import write_atomically
from provision.local.components import load_inventory
from provision.local.own_manifests import own_manifests
from provision.message import Message, say
from provision.target import PlaceSpec
from provision.vm.inside.facts import PLATFORM, PORTS
from provision.vm.kubectl import Kubectl
from provision.waiting import wait_until

MANAGER = "gpu-queue-lab"
CONTROLLER = "provision.operators.platform"
FILE = "platform.kubeconfig"
ACCOUNT, NAMESPACE = "platform", "kube-system"
DEFINITION = "CustomResourceDefinition"
APPLY_SECONDS, TOKEN_SECONDS = 60.0, 60.0
_HOW = ("--server-side", "--force-conflicts", f"--field-manager={MANAGER}", "--filename=-")


def furnish(kubectl: Kubectl, spec: PlaceSpec) -> bool:
    """Lay out what is not so yet; True when there was something. TargetError when it is refused."""
    own = own_manifests(load_inventory().chosen(spec.parts), drawn_word(spec.home))
    defined = [d for d in own if d["kind"] == DEFINITION]
    others: list[Mapping[str, Any]] = [d for d in own if d["kind"] != DEFINITION]
    if PLATFORM in spec.parts:
        others.append(_account())
    # A kind must be there before an object of it.
    changes = [_lay(kubectl, documents) for documents in (defined, [*others, *spec.objects])]
    if PLATFORM in spec.parts:
        changes.append(_write_kubeconfig(kubectl, spec.home))
    return any(changes)


def controller_command(home: Path) -> tuple[str, ...]:
    """Python's arguments for the platform's controller, as its service runs it."""
    return ("-m", CONTROLLER, f"--kubeconfig={home / FILE}", f"--port={PORTS[PLATFORM]}")


def _lay(kubectl: Kubectl, documents: Iterable[Mapping[str, Any]]) -> bool:
    text = "\n---\n".join(json.dumps(document) for document in documents)
    if not text or _is_so(kubectl, text):
        return False
    kubectl.text("apply", *_HOW, stdin=text, within=APPLY_SECONDS)
    return True


def _is_so(kubectl: Kubectl, text: str) -> bool:
    """Whether the cluster has all of it. What cannot be compared is not so: applying tells why."""
    command = [str(kubectl.program), f"--kubeconfig={kubectl.kubeconfig}", "diff", *_HOW]
    try:
        done = subprocess.run(
            command,
            input=text.encode(),
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
            timeout=APPLY_SECONDS,
            check=False,
        )
    except (OSError, subprocess.TimeoutExpired):
        return False
    return done.returncode == 0


def _account() -> Mapping[str, Any]:
    """A token for the controller's account, which is among its manifests."""
    return {
        "apiVersion": "v1",
        "kind": "Secret",
        "type": "kubernetes.io/service-account-token",
        "metadata": {
            "name": ACCOUNT,
            "namespace": NAMESPACE,
            "annotations": {"kubernetes.io/service-account.name": ACCOUNT},
        },
    }


def _write_kubeconfig(kubectl: Kubectl, home: Path) -> bool:
    """Write it when it is new or another; True then. The token comes a moment after the Secret."""
    found: dict[str, str] = {}

    def missing() -> Message | None:
        secret = kubectl.json("get", "secret", ACCOUNT, f"--namespace={NAMESPACE}")
        found.update(secret.get("data") or {})
        return None if {"token", "ca.crt"} <= found.keys() else say("there is no token yet")

    wait_until(missing, within=TOKEN_SECONDS, every=0.5)
    text = _kubeconfig(found)
    file = home / FILE
    try:
        if file.read_text("utf-8") == text:
            return False
    except FileNotFoundError:
        pass
    except OSError as error:
        raise TargetError(
            say("{path} cannot be read: {reason}", path=file, reason=error.strerror)
        ) from error
    write_atomically(file, text)
    return True


def _kubeconfig(data: Mapping[str, str]) -> str:
    cluster = {
        "server": "https://127.0.0.1:6443",
        "certificate-authority-data": data["ca.crt"],
    }
    token = base64.b64decode(data["token"]).decode()
    content = {
        "apiVersion": "v1",
        "kind": "Config",
        "clusters": [{"name": "lab", "cluster": cluster}],
        "users": [{"name": ACCOUNT, "user": {"token": token}}],
        "contexts": [{"name": "lab", "context": {"cluster": "lab", "user": ACCOUNT}}],
        "current-context": "lab",
    }
    return json.dumps(content, indent=2) + "\n"
