"""`lab why` as a person runs it: ten situations, both languages, one screen, its exit codes."""

from __future__ import annotations

import os
import signal

import pytest

from lab.text import width
from provision.message import say
from provision.waiting import wait_until
from tests.conftest import Surroundings
from tests.integration.cli import Lab, Said
from tests.integration.local.why_world import (
    GPU,
    LABEL,
    QUEUES,
    World,
    cluster_queue,
    flavor,
    job,
    local_queue,
)
from tests.schemas import validate

pytestmark = [pytest.mark.integration, pytest.mark.timeout(120, func_only=True)]

HOLDERS = (job("train-1"), job("train-2"))
SMALL = {"cpu": "2", "memory": "2Gi", GPU: "1"}
# What is there beside train-3, the cause, and a word of its sentence.
SITUATIONS = {
    "quota": ([*QUEUES, *HOLDERS, job("train-3")], "quota", "held by train-1"),
    "label": ([*QUEUES, job("train-3", labels={})], "unqueued", "no queue label"),
    "local-queue": ([*QUEUES, job("train-3", labels={LABEL: "qq"})], "no-queue", "LocalQueue qq"),
    "stopped": (
        [flavor(), cluster_queue(stopPolicy="Hold"), local_queue(), job("train-3")],
        "stopped",
        "stopPolicy: Hold",
    ),
    "inactive": ([*QUEUES[1:], job("train-3")], "inactive", "FlavorNotFound"),
    "selector": (
        [flavor(), cluster_queue(namespaceSelector=None), local_queue(), job("train-3")],
        "namespace-selector",
        "no namespaceSelector",
    ),
    "not-covered": (
        [flavor(), cluster_queue(quota={GPU: "2"}), local_queue(), job("train-3")],
        "not-covered",
        "does not cover",
    ),
    "flavor": (
        [flavor(labels={"zone": "a"}), *QUEUES[1:], job("train-3", nodeSelector={"zone": "b"})],
        "no-flavor",
        "zone=b",
    ),
    "too-large": ([*QUEUES, job("train-3", gpus=3)], "never-fits", "never fits"),
    "hardware": (
        [
            flavor(),
            cluster_queue(quota={**SMALL, GPU: "9"}),
            local_queue(),
            job("train-3", gpus=9),
        ],
        "node-too-small",
        "4 of 4 nvidia.com/gpu free, 9 asked",
    ),
}


@pytest.fixture(scope="module")
def cli(why_place: World, surroundings: Surroundings) -> Lab:
    """The command line on the same place."""
    return Lab(surroundings(why_place.place.root))


def settled(cli: Lab, cause: str) -> Said:
    """The JSON answer about train-3 once it names that cause."""
    said: list[Said] = []

    def missing():
        said.append(cli.run("why", "train-3", "--json"))
        found = said[-1].json()["cause"] if said[-1].code == 0 else str(said[-1])
        return None if found == cause else say("{found}", found=found)

    wait_until(missing, within=15, every=0.2)
    return said[-1]


@pytest.mark.parametrize("name", SITUATIONS)
def test_why_train_3(world: World, cli: Lab, name: str):
    manifests, cause, word = SITUATIONS[name]
    world.apply(*manifests)
    data = settled(cli, cause).json()
    validate("why", data)
    assert word in data["why"]
    assert (data["kind"], data["namespace"], data["trouble"]) == ("Job", "team-a", None)
    for language, label in (("en", "next"), ("ko", "다음")):
        said = cli.done("why", "train-3", LAB_LANG=language, COLUMNS="80")
        lines = said.out.splitlines()
        assert len(lines) <= 24
        assert max(width(line) for line in lines) <= 80
        assert any(line.strip().startswith(label) for line in lines)


def test_exit_codes(world: World, cli: Lab):
    world.apply(*QUEUES, job("train-3", gpus=3))
    missing = cli.run("why", "trian-3")
    assert (missing.code, missing.out) == (2, "")
    assert "Did you mean train-3?" in missing.err
    assert cli.run("why").code == 2
    assert cli.run("why", "train-3", "-n", "team-b").code == 2


def test_a_component_that_is_down_is_said(world: World, cli: Lab):
    world.apply(*QUEUES, job("train-3", gpus=3))
    settled(cli, "never-fits")
    pid = cli.component("kueue")["pid"]
    os.kill(pid, signal.SIGSTOP)
    try:
        said = cli.run("why", "train-3")
        assert said.code == 3, str(said)
        assert "Not ready: kueue" in said.out
    finally:
        os.kill(pid, signal.SIGCONT)
    wait_until(lambda: None if cli.status()["ready"] else say("not ready"), within=30)
