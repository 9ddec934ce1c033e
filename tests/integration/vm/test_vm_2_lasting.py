"""What lasts: the way to the page, and all that was there before k3s or the machine restarts."""

from __future__ import annotations

from typing import Any

import pytest

from provision.message import Message, say
from provision.waiting import wait_until
from tests.integration.vm.site import Site, verdicts
from tests.integration.web.calls import Calls
from tests.integration.web.conftest import open_link

pytestmark = [pytest.mark.vm, pytest.mark.full, pytest.mark.timeout(900)]


def test_page_is_reached_through_the_forward_with_its_token_only(solved: Site):
    with solved.stages.measure("page"):
        calls = Calls.by(open_link(solved.lab))
        assert calls.log_in()
        assert calls.get("/learn", **calls.by_token).status == 200
        turned_away = calls.get("/learn")
        assert turned_away.status == 302
        assert "/login" in str(turned_away.headers["Location"])
        assert calls.get("/learn", Authorization="token wrong").status in (302, 403)
        assert calls.get("/learn", **calls.by_token, Host="elsewhere.example").status == 403


def pods(site: Site) -> dict[str, Any]:
    found = site.kubectl("-n", "team-a", "get", "pods")["items"]
    return {pod["metadata"]["uid"]: pod["status"] for pod in found}


def await_all_pass(site: Site, within: float) -> None:
    """Wait until the lab stands as it stood, seen from outside and inside alike."""

    def missing() -> Message | None:
        looks = (site.lab.run("check", "all", "--json"), site.run("lab check all --json", 120))
        if all(said.code == 0 for said in looks):
            assert verdicts(looks[0].json()) == verdicts(looks[1].json())
            return None
        return say("{said}", said=[(said.code, said.out[-800:], said.err) for said in looks])

    wait_until(missing, within=within, every=2)


def await_gpus(site: Site, within: float) -> None:
    offered = r"kubectl get nodes -o jsonpath='{.items[0].status.allocatable.nvidia\.com/gpu}'"
    site.await_inside("GPUs", f'test "$({offered})" = 4', within)


def test_restart_of_k3s_leaves_pods_running(solved: Site):
    before = pods(solved)
    assert before
    with solved.stages.measure("restart of k3s"):
        solved.done("systemctl restart k3s", within=120)
        await_gpus(solved, 90)
        await_all_pass(solved, 180)
    after = pods(solved)
    assert after.keys() == before.keys()
    for uid, status in before.items():
        assert after[uid]["phase"] == status["phase"] == "Running"
        restarts = [s["containerStatuses"][0]["restartCount"] for s in (status, after[uid])]
        assert restarts[0] == restarts[1]


def test_reboot_comes_back_ready(solved: Site):
    with solved.stages.measure("reboot"):
        # k3s is active for some moments yet when the machine has been told to start anew.
        begun = "cut -d' ' -f22 /proc/1/stat"
        was = solved.done(begun).strip()
        solved.run("systemctl reboot", within=30)
        solved.await_inside("another start", f'test "$({begun})" != "{was}"', 120)
        solved.await_inside("k3s after the reboot", "systemctl is-active k3s", 120)
        await_gpus(solved, 120)
        await_all_pass(solved, 300)
    assert solved.lab.status()["ready"]
    for unit in ("gpu-queue-lab-page", "gpu-queue-lab-recorder"):
        assert solved.host.service(unit).is_running, unit
