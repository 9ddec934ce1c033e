"""A local target in a place of its own, driven without the command line."""

from __future__ import annotations

import json
import subprocess
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from provision.message import Message, say
from provision.registry import open_target
from provision.settings import Settings
from provision.target import NodeSpec, PlaceSpec, Progress, Target
from provision.waiting import wait_until

NODE = NodeSpec("gpu-node-0", "8", "16Gi", 4, "NVIDIA-A100-SXM4-80GB")


@dataclass(frozen=True, slots=True)
class TestPlace:
    """One place below `root`; `told` collects what the target said."""

    __test__ = False

    root: Path
    settings: Settings
    told: list[Progress] = field(default_factory=list)

    @property
    def home(self) -> Path:
        return self.root / "kueue_quota"

    @property
    def spec(self) -> PlaceSpec:
        return PlaceSpec("kueue_quota", self.home, self.home / "gsb-kueue", ("team-a",), (NODE,))

    @property
    def target(self) -> Target:
        """Opened afresh, as a new command would."""
        return open_target("local", self.spec, self.settings)

    def tell(self, progress: Progress) -> None:
        self.told.append(progress)

    @property
    def state(self) -> Mapping[str, Any]:
        return json.loads((self.home / "place.json").read_text())

    @property
    def pids(self) -> Mapping[str, int]:
        return {c.name: c.pid for c in self.target.status().components if c.pid is not None}

    def run(self, *args: str, stdin: str | None = None) -> subprocess.CompletedProcess[str]:
        """kubectl with the learner's kubeconfig."""
        return subprocess.run(
            [self.home / "bin" / "kubectl", *args],
            env={"KUBECONFIG": str(self.home / "kubeconfig"), "HOME": str(self.root), "PATH": ""},
            input=stdin,
            capture_output=True,
            text=True,
            timeout=60,
            check=False,
        )

    def kubectl(self, *args: str, stdin: str | None = None) -> str:
        done = self.run(*args, stdin=stdin)
        assert done.returncode == 0, f"kubectl {args}: {done.stderr}"
        return done.stdout

    def get(self, *args: str) -> Any:
        return json.loads(self.kubectl("get", *args, "-o", "json"))

    def await_ready(self, within: float) -> None:
        def missing() -> Message | None:
            late = [c.name for c in self.target.status().components if not c.is_ready]
            return say("not ready: {names}", names=late) if late else None

        wait_until(missing, within=within)

    def await_true(self, condition: Callable[[], bool], within: float, what: str) -> None:
        wait_until(lambda: None if condition() else say("{what}", what=what), within=within)


def pod(name: str, command: list[str] | None, **spec: Any) -> str:
    """A pod for the lab's namespace, as JSON."""
    container = {"name": "main", "image": "busybox:1.36"} | (
        {"command": command} if command else {}
    )
    manifest = {
        "apiVersion": "v1",
        "kind": "Pod",
        "metadata": {"name": name, "namespace": "team-a"},
        "spec": {"restartPolicy": "Never", "containers": [container], **spec},
    }
    return json.dumps(manifest)
