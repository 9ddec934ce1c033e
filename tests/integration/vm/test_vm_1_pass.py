"""One pass on a real machine: provision, the whole way of a learner over SSH, a second provision.

The tests stand in the order in which they are run; each leaves the machine to the next.
"""

from __future__ import annotations

import pytest

from tests.integration.cli import STEPS
from tests.integration.vm.site import ROLES, Provision, Site, verdicts

pytestmark = [pytest.mark.vm, pytest.mark.timeout(1800)]


def test_first_provision_tells_its_roles_and_what_it_brought(site: Site, first: Provision):
    for role in ROLES:
        assert any(name.startswith(f"{role} : ") for name in first.changed), role
        assert first.seconds_of(role) > 0
    status = site.lab.status()
    assert status["ready"]
    assert status["workspace"] == "/root/gsb-kueue"
    assert status["versions"]["kubernetes"] == "v1.36.3+k3s1"


def test_machine_is_as_it_must_be(provisioned: Site):
    host = provisioned.host
    for unit in ("k3s", "gpu-queue-lab-page", "gpu-queue-lab-recorder"):
        assert host.service(unit).is_running, unit
        assert host.service(unit).is_enabled, unit
    assert host.file("/etc/rancher/k3s/k3s.yaml").mode == 0o600
    assert host.file("/usr/local/bin/lab").is_symlink
    assert host.file("/root/gsb-kueue").is_directory
    for package in ("tmux", "python3-venv", "make", "nano"):
        assert host.package(package).is_installed, package
    # What a learner is not to find: a file of the answers, one of the kits.
    looked = host.run("find / -xdev -name job-1.yaml -o -xdev -name mutants.py")
    assert (looked.rc, looked.stdout) == (0, "")
    # The page listens on loopback alone.
    listening = {socket for socket in host.socket.get_listening_sockets() if "18080" in socket}
    assert listening == {"tcp://127.0.0.1:18080"}


def test_node_offers_four_gpus_and_kueue_is_available(provisioned: Site):
    (node,) = provisioned.kubectl("get", "nodes")["items"]
    assert node["status"]["allocatable"]["nvidia.com/gpu"] == "4"
    kueue = provisioned.kubectl("-n", "kueue-system", "get", "deploy", "kueue-controller-manager")
    assert kueue["status"]["availableReplicas"] == 1


@pytest.mark.parametrize("step", STEPS)
def test_step_is_judged_alike_from_outside_and_inside(provisioned: Site, step: int):
    with provisioned.stages.measure(f"step {step}: check, solve, check"):
        before = provisioned.lab.check(step)
        assert before["verdict"] == "NOT YET"
        assert verdicts(provisioned.check_inside(step)) == verdicts(before)
        inside = provisioned.solve(step)
        after = provisioned.lab.check(step)
        assert after["verdict"] == "PASS", after
        assert verdicts(inside) == verdicts(after)


def test_all_steps_stand_in_the_end(provisioned: Site):
    outside, inside = provisioned.lab.check("all"), provisioned.check_inside("all")
    assert outside["verdict"] == inside["verdict"] == "PASS"
    assert verdicts(outside) == verdicts(inside)
    said = provisioned.done("cd /root/gsb-kueue && make check STEP=8")
    assert "PASS" in said


def test_second_provision_changes_nothing(provisioned: Site):
    again = provisioned.provision("provision, second")
    assert again.changed == ()
    assert "nothing had to be changed" in again.said.out
