"""The second lab on a machine of its own, from nothing to taken off again, in the tests' order.

What it asks for beyond the first one comes by release manifests: JobSet, Trainer; and by the lab in
the machine: the platform's controller, its classes and policies.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

import pytest

from tests.conftest import Surroundings
from tests.integration.cli import Lab
from tests.integration.vm.site import Provision, Site, Stages, processes_of, verdicts
from tests.machines.booting import boot, halt
from tests.machines.bundling import make_bundle
from tests.machines.needs import missing

NAME, SUBNET, SLUG = "labtestc", 103, "gpu_preemption"
STEPS = range(1, 11)
PARTS = ("jobset", "trainer", "platform")
FORBIDDEN = """\
apiVersion: trainer.kubeflow.org/v1alpha1
kind: TrainJob
metadata: {name: not-here, namespace: team-b, labels: {kai.scheduler/queue: q}}
spec: {runtimeRef: {name: torch-distributed}}
"""

pytestmark = [pytest.mark.full, pytest.mark.timeout(1800)]


@pytest.fixture(scope="module")
def site(surroundings: Surroundings, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Site]:
    """A fresh machine, and one who has it for the second lab; nothing is provisioned yet."""
    if reasons := missing():
        pytest.skip("a machine for the vm target needs " + ", ".join(reasons))
    bundle = make_bundle(tmp_path_factory.mktemp("bundle") / "bundle", has_training=True).folder
    home = tmp_path_factory.mktemp("preemption")
    halt(NAME)
    machine = boot(NAME, SUBNET)
    variables = {
        **surroundings(home),
        "LAB": SLUG,
        "TARGET": "vm",
        "VM": "ssh",
        "HOST": f"root@{machine.address}",
        "KEY": str(machine.identity),
        "BUNDLE": str(bundle),
        "GPUS": "device-plugin",
    }
    site = Site(machine, bundle, Lab(variables), Stages(), SLUG)
    try:
        yield site
    finally:
        site.lab.run("down")
        left = halt(NAME)
    assert processes_of(home) == [], "left behind"
    assert left == (), "left behind"


@pytest.fixture(scope="module")
def pristine(site: Site) -> frozenset[str]:
    """What is on the machine before anything is put there."""
    return site.snapshot()


@pytest.fixture(scope="module")
def first(site: Site, pristine: frozenset[str]) -> Provision:
    """The first provision of the machine."""
    assert pristine
    return site.provision("provision, second lab")


@pytest.fixture
def provisioned(site: Site, first: Provision) -> Site:
    """The provisioned machine, in whatever state the test before left it."""
    assert first.changed
    return site


def refusal(site: Site) -> str:
    """What the API says of a TrainJob that goes past Kueue, by the learner's kubeconfig."""
    said = site.run(f"kubectl create -f - <<'END'\n{FORBIDDEN}END", within=60)
    assert said.code == 1
    return said.err


def test_parts_are_there_and_seen_from_both_sides(provisioned: Site):
    for status in (provisioned.lab.status(), provisioned.run("lab status --json").json()):
        ready = {row["name"]: row["ready"] for row in status["components"]}
        assert {name: ready.get(name) for name in PARTS} == dict.fromkeys(PARTS, True)
    classes = provisioned.kubectl("get", "workloadpriorityclasses")["items"]
    values = {item["metadata"]["name"]: item["value"] for item in classes}
    assert values == {"low": 100, "normal": 500, "high": 1000, "critical": 1500}
    config = provisioned.kubectl("-n", "kueue-system", "get", "cm", "kueue-manager-config")
    text = config["data"]["controller_manager_config.yaml"]
    assert "usageSamplingInterval: 1s" in text
    assert "trainer.kubeflow.org/trainjob" in text
    assert re.search(r"Kueue alone decides .* \[\w+-\w+\]", refusal(provisioned))


def test_second_run_changes_nothing(provisioned: Site):
    assert provisioned.provision("provision, second run").changed == ()


def test_platforms_controller_is_started_again(provisioned: Site):
    provisioned.done("systemctl kill --signal=KILL gpu-queue-lab-platform")
    provisioned.await_inside(
        "the platform", "curl -sf http://127.0.0.1:18082/readyz >/dev/null", within=60
    )


@pytest.mark.parametrize("step", STEPS)
def test_step_is_judged_alike_from_outside_and_inside(provisioned: Site, step: int):
    before = provisioned.lab.check(step)
    assert before["verdict"] != "PASS"
    assert verdicts(provisioned.check_inside(step)) == verdicts(before)
    inside = provisioned.solve(step)
    outside = provisioned.lab.check(step)
    assert (inside["verdict"], outside["verdict"]) == ("PASS", "PASS"), outside
    assert verdicts(inside) == verdicts(outside)


def test_reset_brings_back_what_lay_there_and_another_life(provisioned: Site):
    before = refusal(provisioned)
    provisioned.lab.done("reset", "--yes", within=300)
    assert provisioned.kubectl("get", "cwpc", "--all-namespaces")["items"] == []
    classes = provisioned.kubectl("get", "workloadpriorityclasses")["items"]
    assert {c["metadata"]["name"] for c in classes} == {"low", "normal", "high", "critical"}
    flavors = provisioned.kubectl("get", "resourceflavors")["items"]
    assert [flavor["metadata"]["name"] for flavor in flavors] == ["fake-gpu"]
    life = provisioned.done("cat /root/.local/state/gpu-queue-lab/gpu_preemption/cluster.id")
    assert life.strip()
    # Two words of 32 each: the same pair again is one chance in 1024.
    assert before.rpartition("[")[0] == refusal(provisioned).rpartition("[")[0]
    assert provisioned.lab.check(1)["verdict"] != "PASS"
    assert provisioned.solve(1)["verdict"] == "PASS"


def test_destroy_takes_all_off(provisioned: Site, pristine: frozenset[str]):
    provisioned.lab.done("destroy", "--yes", within=600)
    assert sorted(provisioned.snapshot() - pristine) == []
    assert sorted(pristine - provisioned.snapshot()) == []
