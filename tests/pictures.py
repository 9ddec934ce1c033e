"""Records what the API of a place answers now, for the tests of the picture.

`LAB_HOME=… .venv/bin/python -m tests.pictures NAME [--full]` writes tests/golden/picture/NAME.json.
"""

from __future__ import annotations

import json
import os
import sys
from pathlib import Path

from checks.kit.cluster import JOB, NODE, POD, Cluster, Kind
from checks.serving import DEPLOYMENT, REPLICA_SET
from checks.training import JOB_SET, TRAIN_JOB
from lab.places import KUEUE_API, Places

FOLDER = Path(__file__).parent / "golden" / "picture"
KINDS = (
    Kind("ClusterQueue", "clusterqueues", KUEUE_API, is_namespaced=False),
    Kind("LocalQueue", "localqueues", KUEUE_API),
    Kind("Workload", "workloads", KUEUE_API),
    POD,
    NODE,
)
# What `lab why` reads beside these, for the states of trainings and Deployments.
MAKERS = (
    TRAIN_JOB,
    JOB_SET,
    JOB,
    DEPLOYMENT,
    REPLICA_SET,
    Kind("ResourceFlavor", "resourceflavors", KUEUE_API, is_namespaced=False),
    Kind("WorkloadPriorityClass", "workloadpriorityclasses", KUEUE_API, is_namespaced=False),
    Kind("LimitRange", "limitranges", "v1"),
    Kind("Namespace", "namespaces", "v1", is_namespaced=False),
)


def record(name: str, *, is_full: bool = False) -> Path:
    """Write the objects of all kinds that a picture is drawn from, without what nobody reads.

    `is_full`: those that things are made from, too.
    """
    place = Places(os.environ, is_root=os.geteuid() == 0).open()
    cluster = Cluster(place.target.info().grader_kubeconfig)
    kinds = (*KINDS, *MAKERS) if is_full else KINDS
    found = {kind.name: [_bare(item) for item in cluster.all(kind)] for kind in kinds}
    FOLDER.mkdir(parents=True, exist_ok=True)
    file = FOLDER / f"{name}.json"
    file.write_text(json.dumps(found, indent=1, sort_keys=True) + "\n", encoding="utf-8")
    return file


def _bare(item: object) -> object:
    bare = json.loads(json.dumps(item))
    bare["metadata"].pop("managedFields", None)
    notes = bare["metadata"].pop("annotations", {})
    if kept := {key: value for key, value in notes.items() if key == "kueue.x-k8s.io/workload"}:
        bare["metadata"]["annotations"] = kept
    return bare


if __name__ == "__main__":
    print(record(sys.argv[1], is_full="--full" in sys.argv))  # noqa: T201
