"""A place with parts beyond the base ones: they come up, come back, and are warm at once."""

from __future__ import annotations

import json
import os
import signal
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from lab.places import Place, Places
from provision.drawing import drawn_word
from provision.message import Message, say
from provision.registry import open_target
from provision.settings import Settings
from provision.target import Target
from provision.waiting import wait_until
from tests.conftest import Surroundings
from tests.integration.local.platform_place import LAB, PlatformPlace

pytestmark = pytest.mark.integration

PARTS = ("jobset", "trainer")
SOON = 60.0
GPU = "nvidia.com/gpu"
POLICY = ("validatingadmissionpolicy", "trainjob-queue-is-kueue")
FLAVOR = {
    "apiVersion": "kueue.x-k8s.io/v1beta2",
    "kind": "ResourceFlavor",
    "metadata": {"name": "one-more"},
}


@pytest.fixture(scope="module")
def up_place(
    surroundings: Surroundings, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[PlatformPlace]:
    root = tmp_path_factory.mktemp("training")
    place = Places(surroundings(root), is_root=False).open(LAB)
    try:
        place.target.up(lambda _: None)
        yield PlatformPlace(place, root)
    finally:
        place.target.destroy(lambda _: None)


@pytest.fixture
def site(up_place: PlatformPlace) -> PlatformPlace:
    up_place.place.target.up(lambda _: None)
    return up_place


def statuses(place: Place) -> dict[str, Any]:
    return {c.name: c for c in place.target.status().components}


def await_ready(place: Place) -> None:
    def missing() -> Message | None:
        late = [n for n, c in statuses(place).items() if not c.is_ready and not c.is_off]
        return say("not ready: {names}", names=late) if late else None

    wait_until(missing, within=SOON)


def train_job(name: str, nodes: int) -> dict[str, Any]:
    """A TrainJob as the lab's learners write it, in no queue."""
    size = {GPU: 1}
    return {
        "apiVersion": "trainer.kubeflow.org/v1alpha1",
        "kind": "TrainJob",
        "metadata": {"name": name, "namespace": "default"},
        "spec": {
            "runtimeRef": {"name": "torch-distributed"},
            "trainer": {
                "image": "busybox:1.36",
                # A bare sleep would take the whole grace period to end.
                "command": ["sh", "-c", "trap 'exit 0' TERM; sleep 3600"],
                "numNodes": nodes,
                "resourcesPerNode": {"requests": size, "limits": size},
            },
        },
    }


def running_pods(site: PlatformPlace) -> int:
    pods = (site.get("pods", "-n", "default") or {"items": []})["items"]
    return sum(pod["status"].get("phase") == "Running" for pod in pods)


def changes_by_us(log: Path, start: int) -> list[str]:
    """What provisioning changed in the cluster since `start`, a size of its audit log."""
    with log.open("rb") as file:
        file.seek(start)
        entries = [json.loads(line) for line in file]
    ours = [e for e in entries if e["user"]["username"] == "lab-provision"]
    return [f"{e['verb']} {e['requestURI']}" for e in ours]


def test_the_parts_of_the_lab_run_and_tell_their_versions(site: PlatformPlace):
    await_ready(site.place)
    found = statuses(site.place)
    assert {"jobset", "trainer", "platform", "kueue"} <= found.keys()
    versions = site.place.target.info().versions
    assert versions["jobset"] == found["jobset"].version == "v0.12.0"
    assert versions["trainer"] == found["trainer"].version == "v2.2.1"
    for name in PARTS:
        assert site.place.target.log_path(name).stat().st_size


def test_what_lies_there_from_the_start(site: PlatformPlace):
    runtime = site.get("clustertrainingruntime", "torch-distributed")
    assert runtime["metadata"]["labels"]["trainer.kubeflow.org/framework"] == "torch"
    [flavor] = site.get("resourceflavors", "--show-managed-fields")["items"]
    assert flavor["metadata"]["name"] == "fake-gpu"
    assert flavor["metadata"]["managedFields"][0]["manager"] == "gpu-queue-lab"
    word = drawn_word(site.place.home)
    assert site.get(*POLICY)["metadata"]["annotations"]["gpu-queue-lab/word"] == word


def test_a_pod_outside_of_jobsets_asks_no_webhook_of_jobset(site: PlatformPlace):
    hooks = site.get("mutatingwebhookconfiguration", "jobset-mutating-webhook-configuration")
    [pods] = [hook for hook in hooks["webhooks"] if hook["name"] == "mpod.kb.io"]
    assert pods["objectSelector"]["matchExpressions"][0]["operator"] == "Exists"
    urls = [hook["clientConfig"]["url"] for hook in hooks["webhooks"]]
    assert all(url.startswith("https://127.0.0.1:") for url in urls)


@pytest.mark.parametrize("name", PARTS)
def test_a_killed_part_comes_back_and_works(site: PlatformPlace, name: str):
    await_ready(site.place)
    before = statuses(site.place)[name].pid
    os.kill(before, signal.SIGKILL)

    def missing() -> Message | None:
        now = statuses(site.place)[name]
        is_back = now.is_ready and now.pid not in (None, before)
        return None if is_back else say("{name} is not back", name=name)

    wait_until(missing, within=SOON)
    job = train_job(f"after-{name}", 2)
    site.await_true("the webhooks answer again", lambda: _is_taken(site, job), within=SOON)
    try:
        site.await_true("two pods run", lambda: running_pods(site) == 2, within=SOON)
    finally:
        site.kubectl("delete", "trainjobs", "--all", "-n", "default", "--timeout=30s")
        site.await_true("no pod is left", lambda: running_pods(site) == 0, within=SOON)


def _is_taken(site: PlatformPlace, job: dict[str, Any]) -> bool:
    return site.run("apply", "-f", "-", give=job).returncode == 0


def test_a_warm_start_applies_nothing(site: PlatformPlace):
    target, log = site.place.target, site.place.home / "logs" / "audit.log"
    target.down(lambda _: None)
    start = log.stat().st_size
    assert target.up(lambda _: None).is_changed
    assert changes_by_us(log, start) == []


def with_objects(place: Place, *objects: dict[str, Any]) -> Target:
    """The same place as a lab would have it whose cluster/ was changed."""
    spec = replace(place.target._spec, objects=(*place.target._spec.objects, *objects))  # type: ignore[attr-defined]
    settings: Settings = place.target._settings  # type: ignore[attr-defined]
    return open_target("local", spec, settings)


@pytest.mark.full
def test_an_object_that_a_lab_adds_is_applied_at_the_next_start(site: PlatformPlace):
    log = site.place.home / "logs" / "audit.log"
    start = log.stat().st_size
    assert with_objects(site.place, FLAVOR).up(lambda _: None).is_changed
    assert site.get("resourceflavor", "one-more") is not None
    changed = [line for line in changes_by_us(log, start) if "configmaps" not in line]
    assert len(changed) == 1, changed
    assert "resourceflavors/one-more" in changed[0]


def test_a_reset_brings_it_all_back_with_another_word(site: PlatformPlace):
    site.kubectl("delete", "resourceflavor", "fake-gpu")
    site.kubectl("delete", "clustertrainingruntime", "torch-distributed")
    lived = (site.place.home / "cluster.id").read_text()
    site.place.target.reset(lambda _: None)
    assert (site.place.home / "cluster.id").read_text() != lived
    assert site.get("resourceflavor", "fake-gpu") is not None
    assert site.get("clustertrainingruntime", "torch-distributed") is not None
    word = drawn_word(site.place.home)
    assert site.get(*POLICY)["metadata"]["annotations"]["gpu-queue-lab/word"] == word
