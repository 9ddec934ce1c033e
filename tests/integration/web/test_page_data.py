"""The page's data over a real place: the picture beside kubectl, checks from both sides, rest."""

from __future__ import annotations

import json
import os
import signal
import time
from collections.abc import Iterator
from datetime import UTC, datetime
from fractions import Fraction
from pathlib import Path
from typing import Any

import pytest

from checks.kit.quantities import parse_quantity
from lab.catalog import lab_slugs
from lab.places import Places
from lab.solving import play, read_answer
from provision.message import say
from provision.waiting import wait_until
from tests.integration.cli import Lab
from tests.integration.local.test_grader_cannot_write import calls
from tests.integration.web.conftest import open_link
from tests.integration.web.data import PageCalls, Stream
from tests.integration.web.kubectl import Kubectl, condition, is_true

pytestmark = [pytest.mark.integration, pytest.mark.timeout(240, func_only=True)]
GPU = "nvidia.com/gpu"


@pytest.fixture(scope="module")
def page(lab: Lab) -> PageCalls:
    """The page of a lab that nobody has begun."""
    lab.done("provision")
    lab.done("reset", "--yes")
    return PageCalls(open_link(lab))


@pytest.fixture
def stream(page: PageCalls) -> Iterator[Stream]:
    with page.listening() as stream:
        yield stream


@pytest.fixture(scope="module")
def kubectl(lab: Lab, page: PageCalls) -> Kubectl:
    return Kubectl(lab)


def by_kubectl(kubectl: Kubectl) -> dict[str, Any]:
    """What kubectl says of everything that the picture shows."""
    found = kubectl.get("workloads.kueue.x-k8s.io", "pods", "clusterqueues.kueue.x-k8s.io")
    live = [one for one in found["Workload"] if not is_true(one, "Finished")]
    line = sorted(
        (w for w in live if not is_true(w, "QuotaReserved")),
        key=lambda w: (
            -w["spec"].get("priority", 0),
            w["metadata"]["creationTimestamp"],
            w["metadata"]["uid"],
        ),
    )
    pods, (queue,) = found["Pod"], found["ClusterQueue"]
    books = queue["status"].get("flavorsReservation", [])
    reserved = {r["name"]: r.get("total", "0") for flavor in books for r in flavor["resources"]}
    return {
        "line": [
            (w["metadata"]["name"], condition(w, "QuotaReserved").get("reason")) for w in line
        ],
        "words": [condition(w, "QuotaReserved").get("message") for w in line],
        "holding": {w["metadata"]["name"] for w in live if is_true(w, "QuotaReserved")},
        "admitted": {w["metadata"]["name"] for w in live if is_true(w, "Admitted")},
        "gpus": {p["metadata"]["name"]: p["status"]["phase"] for p in pods if gpus(p)},
        "reserved": {name: parse_quantity(total) for name, total in reserved.items()},
    }


def gpus(pod: dict[str, Any]) -> int:
    has_ended = pod["status"]["phase"] in ("Succeeded", "Failed")
    containers = pod["spec"]["containers"]
    asked = sum(int(c["resources"].get("limits", {}).get(GPU, 0)) for c in containers)
    return 0 if has_ended or not pod["spec"].get("nodeName") else asked


def by_picture(picture: dict[str, Any]) -> dict[str, Any]:
    """The same, as the picture has it."""
    (queue,) = picture["queues"]
    slots = [slot for node in picture["nodes"] for slot in node["slots"]]
    return {
        "line": [(one["workload"], one["reason"]) for one in queue["waiting"]],
        "words": [one["message"] for one in queue["waiting"]],
        "holding": {one["workload"] for one in queue["holding"]},
        "admitted": {o["workload"] for o in queue["holding"] if o["state"] == "admitted"},
        "gpus": {slot["pod"]: slot["phase"] for slot in slots if slot["pod"]},
        "reserved": {r["name"]: parse_quantity(r["reserved"]) for r in queue["resources"]},
    }


def ledger(picture: dict[str, Any]) -> dict[str, bool]:
    """Who is on a GPU, and whether the ledger knows it."""
    slots = [slot for node in picture["nodes"] for slot in node["slots"]]
    return {slot["job"]: slot["in_ledger"] for slot in slots if slot["pod"]}


def where(picture: dict[str, Any], job: str) -> str:
    """Where a Job is seen: nowhere, in line, with quota, or with quota and on a GPU."""
    if not picture["queues"]:
        return ""
    queue = picture["queues"][0]
    if job in ledger(picture):
        return "gpu"
    if job in {one["job"] for one in queue["holding"]}:
        return "quota"
    return "line" if job in {one["job"] for one in queue["waiting"]} else ""


