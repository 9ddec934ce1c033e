"""waiting.txt, bypass.txt, usage.json as people write them: real output of kubectl, judged live."""

from __future__ import annotations

import json
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest
import yaml

from checks.kit.cluster import Cluster
from checks.kit.expect import Patience
from checks.kit.files import Files
from checks.kit.host import FileKind, Found
from checks.kit.typed import build
from checks.kueue_quota.facts import Facts
from checks.kueue_quota.test_step_5_waiting import test_waiting_file as check_waiting
from checks.kueue_quota.test_step_6_bypass import test_bypass_file as check_bypass
from checks.kueue_quota.test_step_7_ledger import test_ledger_true as check_ledger
from checks.outcome import Mismatch
from checks.reasons.cause import Cause
from checks.scene import Scene
from checks.watch import Watch
from lab.catalog import load_lab
from tests.integration.local.why_world import QUEUES, World, job

pytestmark = [pytest.mark.integration, pytest.mark.full, pytest.mark.timeout(120, func_only=True)]

KIND = "workloads.kueue.x-k8s.io"
ONE = "{.status.conditions[?(@.type=='QuotaReserved')]%s}"


@dataclass(frozen=True, slots=True)
class Texts:
    """The lab after step 6, with one more Job that can never fit, and what kubectl tells of it."""

    world: World
    names: dict[str, str]

    def tell(self, *command: str) -> str:
        return self.world.place.kubectl("-n", "team-a", *command)

    def judge(self, check: Callable[..., object], text: str) -> str:
        """What the check says about a file with this text; empty when it passes."""
        lab = build(Facts, load_lab("kueue_quota").facts)
        cluster = Cluster(self.world.place.home / "grader.kubeconfig")
        watch = Watch(Scene(cluster, lab.namespace, lab.api_version), Patience(5))
        try:
            check(watch=watch, files=Files(_Desk(text.encode())), lab=lab)
        except Mismatch as mismatch:
            found = mismatch.finding
            return f"{found.looked_at} | {found.expected} | {found.found} | {found.next_move}"
        return ""

    def waiting(self, text: str) -> str:
        return self.judge(lambda **given: check_waiting(**given, evidence=_nothing), text)

    def bypass(self, text: str) -> str:
        return self.judge(lambda **given: check_bypass(**given, evidence=_nothing), text)

    def usage(self, text: str) -> str:
        return self.judge(
            lambda **given: check_ledger(**given, evidence=_nothing, past=_nothing), text
        )


class _Desk:
    folder = Path("/w")

    def __init__(self, content: bytes) -> None:
        self._content = content

    def read(self, _name: str) -> Found:
        return Found(FileKind.FILE, self._content, len(self._content), int(time.time()))


def _nothing(_: object) -> None:
    return None


@pytest.fixture(scope="module")
def texts(why_place: World) -> Iterator[Texts]:
    world = why_place
    world.apply(*QUEUES, job("train-1"), job("train-2"), job("sneaky", labels={}))
    for name in ("train-1", "train-2"):
        world.wait(name, Cause.RUNNING)
    world.apply(job("train-3"))
    world.why("train-3", Cause.QUOTA)
    world.apply(job("huge", gpus=3))
    world.why("huge", Cause.NEVER_FITS)
    world.apply(job("train-4", amounts={"nvidia.com/gpu": 1, "cpu": "50m", "memory": "32Mi"}))
    world.why("train-4", Cause.QUOTA)
    items = world.place.get(KIND, "-n", "team-a")["items"]
    owners = {w["metadata"]["ownerReferences"][0]["name"]: w["metadata"]["name"] for w in items}
    yield Texts(world, owners)
    world.clean()


RIGHT = {
    "describe": lambda t, name: t.tell("describe", KIND, name),
    "yaml": lambda t, name: t.tell("get", KIND, name, "-o", "yaml"),
    "json": lambda t, name: t.tell("get", KIND, name, "-o", "json"),
    "json-of-one-condition": lambda t, name: t.tell(
        "get", KIND, name, "-o", f"jsonpath={ONE % ''}"
    ),
    "reason": lambda t, name: t.tell("get", KIND, name, "-o", f"jsonpath={ONE % '.reason'}"),
    "message": lambda t, name: t.tell("get", KIND, name, "-o", f"jsonpath={ONE % '.message'}"),
    "columns": lambda t, name: t.tell(
        *("get", KIND, name, "-o"),
        "custom-columns=NAME:.metadata.name,WHY:.status.conditions[*].reason",
    ),
    "events": lambda t, name: t.tell(
        "get", "events", "--field-selector", f"involvedObject.name={name}"
    ),
    "all-events": lambda t, _: t.tell("get", "events"),
    "conditions-as-yaml": lambda t, name: yaml.safe_dump(
        t.world.place.get(KIND, name, "-n", "team-a")["status"]["conditions"], width=60
    ),
    "sentence": lambda t, name: (
        "train-3는 쿼터 2장을 train-1과 train-2가 다 쥐고 있어 기다린다. 사유: "
        + t.tell("get", KIND, name, "-o", f"jsonpath={ONE % '.reason'}")
        + "이다.\n"
    ),
    "english-sentence": lambda t, name: (
        'The condition says: "'
        + t.tell("get", KIND, name, "-o", f"jsonpath={ONE % '.message'}").upper()
        + '", so it waits.'
    ),
    "spaces": lambda t, name: (
        "\n\n   "
        + t.tell("get", KIND, name, "-o", f"jsonpath={ONE % '.message'}").replace(" ", "   ")
        + "\t\n"
    ),
}


