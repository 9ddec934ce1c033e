"""All steps done by hand, in another spelling than the answers."""

import json

import pytest

from provision.message import Message, say
from provision.waiting import wait_until
from tests.integration.cli import STEPS, Lab

pytestmark = [pytest.mark.integration, pytest.mark.timeout(300, func_only=True)]

KUEUE = "kueue.x-k8s.io/v1beta2"
GPU = "nvidia.com/gpu"
LABEL = {"kueue.x-k8s.io/queue-name": "lq"}

FLAVOR = {
    "apiVersion": KUEUE,
    "kind": "ResourceFlavor",
    "metadata": {"name": "fake-gpu"},
    "spec": {"nodeLabels": {"nvidia.com/gpu.present": "true"}},
}
QUOTA = {GPU: "2000m", "memory": "2048Mi", "cpu": "2000m"}
CLUSTER_QUEUE = {
    "apiVersion": KUEUE,
    "kind": "ClusterQueue",
    "metadata": {"name": "team-a"},
    "spec": {
        "namespaceSelector": {},
        "resourceGroups": [
            {
                "coveredResources": list(QUOTA),
                "flavors": [
                    {
                        "name": "fake-gpu",
                        "resources": [
                            {"name": name, "nominalQuota": amount} for name, amount in QUOTA.items()
                        ],
                    }
                ],
            }
        ],
    },
}
LOCAL_QUEUE = {
    "apiVersion": "v1",
    "kind": "List",
    "items": [
        {
            "apiVersion": KUEUE,
            "kind": "LocalQueue",
            "metadata": {"namespace": "team-a", "name": "lq"},
            "spec": {"clusterQueue": "team-a"},
        }
    ],
}


def job(name: str, labels: dict[str, str]) -> dict[str, object]:
    """A Job of one GPU, which says so as 1000m; its pod ends at once when it is told to."""
    amount = {GPU: "1000m", "cpu": "0.1", "memory": "64Mi"}
    container = {
        "name": "main",
        "image": "busybox:1.36",
        "command": ["sh", "-c", "trap exit TERM; sleep 99999 & wait"],
        "resources": {"limits": amount, "requests": amount},
    }
    return {
        "apiVersion": "batch/v1",
        "kind": "Job",
        "metadata": {"name": name, "namespace": "team-a", "labels": labels},
        "spec": {
            "parallelism": 1,
            "template": {"spec": {"restartPolicy": "OnFailure", "containers": [container]}},
        },
    }


def lay(lab: Lab, name: str, content: object) -> None:
    (lab.workspace / name).write_text(json.dumps(content, indent="\t"), encoding="utf-8")


def create(lab: Lab, name: str, content: object) -> None:
    lay(lab, name, content)
    lab.shell(f"kubectl create -f {name}")


def passes(lab: Lab, step: int) -> None:
    said = lab.run("check", str(step))
    assert said.code == 0, str(said)


def queued(lab: Lab) -> str:
    """The whole QuotaReserved condition of train-3's Workload, as JSON; empty when not there."""
    uid = lab.shell("kubectl -n team-a get job train-3 -o jsonpath='{.metadata.uid}'")
    path = '{.items[*].status.conditions[?(@.type=="QuotaReserved")]}'
    return lab.shell(
        f"kubectl -n team-a get workloads.kueue.x-k8s.io -l kueue.x-k8s.io/job-uid={uid} "
        f"-o jsonpath='{path}'"
    )


@pytest.mark.full
def test_another_spelling_passes_every_step(untouched: Lab) -> None:
    lab = untouched
    lab.workspace.mkdir(exist_ok=True)
    create(lab, "flavor.yaml", FLAVOR)
    passes(lab, 1)
    create(lab, "cq.yaml", CLUSTER_QUEUE)
    passes(lab, 2)
    create(lab, "lq.yaml", LOCAL_QUEUE)
    passes(lab, 3)
    create(lab, "job-1.yaml", job("train-1", LABEL))
    passes(lab, 4)
    create(lab, "second.json", job("train-2", LABEL))
    lab.shell("kubectl -n team-a wait --for=jsonpath='{.spec.suspend}'=false job/train-2")
    create(lab, "third.json", job("train-3", LABEL))
    wait_until(lambda: None if queued(lab) else say("no condition yet"), within=20)
    (lab.workspace / "waiting.txt").write_text(queued(lab), encoding="utf-8")
    passes(lab, 5)
    create(lab, "free.json", job("sneaky", {"team": "a"}))
    (lab.workspace / "bypass.txt").write_bytes(
        b"\xef\xbb\xbfworkload = none\r\nsuspended = False\r\n"
    )
    passes(lab, 6)
    lay(lab, "usage.json", {"gpu_reserved": "2", "pending": 1, "admitted": 2, "seen": "by hand"})
    passes(lab, 7)
    lab.shell("kubectl -n team-a delete job train-1 --wait=false")
    passes(lab, 8)
    report = lab.check("all")
    assert [step["verdict"] for step in report["steps"]] == ["PASS"] * len(STEPS)
    assert not any(step["solved"] for step in report["steps"])


def test_a_check_right_after_the_command_waits_for_what_is_on_its_way(untouched: Lab) -> None:
    """Nothing is waited for between command and check: what comes by itself is not a failure."""
    for number in (1, 2, 3):
        untouched.done("solve", str(number), "--yes")
    create(untouched, "job-1.yaml", job("train-1", LABEL))
    passes(untouched, 4)

    def missing() -> Message | None:
        listed = untouched.shell("kubectl -n team-a get pods --no-headers")
        return None if "Running" in listed else say("{listed}", listed=listed)

    wait_until(missing, within=5)