def test_through_the_steps_the_picture_equals_kubectl(
    lab: Lab, kubectl: Kubectl, stream: Stream
) -> None:
    first = stream.await_told("picture", lambda p: p["is_live"]).data
    assert first["queues"] == []
    assert [slot["pod"] for slot in first["nodes"][0]["slots"]] == [None] * 4
    place = Places(lab.variables, is_root=False).open("kueue_quota")
    for step in range(1, 9):
        play(place, place.lab.step(step), read_answer(place, place.lab.step(step)))
        if step >= 2:
            stream.settled("picture", lambda p: by_picture(p) == by_kubectl(kubectl), within=10)
        seen = stream.last("picture")
        if step == 5:
            assert [one["job"] for one in seen["queues"][0]["waiting"]] == ["train-3"]
            assert seen["queues"][0]["waiting"][0]["reason"] == "WaitingForQuota"
        if step in (6, 7):
            assert ledger(seen) == {"train-1": True, "train-2": True, "sneaky": False}
            assert by_picture(seen)["reserved"][GPU] == Fraction(2)
    assert ledger(seen) == {"train-3": True, "train-2": True, "sneaky": False}
    pictures = [one.data for one in stream.of("picture")]
    ways = list(dict.fromkeys(where(picture, "train-3") for picture in pictures))
    assert [way for way in ways if way] == ["line", "quota", "gpu"]
    assert not [one for one in stream.of("place") if not one.data["is_ready"]]
    # train-1's GPU is the one that train-3 has now, and the others kept theirs.
    slots = [[slot["job"] for slot in p["nodes"][0]["slots"]] for p in pictures]
    assert slots[-1] == ["train-3", "train-2", "sneaky", None]


def test_a_second_stream_shares_the_watches_of_the_first(lab: Lab, page: PageCalls) -> None:
    began = datetime.now(UTC).isoformat()[:19]
    with page.listening() as one, page.listening("ko") as other:
        one.await_told("picture", lambda p: p["is_live"])
        other.await_told("picture", lambda p: p["is_live"])
    assert not asked(lab, since=began)


def asked(lab: Lab, since: str) -> list[tuple[str, str]]:
    """What the account that looks has asked for but watches."""
    log = Path(lab.status()["home"]) / "logs" / "audit.log"
    return [
        (call["verb"], call.get("requestURI", ""))
        for call in calls(log)
        if call["verb"] != "watch" and call["requestReceivedTimestamp"] >= since
    ]


@pytest.mark.parametrize("seconds", [5, pytest.param(60, marks=pytest.mark.full)])
def test_rest_asks_for_no_list(lab: Lab, page: PageCalls, stream: Stream, seconds: int) -> None:
    stream.await_told("picture", lambda p: p["is_live"])
    wait_until(passes(1.5), within=5)
    began = datetime.now(UTC).isoformat()[:19]
    wait_until(passes(seconds), within=seconds + 5)
    assert asked(lab, since=began) == []
    assert stream.last("picture")["is_live"]
    assert seconds < 60 or stream.comments >= 3


def passes(seconds: float) -> Any:
    end = time.monotonic() + seconds
    return lambda: None if time.monotonic() >= end else say("time goes by")


def test_a_check_in_the_terminal_is_told_at_once(lab: Lab, page: PageCalls) -> None:
    with page.listening() as stream, page.listening("ko") as korean:
        stream.await_told("state", lambda _: True)
        before = attempts(stream.last("state"), 2)
        known = {one.data["graded_at"] for one in stream.of("verdict")}
        assert lab.run("check", "2").code == 0
        ended = time.monotonic()
        told = stream.await_told("verdict", lambda v: v["graded_at"] not in known)
        state = stream.settled("state", lambda s: attempts(s, 2) == before + 1)
        assert told.at - ended < 1
        assert (told.data["step"], told.data["by"]) == (2, "terminal")
        assert told.data["standing"]["verdict"] == state["steps"][1]["verdict"] == "PASS"
        as_json = lab.check(2)["steps"][0]
        assert told.data["standing"]["checks"][0]["title"] == as_json["checks"][0]["title"]
        title = korean.await_told("verdict", lambda v: v["graded_at"] not in known).data
        assert "ClusterQueue" in title["standing"]["title"]
        assert title["standing"]["title"] != told.data["standing"]["title"]


def attempts(state: dict[str, Any], step: int) -> int:
    return int(state["steps"][step - 1]["attempts"])


def test_a_check_of_the_page_tells_how_far_it_is_and_counts_once(
    lab: Lab, page: PageCalls, stream: Stream
) -> None:
    before = attempts(page.get("state"), 3)
    status, answer = page.call("POST", "check", {"step": 3})
    assert status == 202
    again, told = page.call("POST", "check", {"step": 4}, language="ko")
    assert (again, told["run"]) == (409, answer["run"])
    assert "3단계" in told["error"]
    stream.await_told("checking", lambda c: c["phase"] == "ended", within=40)
    events = [one.data for one in stream.of("checking")]
    assert {one["run"] for one in events} == {answer["run"]}
    assert events[0]["phase"] == "started"
    ran = [one for one in events if one["phase"] == "check"]
    assert {one["of"] for one in ran} == {len({one["id"] for one in ran})}
    assert all(one["outcome"] in (None, "passed") for one in ran)
    assert (events[-1]["outcome"], events[-1]["error"]) == ("PASS", None)
    verdict = next(i for i, o in enumerate(stream.events) if o.data.get("by") == "page")
    ended = next(i for i, o in enumerate(stream.events) if o.data.get("phase") == "ended")
    assert verdict < ended
    assert attempts(page.get("state"), 3) == before + 1
    assert lab.check(3)["steps"][0]["attempts"] == before + 2


