"""Reset: the learner's things are gone, the machine and what was put on it stay."""

from __future__ import annotations

import pytest

from tests.integration.vm.site import Site, verdicts

pytestmark = [pytest.mark.vm, pytest.mark.full, pytest.mark.timeout(600)]


def test_reset_brings_the_lab_back_to_its_start(solved: Site):
    solved.done("echo 'mine' >/root/gsb-kueue/notes.txt")
    since = solved.done("systemctl show k3s --property=ExecMainPID")
    with solved.stages.measure("reset"):
        said = solved.lab.done("reset", "--yes", within=300)
    outside, inside = solved.lab.check("all"), solved.check_inside("all")
    assert outside["verdict"] == inside["verdict"] == "NOT YET"
    assert verdicts(outside) == verdicts(inside)
    assert {step["passed_at"] for step in (*outside["steps"], *inside["steps"])} == {None}
    for kind in ("jobs", "localqueues", "workloads", "pods"):
        assert solved.kubectl("-n", "team-a", "get", kind)["items"] == [], kind
    assert solved.kubectl("get", "clusterqueues")["items"] == []
    assert not solved.host.file("/root/gsb-kueue/notes.txt").exists
    saved = "/root/.local/state/gpu-queue-lab/kueue_quota/saved"
    assert solved.done(f"cat {saved}/*-reset/notes.txt") == "mine\n"
    (file,) = solved.done(f"ls {saved}/*-reset/notes.txt").split()
    assert file.removesuffix("/notes.txt") in said.out
    assert solved.done("systemctl show k3s --property=ExecMainPID") == since


def test_lab_is_solved_again_after_a_reset(provisioned: Site):
    with provisioned.stages.measure("solve all after a reset"):
        provisioned.solve_all()
