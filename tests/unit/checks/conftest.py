"""What the tests of the checks share: the lab's own facts, and a cluster made of plain lists."""

import copy
from pathlib import Path

import pytest
import yaml

from checks.kit.cluster import EVENT, JOB, NODE, POD
from checks.kit.typed import build
from checks.kueue_quota.facts import Facts
from checks.scene import Scene
from tests.fakes.api import FakeApi, serving

ROOT = Path(__file__).parents[3]
LAB = ROOT / "lab" / "content" / "kueue_quota" / "lab.yaml"
NOW = 1_800_000_000.0
LONG_AGO = "2027-01-15T07:00:00Z"  # an hour before NOW
JUST_NOW = "2027-01-15T07:59:59Z"


@pytest.fixture(scope="session")
def raw_facts():
    return yaml.safe_load(LAB.read_text())["facts"]


@pytest.fixture(scope="session")
def lab(raw_facts):
    return build(Facts, raw_facts)


class ListedCluster:
    """Stands in for the API: lists by kind. `looks` counts how often it was looked at afresh."""

    def __init__(self, **objects):
        self.lists = objects
        self.now = NOW
        self.looks = 0

    def look_again(self):
        self.looks += 1

    def require_kind_stays(self, kind):
        """Nobody takes a kind away here."""

    def schemas(self, kind):
        """Nothing is published here."""
        return {}

    def all(self, kind, namespace=""):
        found = self.lists.get(kind.plural, [])
        return tuple(o for o in found if namespace in ("", o["metadata"].get("namespace", "")))

    def one(self, kind, name, namespace=""):
        return next((o for o in self.all(kind, namespace) if o["metadata"]["name"] == name), None)


@pytest.fixture
def make_scene(lab):
    def make(**objects):
        return Scene(ListedCluster(**objects), lab.namespace, lab.api_version)

    return make


@pytest.fixture
def api(tmp_path):
    """An API server whose watches can be cut, and a kubeconfig for it."""
    fake = FakeApi()
    with serving(fake, tmp_path) as kubeconfig:
        yield fake, kubeconfig
        fake.end_watches()


KINDS = (JOB, POD, EVENT, NODE)


def condition(kind, status, reason="", message="", since=LONG_AGO, generation=1):
    return {
        "type": kind,
        "status": status,
        "reason": reason,
        "message": message,
        "lastTransitionTime": since,
        "observedGeneration": generation,
    }


def flavor(name="fake-gpu", labels=None):
    labels = {"nvidia.com/gpu.present": "true"} if labels is None else labels
    return {
        "apiVersion": "kueue.x-k8s.io/v1beta2",
        "kind": "ResourceFlavor",
        "metadata": {"name": name},
        "spec": {"nodeLabels": labels},
    }


def cluster_queue(**spec):
    return {
        "apiVersion": "kueue.x-k8s.io/v1beta2",
        "kind": "ClusterQueue",
        "metadata": {"name": "team-a", "generation": 1},
        "spec": {
            "namespaceSelector": {},
            "resourceGroups": [
                {
                    "coveredResources": ["cpu", "memory", "nvidia.com/gpu"],
                    "flavors": [
                        {
                            "name": "fake-gpu",
                            "resources": [
                                {"name": "cpu", "nominalQuota": 2},
                                {"name": "memory", "nominalQuota": "2Gi"},
                                {"name": "nvidia.com/gpu", "nominalQuota": "2"},
                            ],
                        }
                    ],
                }
            ],
            **copy.deepcopy(spec),
        },
        "status": {"conditions": [condition("Active", "True", "Ready")]},
    }


def local_queue(**spec):
    return {
        "apiVersion": "kueue.x-k8s.io/v1beta2",
        "kind": "LocalQueue",
        "metadata": {"name": "lq", "namespace": "team-a", "generation": 1},
        "spec": {"clusterQueue": "team-a", **spec},
        "status": {"conditions": [condition("Active", "True", "Ready")]},
    }


def job(name="train-1", *, labels=None, limits=None, suspend=True, conditions=(), **template):
    limits = {"nvidia.com/gpu": 1} if limits is None else limits
    labels = {"kueue.x-k8s.io/queue-name": "lq"} if labels is None else labels
    containers = template.pop("containers", [{"resources": {"limits": limits}}])
    if isinstance(containers, list):
        containers = [
            {"name": "trainer", "image": "busybox"} | container for container in containers
        ]
    return {
        "apiVersion": "batch/v1",
        "kind": "Job",
        "metadata": {
            "name": name,
            "namespace": "team-a",
            "uid": f"uid-{name}",
            "labels": labels,
            "creationTimestamp": LONG_AGO,
        },
        "spec": {
            "suspend": suspend,
            "template": {
                "spec": {"restartPolicy": "Never", "containers": containers, **template},
            },
        },
        "status": {"conditions": list(conditions)},
    }


def workload(name, conditions, *, gpus="1", active=True, created=LONG_AGO, **metadata):
    """The Workload of the Job `name`; with quota reserved it holds what it asks."""
    holds = any(c["type"] == "QuotaReserved" and c["status"] == "True" for c in conditions)
    amounts = {"nvidia.com/gpu": gpus, "cpu": "200m"}
    status = {"resourceRequests": [{"name": "main", "resources": amounts}]}
    if holds:
        status = {
            "admission": {
                "clusterQueue": "team-a",
                "podSetAssignments": [{"name": "main", "resourceUsage": amounts}],
            }
        }
    return {
        "metadata": {
            "name": f"job-{name}-abcde",
            "namespace": "team-a",
            "uid": f"uid-w-{name}",
            "creationTimestamp": created,
            "ownerReferences": [
                {"kind": "Job", "name": name, "uid": f"uid-{name}", "controller": True}
            ],
            **metadata,
        },
        "spec": {"active": active, "queueName": "lq"},
        "status": {**status, "conditions": list(conditions)},
    }


ADMITTED = (condition("QuotaReserved", "True"), condition("Admitted", "True"))
MESSAGE = (
    "couldn't assign flavors to pod set main: insufficient unused quota for nvidia.com/gpu "
    "in flavor fake-gpu, 1 more needed"
)
WAITING = (condition("QuotaReserved", "False", "WaitingForQuota", MESSAGE),)
