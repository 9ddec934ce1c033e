"""What only a node of real containers can do: each trouble is told by its cause, there and here."""

from __future__ import annotations

import json
import shlex
import time

import pytest

from provision.message import Message, say
from provision.waiting import wait_until
from tests.integration.vm.site import Site

pytestmark = [pytest.mark.vm, pytest.mark.full, pytest.mark.timeout(600)]

OUT_OF_MEMORY = "head -c 100000000 /dev/zero | tail"
TROUBLES = {
    "oom": (["sh", "-c", OUT_OF_MEMORY], "busybox:1.36", ["OOMKilled", "24Mi"], "limits.memory"),
    "noimage": (["true"], "busybx:1.36", ["busybx:1.36", "cannot be had"], "tag of the image"),
    "nocommand": (["pyhton"], "busybox:1.36", ["pyhton", "cannot be started"], "command"),
    "wrong": (["sh", "-c", "exit 3"], "busybox:1.36", ["exit code 3"], "kubectl logs"),
}


def job(name: str, command: list[str], image: str) -> dict[str, object]:
    container = {
        "name": "trainer",
        "image": image,
        "command": command,
        "resources": {"limits": {"memory": "24Mi"}},
    }
    pod = {"restartPolicy": "Never", "containers": [container]}
    return {
        "apiVersion": "batch/v1",
        "kind": "Job",
        "metadata": {"name": name, "namespace": "team-a"},
        "spec": {"backoffLimit": 0, "template": {"spec": pod}},
    }


def apply(site: Site, *objects: dict[str, object]) -> None:
    listed = {"apiVersion": "v1", "kind": "List", "items": list(objects)}
    site.done(f"printf %s {shlex.quote(json.dumps(listed))} | kubectl apply -f -")


@pytest.fixture
def troubled(provisioned: Site):
    names = " ".join(TROUBLES)
    apply(provisioned, *(job(n, command, image) for n, (command, image, *_) in TROUBLES.items()))
    yield provisioned
    provisioned.done(f"kubectl -n team-a delete job {names}", within=90)


def test_each_trouble_is_told_by_its_cause(troubled: Site):
    for name, (_, _, words, move) in TROUBLES.items():

        def missing(name: str = name, words: list[str] = words, move: str = move) -> Message | None:
            report = troubled.lab.done("why", name, "--json").json()
            told = json.dumps(report)
            if all(word in told for word in (*words, move)):
                return None
            return say("{name}: {told}", name=name, told=told)

        wait_until(missing, within=90, every=1)
        told = " ".join(troubled.done(f"lab why {name}").split())
        assert all(word in told for word in words), told


def test_a_pod_that_hears_no_end_is_waited_for_and_a_reset_is_quicker(solved: Site):
    """PID 1 of a container has no handler of SIGTERM: a bare `sleep` is killed after 30 s."""
    apply(solved, job("bare", ["sleep", "3600"], "busybox:1.36"))
    running = "test $(kubectl -n team-a get job bare -o jsonpath='{.status.ready}') = 1"
    solved.await_inside("the Job bare", running, 60)
    began = time.monotonic()
    solved.done("kubectl -n team-a delete job bare --cascade=foreground", within=90)
    assert time.monotonic() - began > 15
    assert solved.lab.check("all")["verdict"] == "PASS"
    apply(solved, job("bare", ["sleep", "3600"], "busybox:1.36"))
    solved.await_inside("the Job bare", running, 60)
    solved.lab.done("reset", "--yes", within=300)
    assert solved.kubectl("-n", "team-a", "get", "pods")["items"] == []
