"""What somebody has changed on the machine is as it should be after the next provision."""

from __future__ import annotations

import pytest

from tests.integration.vm.site import Site

pytestmark = [pytest.mark.vm, pytest.mark.full, pytest.mark.timeout(900)]

LABEL = "nvidia.com/gpu.present"
SETTINGS = "/etc/rancher/k3s/config.yaml"


def test_drift_is_mended_by_a_run(provisioned: Site):
    before = provisioned.done(f"cat {SETTINGS}")
    provisioned.done(
        f"kubectl label node --all {LABEL}-;"
        "kubectl -n kueue-system scale deploy kueue-controller-manager --replicas=0;"
        f"echo 'protect-kernel-defaults: true' >>{SETTINGS};"
        "systemctl disable --now gpu-queue-lab-page"
    )
    mended = provisioned.provision("provision after drift")
    roles = {name.split(" : ")[0] for name in mended.changed}
    assert roles == {"k3s", "gpus", "kueue", "grader"}, mended.changed
    assert provisioned.done(f"cat {SETTINGS}") == before
    (node,) = provisioned.kubectl("get", "nodes")["items"]
    assert node["metadata"]["labels"][LABEL] == "true"
    kueue = provisioned.kubectl("-n", "kueue-system", "get", "deploy", "kueue-controller-manager")
    assert kueue["spec"]["replicas"] == kueue["status"]["availableReplicas"] == 1
    page = provisioned.host.service("gpu-queue-lab-page")
    assert page.is_running
    assert page.is_enabled
    assert provisioned.lab.status()["ready"]


def test_mended_machine_is_left_alone(provisioned: Site):
    assert provisioned.provision("provision, nothing to mend").changed == ()
