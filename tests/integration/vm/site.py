"""A test machine, the lab in it and the one that grades from outside, each by its own commands."""

from __future__ import annotations

import json
import re
import shlex
import time
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import psutil
import testinfra
from testinfra.host import Host

from provision.message import Message, say
from provision.waiting import wait_until
from tests.integration.cli import STEPS, Lab, Said, said_by
from tests.machines.record import Record
from tests.telling import Stages

FIRST = 900.0  # seconds that a provision may take on a busy machine, a fresh one included
ROLES = ("prereq", "k3s", "gpus", "kueue", "grader")
RECAP = re.compile(
    r"^machine\s+: ok=(\d+)\s+changed=(\d+)\s+unreachable=(\d+)\s+failed=(\d+)", re.M
)


@dataclass(frozen=True, slots=True)
class Provision:
    """What a provision came to: the recap of its playbook, and what it told."""

    said: Said
    seconds: float
    changed: tuple[str, ...]

    def seconds_of(self, role: str) -> float:
        """Seconds of a role, as they are told; 0 for one that is not told."""
        found = re.search(rf"\b{role} (\d+)\s+s\b", self.said.out)
        return float(found.group(1)) if found else 0.0


@dataclass(frozen=True, slots=True)
class Site:
    """A machine `record` that is provisioned from `bundle` by the lab of `lab.variables`."""

    record: Record
    bundle: Path
    lab: Lab
    stages: Stages
    slug: str = "kueue_quota"

    @property
    def home(self) -> Path:
        """What the controller keeps of it."""
        return Path(self.lab.variables["LAB_HOME"]) / self.slug

    def provision(self, stage: str, **more: str) -> Provision:
        """`lab provision`, which must succeed."""
        started = time.monotonic()
        with self.stages.measure(stage):
            said = self.lab.done("provision", within=FIRST, **more)
        return Provision(said, time.monotonic() - started, self.changed())

    @property
    def playbook_log(self) -> str:
        """What the last playbook printed."""
        return (self.home / "logs" / "provision.log").read_text("utf-8")

    def changed(self) -> tuple[str, ...]:
        """The tasks that changed something in the last playbook, which must have ended well."""
        text = self.playbook_log
        recap = RECAP.findall(text)
        assert [found[2:] for found in recap] == [("0", "0")], text[-2000:]
        tasks = re.findall(r"^TASK \[(.+?)\] \*+\n((?:(?!TASK \[|PLAY RECAP).*\n)*)", text, re.M)
        names = tuple(name for name, lines in tasks if re.search(r"^changed: ", lines, re.M))
        assert bool(names) == (recap[0][1] != "0"), names
        return names

    def run(self, script: str, within: float = 60) -> Said:
        """A script on the machine, as root, over SSH by the tests' own key."""
        folder = self.record.folder
        options = ("-o", f"UserKnownHostsFile={self.record.known_hosts}", "-o", "BatchMode=yes")
        command = ("ssh", "-F", "none", "-i", str(self.record.identity), *options)
        remote = f"sh -euc {shlex.quote(script)}"
        target = ("-o", "ConnectTimeout=5", f"root@{self.record.address}", remote)
        return said_by([*command, *target], {"PATH": self.lab.variables["PATH"]}, within, folder)

    def done(self, script: str, within: float = 60) -> str:
        """What a script on the machine prints; it must succeed."""
        said = self.run(script, within)
        assert said.code == 0, f"{script}\n{said}"
        return said.out

    def kubectl(self, *words: str) -> Any:
        """`kubectl ... -o json` on the machine."""
        return json.loads(self.done(shlex.join(["kubectl", *words, "--output=json"])))

    def snapshot(self) -> frozenset[str]:
        """The machine's files, packages and units, without what any system writes by itself."""
        files = self.done(
            "find /etc /opt /root /usr /var -xdev"
            r" \( -path /var/log -o -path /var/tmp -o -path /var/cache -o -path /var/lib/dpkg"
            r" -o -path /var/lib/apt -o -path /var/lib/systemd -o -name __pycache__ \)"
            " -prune -o -print; dpkg-query --show; systemctl list-unit-files --no-legend"
        )
        return frozenset(files.splitlines())

    def check_inside(self, step: int | str) -> dict[str, Any]:
        """`lab check STEP --json`, as a learner runs it in the machine."""
        return self.run(f"lab check {step} --json", within=120).json()

    def solve(self, step: int) -> dict[str, Any]:
        """Play the answers from outside; what the lab inside says of the step then.

        Both keep a record of their own: a step that a later one undoes stays passed only where it
        was checked before that.
        """
        self.lab.done("solve", str(step), "--yes", within=200)
        return self.check_inside(step)

    def solve_all(self) -> None:
        """All steps, each on record outside and inside."""
        for step in STEPS:
            assert self.solve(step)["verdict"] == "PASS", step

    @property
    def host(self) -> Host:
        """The machine for testinfra."""
        found = testinfra.get_host(
            f"ssh://root@{self.record.address}?ssh_config=/dev/null&controlpersist=0",
            ssh_identity_file=str(self.record.identity),
            ssh_extra_args=f"-o UserKnownHostsFile={self.record.known_hosts} -o BatchMode=yes",
        )
        assert isinstance(found, Host)
        return found

    def await_inside(self, what: str, script: str, within: float) -> None:
        """Wait until a script succeeds on the machine, which may be rebooting."""

        def missing() -> Message | None:
            said = self.run(script, within=30)
            return None if said.code == 0 else say("{what}: {said}", what=what, said=said)

        wait_until(missing, within=within, every=1)


def verdicts(report: Mapping[str, Any]) -> list[tuple[int, str, list[tuple[str, str]]]]:
    """What a report comes to, without what may differ from one who looks to the next."""
    return [
        (
            step["step"],
            step["verdict"],
            [(check["id"], check["outcome"]) for check in step["checks"]],
        )
        for step in report["steps"]
    ]


def processes_of(home: Path) -> list[str]:
    """The processes that work for a LAB_HOME."""
    found = []
    for process in psutil.process_iter():
        try:
            words = process.cmdline()
        except psutil.Error:
            continue
        if any(str(home) in word for word in words):
            found.append(f"{process.pid}: {' '.join(words)}")
    return found
