"""The seven readers of learner files, each as a check calls it; in the cluster all is right."""

from __future__ import annotations

import functools
from collections.abc import Callable
from pathlib import Path
from typing import Any

import yaml

from checks.kit.expect import Patience
from checks.kit.files import Files
from checks.kit.host import FileKind, Found
from checks.kit.typed import build
from checks.kit.witness import Wanted, look_in_cluster, look_in_file
from checks.kueue_quota.facts import Facts
from checks.kueue_quota.test_step_5_waiting import test_waiting_file as check_waiting
from checks.kueue_quota.test_step_6_bypass import test_bypass_file as check_bypass
from checks.kueue_quota.test_step_7_ledger import test_ledger_file as check_ledger_file
from checks.kueue_quota.test_step_7_ledger import test_ledger_true as check_ledger_true
from checks.kueue_quota.wanted import (
    want_cluster_queue,
    want_first_job,
    want_flavor,
    want_local_queue,
)
from checks.outcome import Mismatch
from checks.scene import Scene
from checks.watch import Watch
from tests.unit.checks.conftest import (
    ADMITTED,
    LAB,
    MESSAGE,
    NOW,
    WAITING,
    ListedCluster,
    cluster_queue,
    flavor,
    job,
    local_queue,
    workload,
)

FOLDER = Path("/w")
KUEUE = "apiVersion: kueue.x-k8s.io/v1beta2\n"
RIGHT = {
    "flavor.yaml": KUEUE + "kind: ResourceFlavor\nmetadata:\n  name: fake-gpu\nspec:\n"
    '  nodeLabels:\n    nvidia.com/gpu.present: "true"\n',
    "cq.yaml": KUEUE + "kind: ClusterQueue\nmetadata:\n  name: team-a\nspec:\n"
    "  namespaceSelector: {}\n  resourceGroups:\n"
    '  - coveredResources: ["cpu", "memory", "nvidia.com/gpu"]\n    flavors:\n'
    "    - name: fake-gpu\n      resources:\n      - name: cpu\n        nominalQuota: 2\n"
    '      - name: memory\n        nominalQuota: "2Gi"\n'
    "      - name: nvidia.com/gpu\n        nominalQuota: 2\n",
    "lq.yaml": KUEUE + "kind: LocalQueue\nmetadata:\n  name: lq\n  namespace: team-a\nspec:\n"
    '  clusterQueue: "team-a"\n',
    "job-1.yaml": "apiVersion: batch/v1\nkind: Job\nmetadata:\n  name: train-1\n"
    '  namespace: team-a\n  labels:\n    kueue.x-k8s.io/queue-name: "lq"\nspec:\n  template:\n'
    "    spec:\n      restartPolicy: Never\n      containers:\n      - name: main\n"
    "        image: busybox\n        resources:\n          limits:\n"
    "            nvidia.com/gpu: 1\n",
    "waiting.txt": f"WaitingForQuota: {MESSAGE}\n",
    "bypass.txt": "suspended=false\nworkload=none\n",
    "usage.json": '{\n  "admitted": 2,\n  "pending": 1,\n  "gpu_reserved": 2\n}\n',
}
MANIFESTS = ("flavor.yaml", "cq.yaml", "lq.yaml", "job-1.yaml")


class Desk:
    """Stands in for the folder on the host: one file, whatever it holds."""

    folder = FOLDER

    def __init__(self, content: bytes) -> None:
        self._content = content

    def read(self, _name: str) -> Found:
        return Found(FileKind.FILE, self._content, len(self._content), int(NOW))


def judge(name: str, content: bytes) -> Mismatch | None:
    """What the check of that file says about these bytes, None when it passes."""
    files = Files(Desk(content))  # type: ignore[arg-type]
    try:
        _CHECKS[name](files)
    except Mismatch as mismatch:
        return mismatch
    return None


def told(mismatch: Mismatch) -> str:
    """All four parts in one text."""
    found = mismatch.finding
    return f"{found.looked_at} | {found.expected} | {found.found} | {found.next_move}"


@functools.cache
def _lab() -> Facts:
    return build(Facts, yaml.safe_load(LAB.read_text())["facts"])


@functools.cache
def _cluster() -> Any:
    queue = cluster_queue()
    queue["status"] |= {
        "admittedWorkloads": 2,
        "pendingWorkloads": 1,
        "flavorsReservation": [
            {"name": "fake-gpu", "resources": [{"name": "nvidia.com/gpu", "total": "2"}]}
        ],
    }
    names = ("train-1", "train-2", "train-3")
    jobs = [job(name, suspend=name == "train-3") for name in names]
    return ListedCluster(
        resourceflavors=[flavor()],
        clusterqueues=[queue],
        localqueues=[local_queue()],
        jobs=[*jobs, job("sneaky", labels={}, suspend=False)],
        workloads=[workload(n, WAITING if n == "train-3" else ADMITTED) for n in names],
    )


def _watch() -> Watch:
    return Watch(Scene(_cluster(), "team-a", _lab().api_version), Patience(0))


def _manifest(files: Files, wanted: Wanted) -> None:
    look_in_file(files, _cluster(), wanted)
    look_in_cluster(files, _cluster(), wanted)


def _ledger(files: Files) -> None:
    check_ledger_file(files, _lab(), _nothing)
    check_ledger_true(_watch(), files, _lab(), _nothing, _nothing)


def _nothing(_: object) -> None:
    return None


_CHECKS: dict[str, Callable[[Files], object]] = {
    "flavor.yaml": lambda files: _manifest(files, want_flavor(_lab())),
    "cq.yaml": lambda files: _manifest(files, want_cluster_queue(_lab())),
    "lq.yaml": lambda files: _manifest(files, want_local_queue(_lab())),
    "job-1.yaml": lambda files: _manifest(files, want_first_job(_lab())),
    "waiting.txt": lambda files: check_waiting(_watch(), files, _lab(), _nothing),
    "bypass.txt": lambda files: check_bypass(_watch(), files, _lab(), _nothing),
    "usage.json": _ledger,
}
