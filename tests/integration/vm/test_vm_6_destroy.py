"""Destroy: a machine that was given is as it was before, and nothing stays with who gave it."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.integration.vm.site import Site, processes_of

pytestmark = [pytest.mark.vm, pytest.mark.full, pytest.mark.timeout(600)]


def test_destroy_takes_everything_off(provisioned: Site, pristine: frozenset[str]):
    with provisioned.stages.measure("destroy"):
        provisioned.lab.done("destroy", "--yes", within=300)
    assert not provisioned.home.exists()
    assert processes_of(Path(provisioned.lab.variables["LAB_HOME"])) == []
    now = provisioned.snapshot()
    assert "\n".join(sorted(now - pristine)) == ""
    assert "\n".join(sorted(pristine - now)) == ""
    assert provisioned.done("ps -eo comm= | grep -E 'k3s|kube|etcd|containerd|lab' || :") == ""
    assert (
        provisioned.done(
            "grep -E ' /(run/k3s|var/lib/kubelet/|var/lib/rancher/)' /proc/mounts || :"
        )
        == ""
    )
    assert provisioned.done("ls /sys/class/net").split() == ["host0", "lo"]
    assert provisioned.done("find /sys/fs/cgroup -name kubepods") == ""
