"""What a machine knows of itself: a file that the role `grader` writes, read strictly.

Ports are fixed: nothing else runs on such a machine, and the controller's forward leads to them.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from provision.errors import TargetError
from provision.message import Message, say
from provision.versions import kueue_written_for

FACTS = Path("/opt/gpu-queue-lab/target.json")
SCHEMA = 1
PAGE, RECORDER, PLATFORM = "page", "recorder", "platform"
PORTS: Mapping[str, int] = {PAGE: 18080, RECORDER: 18081, PLATFORM: 18082}
K3S_UNIT = "k3s.service"
UNITS: Mapping[str, str] = {
    PAGE: "gpu-queue-lab-page.service",
    RECORDER: "gpu-queue-lab-recorder.service",
}
# The controller of a lab that asks for the platform: no companion, since the cluster needs it.
PLATFORM_UNIT = "gpu-queue-lab-platform.service"
KUEUE = "kueue"
# Parts that run in the cluster, by their Deployments: namespace and name.
DEPLOYMENTS: Mapping[str, tuple[str, str]] = {
    KUEUE: ("kueue-system", "kueue-controller-manager"),
    "jobset": ("jobset-system", "jobset-controller-manager"),
    "trainer": ("kubeflow-system", "kubeflow-trainer-controller-manager"),
}
GPU = "nvidia.com/gpu"


@dataclass(frozen=True, slots=True)
class InsideFacts:
    """One machine: `kubeconfig` is the learner's, `tools` the folder of kubectl, `node` its name.

    `gpus` is how many the node must offer; `versions` maps "k3s", "kubernetes" and "kueue".
    """

    lab: str
    kubeconfig: Path
    tools: Path
    node: str
    gpus: int
    versions: Mapping[str, str]


def units_of(parts: Sequence[str]) -> tuple[str, ...]:
    """The services of a machine whose lab asks for these parts."""
    platform = (PLATFORM_UNIT,) if PLATFORM in parts else ()
    return (K3S_UNIT, *UNITS.values(), *platform)


def deployments_of(parts: Sequence[str]) -> Mapping[str, tuple[str, str]]:
    """What runs in the cluster of a lab with these parts, by its Deployments."""
    return {name: at for name, at in DEPLOYMENTS.items() if name == KUEUE or name in parts}


def read_facts(file: Path) -> InsideFacts:
    """The facts in a file; TargetError when this is no machine of the lab, or they are damaged."""
    try:
        raw = json.loads(file.read_text("utf-8"))
        if raw["schema"] != SCHEMA:
            raise ValueError(raw["schema"])
        return InsideFacts(
            lab=str(raw["lab"]),
            kubeconfig=Path(str(raw["kubeconfig"])),
            tools=Path(str(raw["tools"])),
            node=str(raw["node"]),
            gpus=int(raw["gpus"]),
            versions={str(name): str(value) for name, value in raw["versions"].items()},
        )
    except FileNotFoundError as error:
        raise TargetError(
            say("This is no machine of the vm target: there is no {file}.", file=file),
            next_move=say("Provision it from outside: make provision TARGET=vm in the project."),
        ) from error
    except (OSError, ValueError, KeyError, TypeError, AttributeError) as error:
        raise TargetError(
            say("{file} is damaged ({reason}).", file=file, reason=error),
            next_move=say("Run make provision from outside: it writes that file anew."),
        ) from error


def kueue_note(versions: Mapping[str, str]) -> Message | None:
    """In what this Kueue differs from the one the labs are written for; None when in nothing."""
    version, written_for = versions.get("kueue", ""), kueue_written_for()
    if not version or version == written_for:
        return None
    return say(
        "Kueue {version} runs here; the labs are written for Kueue {written_for}.",
        version=version,
        written_for=written_for,
    )