@pytest.mark.parametrize("how", RIGHT)
def test_the_own_words_of_train_3(texts: Texts, how: str):
    text = RIGHT[how](texts, texts.names["train-3"])
    assert text.strip(), "kubectl told nothing"
    assert texts.waiting(text) == "", text


@pytest.mark.parametrize("output", ["yaml", "json"])
@pytest.mark.parametrize("owner", ["train-1", "huge", "train-4"])
def test_words_of_another_workload(texts: Texts, owner: str, output: str):
    name = texts.names[owner]
    said = texts.waiting(texts.tell("get", KIND, name, "-o", output))
    assert f"another Workload, {name}" in said


@pytest.mark.parametrize(
    ("text", "word"),
    [
        ("GPU가 모자라서 기다립니다", "GPU가"),
        ("0/1 nodes are available: 1 Insufficient nvidia.com/gpu", "0/1 nodes"),
        ("Pending", "Pending"),
        ("WaitingForQuota, ExceedsMaxQuota, Misconfigured", "ExceedsMaxQuota"),
        ("train-3 is not WaitingForQuota", "denies"),
    ],
)
def test_a_guess_is_not_yet(texts: Texts, text: str, word: str):
    said = texts.waiting(text)
    assert word in said
    assert "QuotaReserved" in said


def test_output_that_holds_no_reason(texts: Texts):
    for text in (
        texts.tell("get", KIND),
        texts.tell("get", "jobs"),
        texts.tell("describe", "job", "train-3"),
    ):
        assert texts.waiting(text) != "", text


def test_bypass_from_kubectl(texts: Texts):
    suspended = texts.tell("get", "job", "sneaky", "-o", "jsonpath=suspended={.spec.suspend}")
    for text in (
        f"{suspended}\nworkload=none\n",
        f"# sneaky\n  {suspended.upper()}  \n\nWORKLOAD = None\n",
        f"workload=<none>\r\n{suspended}\r\n",
    ):
        assert texts.bypass(text) == ""
    assert "suspended=true" in texts.bypass("suspended=true\nworkload=none\n")
    assert "workload=none" in texts.bypass(f"{suspended}\nworkload={texts.names['train-1']}\n")


TEMPLATE = (
    'go-template={"admitted": {{.status.admittedWorkloads}}, '
    '"pending": {{.status.pendingWorkloads}}, "gpu_reserved": %s}'
)


def test_the_ledger_from_kubectl(texts: Texts):
    live = texts.tell("get", "clusterqueues.kueue.x-k8s.io", "team-a", "-o", TEMPLATE % '"2"')
    assert texts.usage(live) == ""
    written = json.loads(live)
    assert texts.usage(json.dumps({**written, "note": "가"}, indent="\t")) == ""
    for key, value in (("admitted", 3), ("pending", written["pending"] - 1), ("gpu_reserved", 3)):
        said = texts.usage(json.dumps({**written, key: value}))
        assert f"{key} {value}" in said
        assert "read the status of the ClusterQueue again" in said
    whole = texts.tell("get", "clusterqueues.kueue.x-k8s.io", "team-a", "-o", "json")
    assert "admitted, pending, gpu_reserved" in texts.usage(whole)


def test_a_stale_ledger_is_not_yet(texts: Texts):
    """Runs last: it takes one Job out of the line."""
    live = texts.tell("get", "clusterqueues.kueue.x-k8s.io", "team-a", "-o", TEMPLATE % "2")
    assert texts.usage(live) == ""
    before = json.loads(live)["pending"]
    texts.tell("delete", "job", "huge")
    said = ""
    texts.world.place.await_true(lambda: texts.usage(live) != "", 10, "the books change")
    said = texts.usage(live)
    assert f"pending {before - 1}" in said
    assert f"pending {before}" in said
