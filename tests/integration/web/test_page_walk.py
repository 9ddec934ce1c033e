"""The whole way in a real browser: log in, work in the terminal, be graded, watch the queue."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import Browser

from tests.integration.cli import Lab
from tests.integration.web.kubectl import Kubectl, condition, is_true
from tests.integration.web.seat import Seat, shoot

pytestmark = [pytest.mark.integration]
FLAVOR = """cat > flavor.yaml <<'END'
apiVersion: kueue.x-k8s.io/v1beta2
kind: ResourceFlavor
metadata:
  name: fake-gpu
spec:
  nodeLabels:
    nvidia.com/gpu.present: "true"
END
"""
PRIORITY = "kueue.x-k8s.io/priority-class"
QUEUE = "workloads.kueue.x-k8s.io"


@pytest.fixture(scope="module")
def seat(browser: Browser, lab: Lab, link_anew: str) -> Iterator[Seat]:
    """The page of a lab that nobody has touched."""
    seat = Seat.take(browser, link_anew)
    yield seat
    seat.leave()


@pytest.fixture(scope="module")
def kubectl(browser: Browser, lab: Lab, link_anew: str) -> Kubectl:
    return Kubectl(lab)


def test_the_link_logs_in_and_is_not_kept_in_the_address(seat: Seat) -> None:
    assert "token" in seat.link
    assert seat.page.url.endswith("/learn")
    assert seat.text("#summary") == "0 of 8 steps passed"


def test_kubectl_answers_in_the_terminal(seat: Seat) -> None:
    seat.run("kubectl get clusterqueue", "No resources found")


def test_an_untouched_step_is_not_yet_and_says_what_was_expected_and_found(
    seat: Seat, lab: Lab
) -> None:
    assert seat.text("#check") == "Check step 1"
    text = seat.check("NOT YET")
    told = lab.check(1)["steps"][0]
    finding = next(check["finding"] for check in told["checks"] if check["outcome"] == "failed")
    for part in ("looked_at", "expected", "found", "next"):
        assert finding[part] in " ".join(text.split()), text
    assert "attempt" in seat.text("#step-facts")


def test_what_the_learner_types_there_solves_it(seat: Seat, lab: Lab, tmp_path: Path) -> None:
    seat.type(FLAVOR)
    seat.run("kubectl apply -f flavor.yaml", "resourceflavor.kueue.x-k8s.io/fake-gpu created")
    seat.check("PASS")
    assert "passed at" in seat.text("#step-facts")
    assert seat.text("#summary") == "1 of 8 steps passed"
    assert [step["verdict"] for step in lab.check("1")["steps"]] == ["PASS"]
    shoot(seat, "walk-step-1", tmp_path)


def test_a_check_in_the_terminal_shows_on_the_page_within_a_second(seat: Seat, lab: Lab) -> None:
    lab.done("solve", "2", "--yes")
    seat.await_true(lambda: seat.text("#summary") == "2 of 8 steps passed", "step 2 shows", 1)
    seat.open_step(2)
    assert seat.verdict == "PASS"
    seat.run("lab check 3 > /dev/null; echo code-$?", "code-1")
    seat.open_step(3)
    seat.await_true(lambda: seat.verdict == "NOT YET", "the verdict of the terminal", 1)


def test_the_picture_says_what_kubectl_says_through_all_steps(
    seat: Seat, lab: Lab, kubectl: Kubectl, tmp_path: Path
) -> None:
    for step in range(3, 9):
        lab.done("solve", str(step), "--yes")
        if step == 5:
            _more_wait(seat, kubectl, lab.workspace / "job-1.yaml")
        _agree(seat, kubectl)
        shoot(seat, f"walk-step-{step}", tmp_path)
        if step in (6, 7):
            assert [row["ledger"] for row in seat.rows("gpus") if row["job"] == "sneaky"] == [
                "not in the ledger"
            ]
    seat.await_true(lambda: seat.text("#summary") == "8 of 8 steps passed", "all passed", 2)
    assert "make report" in seat.text("#all-done")
    moves = seat.text("#moves")
    assert "train-3 left the line: got quota" in moves
    assert "train-3 took a GPU" in moves


def _more_wait(seat: Seat, kubectl: Kubectl, job: Path) -> None:
    """Two more Jobs in line, the later one with a higher priority: it stands in front."""
    urgent = {
        "apiVersion": "kueue.x-k8s.io/v1beta2",
        "kind": "WorkloadPriorityClass",
        "metadata": {"name": "urgent"},
        "value": 100,
    }
    first = json.loads(kubectl.run(f"create -f {job} --dry-run=client -o json"))
    things = [urgent]
    for name, labels in (("later", {}), ("urgent", {PRIORITY: "urgent"})):
        head = first["metadata"]
        labels = {**head["labels"], **labels}
        things.append({**first, "metadata": {**head, "name": name, "labels": labels}})
    both = json.dumps({"apiVersion": "v1", "kind": "List", "items": things})
    kubectl.run("apply -f -", both)
    try:
        _agree(seat, kubectl)
        line = [row["job"] for row in seat.rows("workloads") if "in line" in row["place"]]
        assert line == ["urgent", "train-3", "later"]
    finally:
        kubectl.run("-n team-a delete job later urgent")
        kubectl.run("delete workloadpriorityclass urgent")


def _agree(seat: Seat, kubectl: Kubectl) -> None:
    """The tables come to say the same as the API, soon."""
    wanted: dict[str, Any] = {}

    def is_same() -> bool:
        wanted.update(_by_kubectl(kubectl))
        return _on_page(seat) == wanted

    try:
        seat.await_true(is_same, "the picture agrees with kubectl", within=10, every=0.3)
    except Exception as error:
        raise AssertionError(f"page: {_on_page(seat)}\nkubectl: {wanted}") from error


def _on_page(seat: Seat) -> Mapping[str, object]:
    workloads = seat.rows("workloads")
    return {
        "holding": {row["workload"] for row in workloads if row["place"] == "admitted"},
        "line": [(r["workload"], _told(r["reason"])) for r in workloads if "in line" in r["place"]],
        "gpus": {(row["node"], row["pod"]) for row in seat.rows("gpus") if row["pod"] != "-"},
        "quota": {
            (row["queue"], row["resource"], row["nominal"], row["reserved"])
            for row in seat.rows("quota")
            if row["resource"] == "nvidia.com/gpu"
        },
    }


def _by_kubectl(kubectl: Kubectl) -> Mapping[str, object]:
    things = kubectl.get(QUEUE, "pods", "clusterqueues", where="-n team-a")
    alive = [one for one in things["Workload"] if not is_true(one, "Finished")]
    waiting = [one for one in alive if not is_true(one, "QuotaReserved")]
    waiting.sort(
        key=lambda one: (-one["spec"].get("priority", 0), one["metadata"]["creationTimestamp"])
    )
    return {
        "holding": {one["metadata"]["name"] for one in alive if is_true(one, "Admitted")},
        "line": [(one["metadata"]["name"], _reason(one)) for one in waiting],
        "gpus": {
            (pod["spec"]["nodeName"], pod["metadata"]["name"])
            for pod in things["Pod"]
            if pod["spec"].get("nodeName") and pod["status"]["phase"] in ("Pending", "Running")
        },
        "quota": {
            (queue["metadata"]["name"], "nvidia.com/gpu", "2", item["total"])
            for queue in things["ClusterQueue"]
            for flavor in queue["status"]["flavorsReservation"]
            for item in flavor["resources"]
            if item["name"] == "nvidia.com/gpu"
        },
    }


def _reason(one: Mapping[str, Any]) -> str:
    told = condition(one, "QuotaReserved")
    return f"{told['reason']}: {told['message']}" if told else ""


def _told(reason: str) -> str:
    """Kueue says nothing of a Workload of the same shape as one that waits; the page says so."""
    return "" if reason.startswith("Kueue says nothing about it") else reason


def test_a_reload_keeps_everything(seat: Seat) -> None:
    seat.open_step(6)
    seat.run("HERE=kept; cd /tmp; echo ready-$HERE", "ready-kept")
    before = seat.screen()
    seat.page.reload()
    seat.await_connected()
    seat.await_true(lambda: seat.screen() == before, "the same screen")
    assert seat.text("#step-count") == "Step 6 of 8"
    assert seat.verdict == "PASS"
    assert seat.text("#summary") == "8 of 8 steps passed"
    seat.run("echo $HERE-$PWD", "kept-/tmp")
    seat.run("cd - > /dev/null; clear; echo back", "back")


def test_nothing_was_refused_by_the_policy_and_nothing_went_wrong(seat: Seat) -> None:
    assert seat.violations == []
    assert seat.told == []
