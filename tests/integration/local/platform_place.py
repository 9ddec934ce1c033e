"""The place of the lab with the platform's controller, and what its tests do there."""

from __future__ import annotations

import json
import os
import re
import signal
import socket
import subprocess
import sys
from collections.abc import Iterator, Mapping
from contextlib import closing, contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from urllib.error import URLError
from urllib.request import urlopen

import yaml

from lab.places import Place
from provision.message import Message, say
from provision.waiting import wait_until

LAB = "gpu_preemption"
COMPONENT = "platform"
SOON = 20.0  # seconds; what takes one in a quiet machine
RESTARTED = 60.0  # seconds; the supervisor waits longer after each kill, and Python starts anew


def claim(name: str, namespace: str, value: int, description: str = "") -> dict[str, Any]:
    """A CustomWorkloadPriorityClass."""
    return {
        "apiVersion": "kakaocloud.io/v1alpha1",
        "kind": "CustomWorkloadPriorityClass",
        "metadata": {"name": name, "namespace": namespace},
        "spec": {"value": value} | ({"description": description} if description else {}),
    }


def priority_class(name: str, value: int) -> dict[str, Any]:
    """A class of Kueue that somebody makes by hand."""
    return {
        "apiVersion": "kueue.x-k8s.io/v1beta2",
        "kind": "WorkloadPriorityClass",
        "metadata": {"name": name},
        "value": value,
    }


@dataclass(frozen=True, slots=True)
class PlatformPlace:
    """A place that is up; `root` is a folder for files of the tests."""

    place: Place
    root: Path

    def run(self, *args: str, give: object = None) -> subprocess.CompletedProcess[str]:
        """kubectl with the learner's kubeconfig; `give` is an object, or a list, for its input."""
        items = give if isinstance(give, list) else [give]
        return subprocess.run(
            [self.place.home / "bin" / "kubectl", *args],
            env={"KUBECONFIG": str(self.place.home / "kubeconfig"), "HOME": str(self.root)},
            input=json.dumps({"apiVersion": "v1", "kind": "List", "items": items})
            if give and isinstance(give, list)
            else json.dumps(give),
            capture_output=True,
            text=True,
            timeout=60,
            check=False,
        )

    def kubectl(self, *args: str, give: object = None) -> str:
        done = self.run(*args, give=give)
        assert done.returncode == 0, f"kubectl {args}: {done.stderr}"
        return done.stdout

    def apply(self, *objects: Mapping[str, Any]) -> None:
        self.kubectl("apply", "-f", "-", give=list(objects))

    def refusal(self, manifest: Mapping[str, Any]) -> str:
        """What kubectl says when the API server refuses to make an object."""
        done = self.run("create", "-f", "-", give=manifest)
        assert done.returncode == 1, done.stdout
        return done.stderr.strip()

    def get(self, *args: str) -> Any:
        """An object as JSON, None when it is not there."""
        text = self.kubectl("get", *args, "-o", "json", "--ignore-not-found")
        return json.loads(text) if text else None

    def class_of(self, name: str) -> Any:
        return self.get("wpc", name)

    def row(self, name: str, namespace: str = "team-b") -> list[str]:
        """VALUE, READY and REASON as kubectl shows them; empty texts are left out."""
        words = self.kubectl("get", "cwpc", name, "-n", namespace, "--no-headers").split()
        return words[1:-1]

    def await_row(
        self, name: str, *expected: str, namespace: str = "team-b", within: float = SOON
    ) -> None:
        """Wait until kubectl shows these columns."""

        def missing() -> Message | None:
            row = self.row(name, namespace)
            return None if row == list(expected) else say("{name}: {row}", name=name, row=row)

        wait_until(missing, within=within)

    def await_true(self, what: str, condition: Any, within: float = SOON) -> None:
        wait_until(lambda: None if condition() else say("{what}", what=what), within=within)

    def patch(self, *args: str, **fields: object) -> None:
        self.kubectl("patch", *args, "--type=merge", "-p", json.dumps(fields))

    # --- the controller's processes ---

    @property
    def pid(self) -> int:
        """The process that the place's supervisor keeps up."""
        found = [c.pid for c in self.place.target.status().components if c.name == COMPONENT]
        assert found
        assert found[0]
        return found[0]

    def kill(self) -> None:
        """SIGKILL, at once if there is a process, and as soon as there is one if not."""

        def missing() -> Message | None:
            with suppress(AssertionError, ProcessLookupError):
                os.kill(self.pid, signal.SIGKILL)
                return None
            return say("no process to kill")

        wait_until(missing, within=RESTARTED)

    @contextmanager
    def paused(self) -> Iterator[None]:
        """The place's own controller does nothing meanwhile."""
        pid = self.pid
        os.kill(pid, signal.SIGSTOP)
        try:
            yield
        finally:
            os.kill(pid, signal.SIGCONT)

    @contextmanager
    def second(self) -> Iterator[subprocess.Popen[str]]:
        """One more controller, with no rights but those of its ServiceAccount, as on a machine."""
        with closing(socket.socket()) as probe:
            probe.bind(("127.0.0.1", 0))
            port = str(probe.getsockname()[1])
        module = "provision.operators.platform"
        arguments = ["--kubeconfig", str(self._account_file()), "--port", port]
        log = self.root / "second.log"
        with log.open("w") as file:
            command = [sys.executable, "-I", "-m", module, *arguments]
            process = subprocess.Popen(command, stdout=file, stderr=file, text=True)
            try:
                wait_until(lambda: _not_ready(port), within=60)
                yield process
            finally:
                process.terminate()
                assert process.wait(20) == 0, log.read_text()

    def _account_file(self) -> Path:
        token = self.kubectl("create", "token", "platform", "-n", "kube-system").strip()
        content = yaml.safe_load((self.place.home / "kubeconfig").read_text())
        content["users"][0]["user"] = {"token": token}
        file = self.root / "account.kubeconfig"
        file.write_text(yaml.safe_dump(content))
        file.chmod(0o600)
        return file

    def clean(self) -> None:
        """No claims, no classes but the platform's four, no Jobs."""
        self.kubectl("delete", "job,cwpc", "--all", "-A", "--timeout=30s")
        left = self.kubectl("get", "wpc", "-o", "name").split()
        foreign = [n for n in left if not re.search(r"/(low|normal|high|critical)$", n)]
        if foreign:
            self.kubectl("delete", *foreign)


def _not_ready(port: str) -> Message | None:
    try:
        with urlopen(f"http://127.0.0.1:{port}/readyz", timeout=2) as reply:
            return None if reply.status == 200 else say("HTTP {status}", status=reply.status)
    except (URLError, OSError) as error:
        return say("{reason}", reason=error)