def test_a_server_killed_in_the_middle_of_a_check_loses_nothing(lab: Lab, page: PageCalls) -> None:
    before = attempts(page.get("state"), 2)
    with page.listening() as stream:
        _, started = page.call("POST", "check", {"step": 2})
        stream.await_told("checking", lambda c: c["phase"] == "check", within=30)
        os.kill(int(lab.component("page")["pid"]), signal.SIGKILL)
    wait_until(lambda: None if page.is_ready() else say("not ready"), within=20, every=0.05)
    with page.listening() as stream:
        stream.settled("state", lambda s: attempts(s, 2) == before + 1, within=40)
        verdict = stream.settled("verdict", lambda v: v["by"] == "page" or v["step"] != 2)
        assert verdict["standing"]["verdict"] == "PASS"
        for event in stream.of("checking"):
            assert event.data["run"] == started["run"]
        wait_until(
            lambda: None if page.call("POST", "check", {"step": 2})[0] == 202 else say("runs"),
            within=20,
        )
        stream.settled("state", lambda s: attempts(s, 2) == before + 2, within=40)
    graded = [
        json.loads(line) for line in lab.progress.read_text().splitlines() if '"graded"' in line
    ]
    assert len({entry["id"] for entry in graded}) == len(graded)
    assert sum(entry["step"] == 2 for entry in graded) == before + 2


def test_texts_words_and_versions_come_in_both_languages(lab: Lab, page: PageCalls) -> None:
    english, korean = page.get("lab"), page.get("lab", "ko")
    assert english["words"].keys() == korean["words"].keys()
    assert (english["language"], korean["language"]) == ("en", "ko")
    assert [step["number"] for step in korean["steps"]] == list(range(1, 9))
    for told in (english, korean):
        assert all('<code class="language-sh">' in step["html"] for step in told["steps"][3:5])
        assert not any("<script" in step["html"] for step in told["steps"])
        assert told["target"]["versions"]["kueue"].startswith("v0.")
    assert english["steps"][0]["html"] != korean["steps"][0]["html"]


def test_files_are_shown_and_hostile_names_refused(lab: Lab, page: PageCalls) -> None:
    workspace = lab.workspace
    (workspace / "odd.yaml").symlink_to("/etc/passwd")
    (workspace / "x.html").write_text("<script>alert(1)</script>\n")
    try:
        names = [file["name"] for file in page.get("files")["files"]]
        assert "cq.yaml" in names
        assert "odd.yaml" not in names
        assert page.get("file?name=cq.yaml")["html"].count('<span class="line">') > 5
        assert "<script" not in page.get("file?name=x.html")["html"]
        for name in ("odd.yaml", "../place.json", "%2Fetc%2Fpasswd", "", ".."):
            status, answer = page.call("GET", f"file?name={name}", language="ko")
            assert status == 400, name
            assert "볼 수 없습니다" in answer["error"]
    finally:
        (workspace / "odd.yaml").unlink()
        (workspace / "x.html").unlink()


def test_the_labs_are_offered_and_how_to_come_to_them(page: PageCalls) -> None:
    status, answer = page.call("GET", "labs")
    assert status == 200
    rows = {row["lab"]: row for row in answer["labs"]}
    assert set(rows) == set(lab_slugs())
    here = rows.pop("kueue_quota")
    assert (here["is_here"], here["is_open"]) == (True, True)
    for slug, row in rows.items():
        assert (row["is_here"], row["is_open"]) == (False, False)
        assert row["command"] == f"make provision LAB={slug}"


def test_a_step_that_finds_nothing_is_laid_out_at_once(page: PageCalls) -> None:
    assert page.call("POST", "start", {"step": 2}) == (200, {"step": 2, "laid": []})
    status, lab = page.call("GET", "lab")
    assert status == 200
    assert [step["has_scene"] for step in lab["steps"]] == [False] * len(lab["steps"])


@pytest.mark.parametrize(
    ("method", "path", "data"),
    [
        ("POST", "check", {"step": 9}),
        ("POST", "check", {"step": True}),
        ("POST", "check", {}),
        ("POST", "check", [2]),
        ("POST", "hint", {"step": "x"}),
        ("POST", "start", {"step": 0}),
        ("GET", "hint?step=-1", None),
        ("GET", "hint", None),
    ],
)
def test_a_call_that_cannot_be_meant_gets_a_sentence(
    page: PageCalls, method: str, path: str, data: object
) -> None:
    status, answer = page.call(method, path, data)
    assert status == 400
    assert answer["error"]


def test_a_call_that_makes_no_sense_is_answered_all_the_same(page: PageCalls) -> None:
    for path in ("check", "hint", "start", "terminal"):
        status, answer = page.call("POST", path, b"[" * 100_000)
        assert (status, bool(answer["error"])) == (400, True)
    status, answer = page.call("GET", "lab?lang=%ff")
    assert (status, answer["language"]) == (200, "en")
