"""Why pods of a real node do not run; the statuses are as a kubelet wrote them."""

import pytest

from checks.explain import Cause
from checks.reasons.failures import why_any_failed, why_failed
from checks.reasons.pods import explain_pod
from checks.watching import read_pod


def pod(name="train-1-abcde", *, phase="Running", reason="", message="", created="1", **status):
    container = {"name": "trainer", "image": "busybox:1.36", "restartCount": 0, **status}
    return read_pod(
        {
            "metadata": {"name": name, "namespace": "team-a", "creationTimestamp": created},
            "spec": {
                "nodeName": "gpu-node-0",
                "containers": [
                    {"name": "trainer", "resources": {"limits": {"memory": "24Mi"}}},
                ],
            },
            "status": {
                "phase": phase,
                **({"reason": reason, "message": message} if reason else {}),
                "containerStatuses": [container] if status else [],
            },
        }
    )


def ended(reason, code, message=""):
    return {"terminated": {"reason": reason, "exitCode": code, "message": message}}


def waiting(reason, message=""):
    return {"waiting": {"reason": reason, "message": message}}


OOM = ended("OOMKilled", 137)
START = "failed to create shim task: runc create failed: unable to start container process: "
START += 'exec: "pyhton": executable file not found in $PATH'


@pytest.mark.parametrize(
    ("the_pod", "words", "move"),
    [
        (pod(phase="Failed", state=OOM), ["OOMKilled", "24Mi", "trainer"], "limits.memory"),
        (pod(state=waiting("CrashLoopBackOff"), lastState=OOM), ["OOMKilled"], "limits.memory"),
        (
            pod(phase="Pending", state=waiting("ImagePullBackOff")),
            ["busybox:1.36", "ImagePullBackOff"],
            "tag of the image",
        ),
        (pod(phase="Pending", state=waiting("ErrImagePull")), ["busybox"], "tag of the image"),
        (pod(phase="Failed", state=ended("StartError", 128, START)), ["pyhton"], "command"),
        (pod(phase="Failed", state=ended("Error", 3)), ["exit code 3"], "kubectl logs"),
        (
            pod(phase="Failed", reason="UnexpectedAdmissionError", message="Allocate failed"),
            ["gpu-node-0", "started again", "UnexpectedAdmissionError"],
            "submit it again",
        ),
        (
            pod(phase="Failed", reason="Evicted", message="The node was low on resource: memory."),
            ["gpu-node-0", "Evicted", "low on resource"],
            "submit it again",
        ),
    ],
)
def test_each_failure_names_its_cause_and_what_helps(the_pod, words, move):
    found = why_failed(the_pod)
    assert found is not None
    assert all(word in str(found.what) for word in words), str(found.what)
    assert move in str(found.move)


@pytest.mark.parametrize(
    "the_pod",
    [
        pod(state={"running": {}}),
        pod(phase="Pending", state=waiting("ContainerCreating")),
        pod(phase="Pending"),
        pod(phase="Succeeded", state=ended("Completed", 0)),
    ],
)
def test_what_runs_starts_or_ended_well_is_no_failure(the_pod):
    assert why_failed(the_pod) is None


def test_of_several_pods_the_newest_failure_counts():
    old = pod("old", phase="Failed", state=ended("Error", 1), created="2026-11-30T10:00:00Z")
    new = pod("new", phase="Failed", state=OOM, created="2026-11-30T10:01:00Z")
    running = pod("now", state={"running": {}}, created="2026-11-30T10:02:00Z")
    found = why_any_failed([new, running, old])
    assert found is not None
    assert "new" in str(found.what)
    assert why_any_failed([running]) is None


@pytest.mark.parametrize(
    ("reason", "cause"),
    [
        ("ErrImagePull", Cause.NO_IMAGE),
        ("InvalidImageName", Cause.NO_IMAGE),
        ("CrashLoopBackOff", Cause.CRASHING),
        ("RunContainerError", Cause.CRASHING),
    ],
)
def test_a_pod_without_its_image_has_not_crashed(reason, cause):
    assert explain_pod(None, pod(phase="Pending", state=waiting(reason))).cause is cause
