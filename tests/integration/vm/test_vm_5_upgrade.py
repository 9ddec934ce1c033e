"""Other versions in the bundle: the next provision brings them, and the learner's things stay."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.integration.vm.site import Site
from tests.machines.bundling import Versions, make_bundle
from tests.machines.manifests import kueue_image

pytestmark = [pytest.mark.full, pytest.mark.timeout(1200)]

# The programs in it are the same; it is the numbers that the roles go by.
NEWER = Versions(k3s="v1.36.3+k3s2", kueue="v0.19.3")


def test_newer_versions_are_brought(solved: Site, tmp_path: Path):
    queue = solved.kubectl("get", "clusterqueue", "team-a")["metadata"]["uid"]
    newer = str(make_bundle(tmp_path / "bundle", NEWER).folder)
    upgraded = solved.provision("provision with newer versions", BUNDLE=newer)
    roles = {name.split(" : ")[0] for name in upgraded.changed}
    assert {"k3s", "kueue"} <= roles, upgraded.changed
    versions = solved.lab.status()["versions"]
    assert (versions["kubernetes"], versions["kueue"]) == (NEWER.k3s, NEWER.kueue)
    assert NEWER.k3s in solved.done("k3s --version")
    kueue = solved.kubectl("-n", "kueue-system", "get", "deploy", "kueue-controller-manager")
    (container,) = kueue["spec"]["template"]["spec"]["containers"]
    assert container["image"] == kueue_image(NEWER.kueue)
    assert kueue["status"]["availableReplicas"] == 1
    assert solved.kubectl("get", "clusterqueue", "team-a")["metadata"]["uid"] == queue
    assert solved.lab.check("all")["verdict"] == "PASS"
    again = solved.provision("provision, newer versions again", BUNDLE=newer)
    assert again.changed == ()
