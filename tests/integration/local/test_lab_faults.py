"""A place that is broken or down: nothing is held against the learner, and it mends itself."""

import os
import signal
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from provision.message import Message, say
from provision.waiting import wait_until
from tests.integration.cli import STEPS, Lab

pytestmark = [pytest.mark.integration, pytest.mark.timeout(300, func_only=True)]
BACK_WITHIN = 10.0


def objects(lab: Lab) -> str:
    """Uids of all that the answers made, which no fault may change."""
    return lab.shell(
        "kubectl get jobs,pods,workloads.kueue.x-k8s.io,localqueues,clusterqueues,resourceflavors "
        "-A -o jsonpath='{range .items[*]}{.kind}/{.metadata.name} {.metadata.uid}{\"\\n\"}{end}'"
    )


def assert_cannot_tell(lab: Lab, step: int | str) -> None:
    said = lab.run("check", str(step), "--json")
    assert said.code == 3, str(said)
    for one in said.json()["steps"]:
        assert one["verdict"] == "CANNOT TELL", one
        errors = [check for check in one["checks"] if check["outcome"] == "error"]
        assert errors, one
        assert all(check["trouble"] for check in errors), one
        assert not any(check["outcome"] == "failed" for check in one["checks"]), one


@pytest.mark.parametrize("name", ["kube-apiserver", "etcd", "kueue"])
def test_a_killed_component_is_back_with_everything_in_place(solved: Lab, name: str) -> None:
    before = objects(solved)
    old = solved.component(name)["pid"]
    killed = time.monotonic()
    os.kill(old, signal.SIGKILL)

    def missing() -> Message | None:
        status = solved.status()
        pids = {one["name"]: one["pid"] for one in status["components"]}
        if status["ready"] and pids[name] != old:
            return None
        return say("{name}: {components}", name=name, components=status["components"])

    wait_until(missing, within=BACK_WITHIN)
    assert time.monotonic() - killed < BACK_WITHIN
    assert objects(solved) == before
    assert solved.run("check", "all").code == 0


@contextmanager
def paused(lab: Lab, name: str) -> Iterator[None]:
    """A component that is there and answers nothing."""
    pid = lab.component(name)["pid"]
    os.kill(pid, signal.SIGSTOP)
    try:
        yield
    finally:
        os.kill(pid, signal.SIGCONT)


@pytest.mark.full
def test_while_the_api_server_does_not_answer_nothing_is_told(solved: Lab) -> None:
    progress = solved.progress
    before = progress.read_bytes()
    with paused(solved, "kube-apiserver"):
        assert_cannot_tell(solved, "all")
    assert progress.read_bytes() == before
    assert solved.run("check", "all").code == 0


def test_right_after_the_api_server_died_nothing_is_told(solved: Lab) -> None:
    progress = solved.progress
    before = progress.read_bytes()
    os.kill(solved.component("kube-apiserver")["pid"], signal.SIGKILL)
    assert_cannot_tell(solved, 1)
    assert progress.read_bytes() == before
    wait_until(lambda: None if solved.status()["ready"] else say("not ready"), within=BACK_WITHIN)


def test_while_kueue_does_not_answer_nothing_is_told(solved: Lab) -> None:
    with paused(solved, "kueue"):
        assert_cannot_tell(solved, 8)


@pytest.mark.parametrize("which", ["gone", "broken"])
def test_without_a_kubeconfig_nothing_is_told(solved: Lab, which: str) -> None:
    kubeconfig = Path(solved.status()["kubeconfig"])
    before, progress = kubeconfig.read_bytes(), solved.progress.read_bytes()
    try:
        if which == "gone":
            kubeconfig.unlink()
        else:
            kubeconfig.write_text("clusters: [\n", encoding="utf-8")
        for step in (1, 8):
            said = solved.run("check", str(step))
            assert said.code == 3, str(said)
            assert "kubeconfig" in said.out
        assert solved.progress.read_bytes() == progress
    finally:
        kubeconfig.write_bytes(before)
        kubeconfig.chmod(0o600)


@pytest.mark.full
def test_a_place_that_is_down_tells_nothing_and_comes_back(solved: Lab) -> None:
    before, progress = objects(solved), solved.progress.read_bytes()
    solved.done("down")
    try:
        for step in STEPS:
            assert_cannot_tell(solved, step)
        assert solved.run("status").code == 3
        assert solved.progress.read_bytes() == progress
    finally:
        solved.done("provision")
    assert objects(solved) == before
    assert solved.run("check", "all").code == 0
