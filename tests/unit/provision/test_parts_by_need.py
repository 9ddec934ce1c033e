"""A place has what its lab's parts bring, and the first lab's place nothing of it."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest
import yaml
from cryptography import x509

from provision.errors import TargetError
from provision.local import own_manifests as own_module
from provision.local.components import DATA, PartSet, load_inventory
from provision.local.own_manifests import own_manifests
from provision.local.parts import Parts
from provision.local.place import TOOLS, Place
from provision.overlay import merge
from provision.state import ensure_life
from provision.target import PlaceSpec
from tests.unit.provision.test_plan import VERSIONS, agree, as_text

ALL = ("jobset", "trainer", "platform")
FIRST_LABS_CONF = {
    *("audit-policy.yaml", "container.log", "kwok-logs.yaml", "kwok-stages.yaml", "kueue.yaml"),
    *("controller-manager.kubeconfig", "scheduler.kubeconfig", "kwok.kubeconfig"),
    *("kueue.kubeconfig", "kueue-webhook/tls.crt", "kueue-webhook/tls.key"),
    "kueue-webhook/ca.crt",
}
OVERLAY = {"manageJobsWithoutQueueName": True, "clientConnection": {"qps": 9}}
FLAVOR = {
    "apiVersion": "kueue.x-k8s.io/v1beta2",
    "kind": "ResourceFlavor",
    "metadata": {"name": "a-flavor"},
}


def place_of(home: Path, **more) -> Place:
    spec = PlaceSpec("a-lab", home, home / "work", ("team-a",), (), **more)
    return Place(spec, load_inventory())


def write(place: Place, folder: Path) -> str:
    """Write the place with programs that are none; its digest."""
    names = {p.name for s in load_inventory().sets.values() for p in s.build}
    parts = Parts("key", {n: folder / n for n in names | set(TOOLS.values())}, VERSIONS, {})
    ensure_life(place.spec.home)
    ports = {name: 21000 + i for i, name in enumerate(place.port_names())}
    return place.write(parts, ports, place.spec.home / "run" / "s.sock", "0123").digest


def files_below(folder: Path) -> set[str]:
    return {str(p.relative_to(folder)) for p in folder.rglob("*") if p.is_file()}


@pytest.fixture
def home(tmp_path: Path) -> Path:
    (tmp_path / "home").mkdir()
    return tmp_path / "home"


def test_without_parts_a_place_is_what_it_was(home: Path, tmp_path: Path):
    place = place_of(home)
    write(place, tmp_path)
    assert files_below(place.folders.conf) == FIRST_LABS_CONF
    assert not [n for n in files_below(place.folders.pki) if "jobset" in n or "trainer" in n]
    text = (place.folders.conf / "kueue.yaml").read_text("utf-8")
    template = (DATA / "kueue.yaml").read_text("utf-8")
    assert text.splitlines()[0] == template.splitlines()[0]
    assert "frameworks: [batch/job]" in text


def test_with_parts_there_are_their_files_and_kueue_has_the_labs_settings(
    home: Path, tmp_path: Path
):
    place = place_of(home, parts=ALL, kueue=OVERLAY, frameworks=("pod",))
    write(place, tmp_path)
    conf, serving = place.folders.conf, home / "run/trainer/k8s-webhook-server/serving-certs"
    added = files_below(conf) - FIRST_LABS_CONF
    assert added == {
        *("jobset.yaml", "trainer.yaml", "jobset.kubeconfig", "trainer.kubeconfig"),
        *("platform.kubeconfig", "jobset-webhook/tls.crt", "jobset-webhook/tls.key"),
    }
    assert files_below(serving) == {"tls.crt", "tls.key"}
    kueue = yaml.safe_load((conf / "kueue.yaml").read_text("utf-8"))
    assert kueue["manageJobsWithoutQueueName"] is True
    assert kueue["clientConnection"] == {"qps": 9, "burst": 500}
    assert kueue["integrations"]["frameworks"] == [
        *("batch/job", "jobset.x-k8s.io/jobset", "trainer.kubeflow.org/trainjob", "pod"),
    ]
    for name in ("jobset.yaml", "trainer.yaml"):
        told = yaml.safe_load((conf / name).read_text("utf-8"))
        assert told["webhook"]["host"] == "127.0.0.1"
        assert told["health"]["healthProbeBindAddress"].startswith("127.0.0.1:")
        assert told["metrics"]["bindAddress"] == "0"


def test_only_what_needs_all_rights_has_them(home: Path, tmp_path: Path):
    place = place_of(home, parts=ALL)
    write(place, tmp_path)
    subjects = {}
    for name in ("jobset", "trainer", "platform"):
        pem = (place.folders.pki / f"{name}-client.crt").read_bytes()
        subjects[name] = x509.load_pem_x509_certificate(pem).subject.rfc4514_string()
    assert subjects == {
        "jobset": "CN=jobset,O=system:masters",
        "trainer": "CN=trainer,O=system:masters",
        "platform": "CN=platform",
    }


def test_the_plan_with_all_parts_is_as_it_was_reviewed():
    place = place_of(Path("/place"), parts=ALL)
    ports = {name: 21000 + i for i, name in enumerate(place.port_names())}
    base = {c.name for c in place_of(Path("/place")).plan(ports, VERSIONS)}
    plan = place.plan(ports, VERSIONS)
    assert base < {c.name for c in plan}
    more = [c for c in plan if c.name not in base]
    text = as_text(tuple(more)).replace(sys.executable, "/venv/bin/python")
    env = "".join(f"{c.name} {name}={value}\n" for c in more for name, value in c.env)
    agree(text + env, "plan-parts.txt")


def test_what_lies_in_the_cluster_is_part_of_the_digest(home: Path, tmp_path: Path):
    before = write(place_of(home), tmp_path)
    assert write(place_of(home), tmp_path) == before
    assert write(place_of(home, objects=(FLAVOR,)), tmp_path) != before


def test_late_objects_are_those_of_the_modules_then_those_of_the_lab(home: Path):
    place = place_of(home, parts=("trainer",), objects=(FLAVOR,))
    runtime = {"kind": "ClusterTrainingRuntime"}
    shipped = {"trainer-runtimes": (runtime,), "trainer": ({"kind": "Other"},)}
    assert place.late_objects(Parts("key", {}, {}, shipped)) == (runtime, FLAVOR)


def test_our_own_manifests_carry_the_word_of_the_place(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.setattr(own_module, "PROVISION", tmp_path)
    (tmp_path / "mine").mkdir()
    (tmp_path / "mine" / "a.yaml").write_text("kind: A\nword: $word\n---\nkind: B\nprice: $$1\n")
    mine = PartSet("mine", (), (), (), (), files="mine")
    assert own_manifests([mine], "amber-anchor") == (
        {"kind": "A", "word": "amber-anchor"},
        {"kind": "B", "price": "$1"},
    )
    (tmp_path / "mine" / "b.yaml").write_text("word: $other\n")
    with pytest.raises(TargetError, match=r"b\.yaml cannot be understood"):
        own_manifests([mine], "amber-anchor")


def test_the_platforms_manifests_change_with_the_life_of_the_cluster(home: Path):
    place = place_of(home, parts=("platform",))
    ensure_life(home)
    before = place.own_manifests()
    assert before == place.own_manifests()
    assert {"CustomResourceDefinition", "WorkloadPriorityClass"} <= {d["kind"] for d in before}
    for _ in range(20):  # the word is one of a thousand
        ensure_life(home, is_new=True)
        if place.own_manifests() != before:
            return
    pytest.fail("the word stayed")


def test_maps_are_merged_and_lists_replaced():
    base = {"a": {"b": 1, "c": [1, 2]}, "d": 4}
    over = {"a": {"c": [3]}, "d": {"e": 5}, "f": None}
    assert merge(base, over) == {"a": {"b": 1, "c": [3]}, "d": {"e": 5}, "f": None}
    assert base == {"a": {"b": 1, "c": [1, 2]}, "d": 4}
