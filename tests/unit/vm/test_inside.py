"""The target inside: what it remembers, what it runs as a service, and what it refuses.

`systemctl` and `kubectl` are programs of the test; a real machine is in tests/integration/vm.
"""

import json
from pathlib import Path

import pytest

from lab.places import PAGE_PROGRAM, Places
from provision.errors import LabError, TargetError, UsageError
from provision.settings import Settings
from provision.state import load_state
from provision.target import silent
from provision.vm.inside.clearing import ENDED_FIRST, Clearing
from provision.vm.inside.facts import PORTS, deployments_of, kueue_note, read_facts, units_of
from provision.vm.inside.logs import copy_log
from provision.vm.inside.looking import node_trouble
from provision.vm.inside.target import InsideTarget
from provision.vm.inside.units import Systemd
from provision.vm.kubectl import Kubectl

FACTS = {
    "schema": 1,
    "lab": "kueue_quota",
    "kubeconfig": "/etc/rancher/k3s/k3s.yaml",
    "tools": "/usr/local/bin",
    "node": "gpu-node-0",
    "gpus": 4,
    "versions": {"k3s": "v1.36.3+k3s1", "kubernetes": "v1.36.3", "kueue": "v0.20.3"},
}


def write(file: Path, facts) -> Path:
    file.write_text(facts if isinstance(facts, str) else json.dumps(facts))
    return file


@pytest.fixture
def target(tmp_path):
    program = tmp_path / "systemctl"
    program.write_text(f'#!/bin/sh\necho "$*" >> {tmp_path}/asked\necho ActiveState=active\n')
    program.chmod(0o755)
    facts = write(tmp_path / "target.json", FACTS | {"tools": str(tmp_path)})
    place = Places({"LAB_HOME": str(tmp_path / "h"), "LAB_CACHE": "/c"}, is_root=False).open()
    spec = place.target._spec
    return InsideTarget(spec, Settings(cache=tmp_path), facts=facts, systemd=Systemd(str(program)))


def test_settling_is_done_once(target, tmp_path):
    home = tmp_path / "h" / "kueue_quota"
    assert target.settle() is True
    first = load_state(home)
    assert (first.kind, dict(first.ports)) == ("inside", dict(PORTS))
    assert target.settle() is False
    assert load_state(home) == first
    life = (home / "cluster.id").read_text()
    assert life.strip()
    assert (home / "gsb-kueue").is_dir()


def test_other_versions_are_taken_up_and_the_place_stays_the_same(target, tmp_path):
    target.settle()
    before = load_state(tmp_path / "h" / "kueue_quota")
    versions = {**FACTS["versions"], "kueue": "v0.20.4"}
    write(tmp_path / "target.json", FACTS | {"versions": versions})
    assert target.settle() is True
    after = load_state(tmp_path / "h" / "kueue_quota")
    assert after.id == before.id
    assert after.versions["kueue"] == "v0.20.4"
    assert "v0.20.4" in str(target.info().note)
    assert target.info().name == "vm"  # a verdict says the same in there and outside


def test_services_run_what_the_lab_says(target, tmp_path):
    home = tmp_path / "h" / "kueue_quota"
    module, arguments = target.arguments("recorder")
    assert module == "checks.recording"
    assert f"--history={home}/history.jsonl" in arguments
    assert f"--port={PORTS['recorder']}" in arguments
    assert "--namespace=team-a" in arguments
    assert target.arguments("page") == (
        PAGE_PROGRAM.module,
        (f"--home={home}", f"--port={PORTS['page']}"),
    )
    with pytest.raises(UsageError):
        target.arguments("kueue")


def test_the_machine_is_not_taken_down_from_inside(target):
    for refused in (target.down, target.destroy):
        with pytest.raises(TargetError) as caught:
            refused(silent)
        assert "outside" in str(caught.value.next_move)


def test_before_it_was_provisioned_all_is_a_clear_error(target, tmp_path):
    for ask in (target.info, target.examine, lambda: target.reset(silent)):
        with pytest.raises(LabError) as caught:
            ask()
        assert "outside" in str(caught.value.next_move)
    assert target.status().is_provisioned is False
    assert not (tmp_path / "asked").exists()


def test_the_logs_there_are_named(target):
    for name in ("nonsense", ""):
        with pytest.raises(UsageError) as caught:
            target.log_path(name)
        assert "k3s, page, recorder, kueue" in str(caught.value.what)


def test_a_lab_with_parts_has_its_services_and_deployments():
    parts = ("jobset", "platform")
    assert set(units_of(parts)) - set(units_of(())) == {"gpu-queue-lab-platform.service"}
    assert set(deployments_of(())) == {"kueue"}
    assert deployments_of(parts)["jobset"] == ("jobset-system", "jobset-controller-manager")
    assert "trainer" not in deployments_of(parts)


def test_logs_of_a_labs_parts_are_named(tmp_path):
    with pytest.raises(UsageError, match="k3s, page, recorder, platform, kueue, trainer"):
        copy_log("nonsense", tmp_path, Systemd(), never, ("platform", "trainer"))


def never() -> Kubectl:
    raise AssertionError


def test_what_makes_jobs_anew_goes_before_them(tmp_path):
    program = tmp_path / "kubectl"
    program.write_text(f'#!/bin/sh\nshift\necho "$*" >> {tmp_path}/asked\n')
    program.chmod(0o755)
    kubectl = Kubectl(program, tmp_path / "kubeconfig")
    Clearing(kubectl, ("team-b",), silent, 0.0, ENDED_FIRST).run()
    asked = (tmp_path / "asked").read_text().splitlines()
    deleted = [line.split()[1] for line in asked if line.startswith("delete")]
    first = [name for name in deleted if name in ENDED_FIRST]
    assert first == list(ENDED_FIRST)
    jobs = next(n for n, kinds in enumerate(deleted) if "jobs" in kinds.split(","))
    assert max(deleted.index(name) for name in ENDED_FIRST) < jobs


@pytest.mark.parametrize(
    "broken",
    [
        "",
        "[]",
        "{",
        json.dumps(FACTS | {"schema": 2}),
        json.dumps(FACTS | {"gpus": "many"}),
        json.dumps({k: v for k, v in FACTS.items() if k != "node"}),
        json.dumps(FACTS | {"versions": 1}),
    ],
)
def test_damaged_facts_are_said_to_be(tmp_path, broken):
    file = write(tmp_path / "target.json", broken)
    with pytest.raises(TargetError) as caught:
        read_facts(file)
    assert "damaged" in str(caught.value.what)


def test_where_there_are_none_this_is_no_machine_of_the_lab(tmp_path):
    with pytest.raises(TargetError) as caught:
        read_facts(tmp_path / "none")
    assert "TARGET=vm" in str(caught.value.next_move)


def test_a_node_must_be_ready_and_offer_all_its_gpus():
    def node(ready, gpus):
        ready = [{"type": "Ready", "status": ready, "message": "PLEG"}]
        return {"status": {"conditions": ready, "allocatable": {"nvidia.com/gpu": gpus}}}

    assert node_trouble(node("True", "4"), 4) is None
    assert "0 of 4" in str(node_trouble(node("True", "0"), 4))
    assert "PLEG" in str(node_trouble(node("Unknown", "4"), 4))
    assert node_trouble({}, 4) is not None


def test_the_kueue_that_the_labs_are_written_for_needs_no_note():
    assert kueue_note(FACTS["versions"]) is None
    assert "v0.19.2" in str(kueue_note({"kueue": "v0.19.2"}))
