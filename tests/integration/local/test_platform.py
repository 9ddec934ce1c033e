"""The platform's own pieces in a real cluster: its classes, its controller and what it refuses."""

from __future__ import annotations

import os
import random
import re
import signal
import threading
from collections.abc import Iterator

import pytest

from lab.places import Places
from tests.conftest import Surroundings
from tests.integration.local.platform_place import (
    LAB,
    RESTARTED,
    PlatformPlace,
    claim,
    priority_class,
)

pytestmark = pytest.mark.integration

RIVALS = ("team", "team-b")
MARKS = ("kakaocloud.io/namespace", "kakaocloud.io/uid")
rounds = pytest.mark.parametrize(
    "times", [2, pytest.param(10, marks=pytest.mark.full)], ids=["twice", "10 times"]
)


@pytest.fixture(scope="module")
def up_place(
    surroundings: Surroundings, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[PlatformPlace]:
    root = tmp_path_factory.mktemp("platform")
    place = Places(surroundings(root), is_root=False).open(LAB)
    try:
        place.target.up(lambda _: None)
        up = PlatformPlace(place, root)
        up.kubectl("create", "namespace", "team")
        yield up
    finally:
        place.target.destroy(lambda _: None)


@pytest.fixture
def place(up_place: PlatformPlace) -> Iterator[PlatformPlace]:
    yield up_place
    up_place.clean()


def test_platform_brings_its_four_classes(place: PlatformPlace):
    values = {c["metadata"]["name"]: c["value"] for c in place.get("wpc")["items"]}
    assert values == {"low": 100, "normal": 500, "high": 1000, "critical": 1500}


def test_claim_gets_its_class_and_is_shown_as_in_the_document(place: PlatformPlace):
    place.apply(claim("team-b-urgent", "team-b", 1200, "retraining before the quarter ends"))
    place.await_row("team-b-urgent", "1200", "True", "Ready")
    header, row = place.kubectl("get", "cwpc", "-A").splitlines()
    assert header.split() == ["NAMESPACE", "NAME", "VALUE", "READY", "REASON", "AGE"]
    assert re.fullmatch(r"team-b +team-b-urgent +1200 +True +Ready +\d+s", row)
    made, asked = (
        place.class_of("team-b-urgent"),
        place.get("cwpc", "team-b-urgent", "-n", "team-b"),
    )
    assert made["value"] == 1200
    assert made["description"] == "retraining before the quarter ends"
    labels = {"kakaocloud.io/managed-by": "customworkloadpriorityclass"}
    assert made["metadata"]["labels"] == labels
    annotations = dict(zip(MARKS, ("team-b", asked["metadata"]["uid"]), strict=True))
    assert made["metadata"]["annotations"] == annotations
    # What kubectl keeps of what it applied is all that stands in the claim's annotations.
    assert list(asked["metadata"]["annotations"]) == [
        "kubectl.kubernetes.io/last-applied-configuration"
    ]
    assert asked["metadata"]["finalizers"] == ["kakaocloud.io/workloadpriorityclass"]


def test_taken_name_is_a_conflict_until_its_class_goes(place: PlatformPlace):
    place.apply(priority_class("team-b-batch", 250))
    place.apply(claim("team-b-batch", "team-b", 300))
    place.await_row("team-b-batch", "300", "False", "NameConflict")
    text = place.kubectl("describe", "cwpc", "team-b-batch", "-n", "team-b")
    assert re.search(r"Warning +NameConflict .*customworkloadpriorityclass-controller", text)
    assert place.class_of("team-b-batch")["value"] == 250
    place.kubectl("delete", "wpc", "team-b-batch")
    place.await_row("team-b-batch", "300", "True", "Ready")
    assert place.class_of("team-b-batch")["value"] == 300


def test_claim_without_a_class_goes_and_leaves_the_one_of_somebody_else(place: PlatformPlace):
    place.apply(priority_class("team-b-batch", 250))
    place.apply(claim("team-b-batch", "team-b", 300))
    place.await_row("team-b-batch", "300", "False", "NameConflict")
    place.kubectl("delete", "cwpc", "team-b-batch", "-n", "team-b", "--timeout=20s")
    assert place.class_of("team-b-batch")["value"] == 250


def test_deleting_a_claim_deletes_its_class(place: PlatformPlace):
    place.apply(claim("team-b-urgent", "team-b", 1200))
    place.await_row("team-b-urgent", "1200", "True", "Ready")
    place.kubectl("delete", "cwpc", "team-b-urgent", "-n", "team-b", "--timeout=20s")
    assert place.class_of("team-b-urgent") is None


def test_second_namespace_waits_for_the_name_and_gets_it(place: PlatformPlace):
    place.apply(claim("team-b-x", "team-b", 1))
    place.await_row("team-b-x", "1", "True", "Ready")
    place.apply(claim("team-b-x", "team", 2))
    place.await_row("team-b-x", "2", "False", "NameConflict", namespace="team")
    place.kubectl("delete", "cwpc", "team-b-x", "-n", "team-b", "--timeout=20s")
    place.await_row("team-b-x", "2", "True", "Ready", namespace="team")
    assert place.class_of("team-b-x")["value"] == 2


def test_what_is_done_to_the_class_by_hand_is_mended(place: PlatformPlace):
    place.apply(claim("team-b-urgent", "team-b", 1200))
    place.await_row("team-b-urgent", "1200", "True", "Ready")
    before = place.class_of("team-b-urgent")

    def is_right() -> bool:
        now = place.class_of("team-b-urgent")
        parts = ("labels", "annotations")
        return (
            bool(now)
            and now["value"] == 1200
            and all(now["metadata"].get(part) == before["metadata"][part] for part in parts)
        )

    place.patch("wpc", "team-b-urgent", value=9000)
    place.await_true("the value is not mended", is_right)
    place.patch("wpc", "team-b-urgent", metadata={"labels": None, "annotations": None}, value=1)
    place.await_true("the marks are not mended", is_right)
    assert place.class_of("team-b-urgent")["metadata"]["uid"] == before["metadata"]["uid"]
    place.kubectl("delete", "wpc", "team-b-urgent")
    place.await_true("the class is not made again", is_right)
    place.await_row("team-b-urgent", "1200", "True", "Ready")
    finalizers = ("cwpc", "team-b-urgent", "-n", "team-b")
    place.patch(*finalizers, metadata={"finalizers": None})
    place.await_true(
        "the finalizer is not there again",
        lambda: "finalizers" in place.get(*finalizers)["metadata"],
    )


def test_controller_that_may_do_only_what_its_account_may_is_enough(place: PlatformPlace):
    with place.paused(), place.second():
        place.apply(priority_class("team-b-batch", 250))
        place.apply(claim("team-b-urgent", "team-b", 1200), claim("team-b-batch", "team-b", 300))
        place.await_row("team-b-urgent", "1200", "True", "Ready")
        place.await_row("team-b-batch", "300", "False", "NameConflict")
        place.patch("cwpc", "team-b-urgent", "-n", "team-b", spec={"value": 900})
        place.await_true("no new value", lambda: place.class_of("team-b-urgent")["value"] == 900)
        place.kubectl("delete", "cwpc", "--all", "-n", "team-b", "--timeout=20s")
        assert place.class_of("team-b-urgent") is None


@rounds
def test_killed_at_any_moment_it_goes_on_where_it_was(place: PlatformPlace, times: int):
    dice = random.Random(7)
    for number in range(times):
        name = f"team-b-{number}"
        killer = threading.Timer(dice.uniform(0.0, 0.4), place.kill)
        killer.start()
        place.apply(claim(name, "team-b", number), claim(name, "team", number))
        killer.join()
        place.await_true("nobody has it", lambda name=name: _ready(place, name), RESTARTED)
        (owner,) = _ready(place, name)
        killer = threading.Timer(dice.uniform(0.0, 0.4), place.kill)
        killer.start()
        place.kubectl("delete", "cwpc", name, "-n", owner, "--timeout=60s")
        killer.join()
        (other,) = set(RIVALS) - {owner}
        place.await_row(name, str(number), "True", "Ready", namespace=other, within=RESTARTED)
        assert place.class_of(name)["metadata"]["annotations"][MARKS[0]] == other


@rounds
def test_of_two_namespaces_that_race_one_gets_the_name(place: PlatformPlace, times: int):
    """Two controllers, two claims at the same moment: one class, one READY, one conflict."""
    with place.second():
        for number in range(times):
            name = f"team-b-{number}"
            workers = [
                threading.Thread(target=place.apply, args=(claim(name, space, number),))
                for space in RIVALS
            ]
            for worker in workers:
                worker.start()
            for worker in workers:
                worker.join()
            place.await_true(
                "not both are told",
                lambda name=name: (
                    sorted(place.row(name, s)[-1] for s in RIVALS) == ["NameConflict", "Ready"]
                ),
            )
            (owner,) = _ready(place, name)
            assert place.class_of(name)["metadata"]["annotations"][MARKS[0]] == owner
            for space in RIVALS:
                reason = "Ready" if space == owner else "NameConflict"
                assert _events(place, name, space) == [reason], "told once, whoever was first"


def test_changed_value_goes_to_the_class_and_to_its_workloads(place: PlatformPlace):
    """As in Kueue: see the docstring of provision.operators.platform."""
    place.apply(*_queues(), claim("team-b-v", "team-b", 900))
    place.await_row("team-b-v", "900", "True", "Ready")
    place.apply(_job("runs", 1), _job("waits", 2))

    def states() -> dict[str, tuple[int, bool]]:
        return dict(_state(item) for item in place.get("workloads", "-n", "team-b")["items"])

    place.await_true("one runs", lambda: states() == {"runs": (900, True), "waits": (900, False)})
    place.patch("cwpc", "team-b-v", "-n", "team-b", spec={"value": 1100})
    place.await_true(
        "both follow", lambda: states() == {"runs": (1100, True), "waits": (1100, False)}
    )
    place.kubectl("delete", "cwpc", "team-b-v", "-n", "team-b", "--timeout=20s")
    assert states() == {"runs": (1100, True), "waits": (1100, False)}


def test_refusals_say_what_and_why(place: PlatformPlace):
    word = place.get("validatingadmissionpolicy", "cwpc-name")["metadata"]["annotations"][
        "gpu-queue-lab/word"
    ]
    assert re.fullmatch("[a-z]+-[a-z]+", word)
    denied = "is forbidden: ValidatingAdmissionPolicy '{0}' with binding '{0}' denied request:"
    start = 'Error from server (Forbidden): error when creating "STDIN":'
    assert place.refusal(claim("urgent", "team-b", 1)) == (
        f'{start} customworkloadpriorityclasses.kakaocloud.io "urgent" '
        f"{denied.format('cwpc-name')} "
        'CustomWorkloadPriorityClass "urgent": in namespace "team-b" the name must begin with '
        f'"team-b-", followed by a name of your own. [{word}]'
    )
    for part, key, what in (
        ("annotations", "scheduling.volcano.sh/queue-name", "annotation"),
        ("labels", "kai.scheduler/queue", "label"),
    ):
        job = {
            "apiVersion": "trainer.kubeflow.org/v1alpha1",
            "kind": "TrainJob",
            "metadata": {"name": "banned-01", "namespace": "team-b", part: {key: "default"}},
            "spec": {"runtimeRef": {"name": "torch-distributed"}},
        }
        assert place.refusal(job) == (
            f'{start} trainjobs.trainer.kubeflow.org "banned-01" '
            f"{denied.format('trainjob-queue-is-kueue')} "
            f'TrainJob "banned-01" has the {what} {key}, which is not allowed: '
            f"Kueue alone decides when a TrainJob starts and what it preempts. [{word}]"
        )


def test_what_has_a_forbidden_key_already_can_be_changed_and_goes(place: PlatformPlace):
    """One that was made while nobody refused it: Kueue must be able to suspend it."""
    name, key = "trainjob-queue-is-kueue", "kai.scheduler/queue"
    binding = place.get("validatingadmissionpolicybinding", name)
    metadata = {"name": "early", "namespace": "team-b", "labels": {key: "default"}}
    job = {
        "apiVersion": "trainer.kubeflow.org/v1alpha1",
        "kind": "TrainJob",
        "metadata": metadata | {"finalizers": ["example.com/wait"]},
        "spec": {"runtimeRef": {"name": "torch-distributed"}},
    }
    trial = job | {"metadata": metadata | {"name": "late"}}
    place.kubectl("delete", "validatingadmissionpolicybinding", name)
    try:
        place.await_true("made", lambda: not place.run("create", "-f", "-", give=job).returncode)
    finally:
        place.apply(binding | {"metadata": {"name": name}})
    refused = ("create", "--dry-run=server", "-f", "-")
    place.await_true("refused again", lambda: place.run(*refused, give=trial).returncode)
    early = ("trainjob", "early", "-n", "team-b")
    place.kubectl("label", *early, "team=b")
    place.patch(*early, spec={"suspend": True})
    for change in (f"{key}=other", "scheduling.volcano.sh/queue-name="):
        verb = "label" if change.startswith(key) else "annotate"
        done = place.run(verb, *early, change, *(["--overwrite"] if verb == "label" else []))
        assert "which is not allowed" in done.stderr
    place.kubectl("delete", *early, "--wait=false")
    place.patch(*early, metadata={"finalizers": None})
    place.await_true("it is gone", lambda: place.get(*early) is None)


@pytest.mark.parametrize(
    ("value", "words"),
    [
        (2**31, "spec.value in body should be less than or equal to 2147483647"),
        ("high", 'spec.value in body must be of type integer: "string"'),
    ],
    ids=["too large", "a word"],
)
def test_value_is_an_int32_as_in_kueue(place: PlatformPlace, value, words):
    assert words in place.refusal(claim("team-b-q", "team-b", value))


@pytest.mark.full
def test_api_server_that_was_away_is_waited_for(place: PlatformPlace):
    before = place.pid
    servers = [c for c in place.place.target.status().components if c.name == "kube-apiserver"]
    os.kill(servers[0].pid or 0, signal.SIGKILL)
    place.await_true("no API", lambda: place.run("get", "--raw=/readyz").stdout, within=120)
    place.apply(claim("team-b-urgent", "team-b", 1200))
    place.await_row("team-b-urgent", "1200", "True", "Ready")
    place.kubectl("delete", "wpc", "team-b-urgent")
    place.await_true("it is not made again", lambda: place.class_of("team-b-urgent"))
    assert place.pid == before


def _ready(place: PlatformPlace, name: str) -> list[str]:
    return [s for s in RIVALS if place.row(name, s)[-1] == "Ready"]


def _events(place: PlatformPlace, name: str, namespace: str) -> list[str]:
    uid = place.get("cwpc", name, "-n", namespace)["metadata"]["uid"]
    events = place.get("events", "-n", namespace, "--field-selector", f"involvedObject.uid={uid}")
    return [event["reason"] for event in events["items"]]


def _state(workload: dict) -> tuple[str, tuple[int, bool]]:
    owner = workload["metadata"]["ownerReferences"][0]["name"]
    conditions = workload.get("status", {}).get("conditions", [])
    is_admitted = any(c["type"] == "Admitted" and c["status"] == "True" for c in conditions)
    return owner, (workload["spec"]["priority"], is_admitted)


def _queues() -> list[dict]:
    api = "kueue.x-k8s.io/v1beta2"
    flavor = {"name": "fake-gpu", "resources": [{"name": "nvidia.com/gpu", "nominalQuota": 2}]}
    return [
        {
            "apiVersion": api,
            "kind": "ClusterQueue",
            "metadata": {"name": "team-b"},
            "spec": {
                "namespaceSelector": {},
                "resourceGroups": [{"coveredResources": ["nvidia.com/gpu"], "flavors": [flavor]}],
            },
        },
        {
            "apiVersion": api,
            "kind": "LocalQueue",
            "metadata": {"name": "training", "namespace": "team-b"},
            "spec": {"clusterQueue": "team-b"},
        },
    ]


def _job(name: str, gpus: int) -> dict:
    labels = {
        "kueue.x-k8s.io/queue-name": "training",
        "kueue.x-k8s.io/priority-class": "team-b-v",
    }
    container = {
        "name": "main",
        "image": "busybox:1.36",
        "command": ["sleep", "3600"],
        "resources": {"limits": {"nvidia.com/gpu": gpus}, "requests": {"nvidia.com/gpu": gpus}},
    }
    return {
        "apiVersion": "batch/v1",
        "kind": "Job",
        "metadata": {"name": name, "namespace": "team-b", "labels": labels},
        "spec": {"template": {"spec": {"restartPolicy": "Never", "containers": [container]}}},
    }
