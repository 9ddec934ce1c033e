"""Records what the API of a place answers now, for the tests of the picture.

`LAB_HOME=… .venv/bin/python -m tests.pictures NAME` writes tests/golden/picture/NAME.json.
"""

from __future__ import annotations

import json
import os
import sys
from pathlib import Path

from checks.kit.cluster import NODE, POD, Cluster, Kind
from lab.places import KUEUE_API, Places

FOLDER = Path(__file__).parent / "golden" / "picture"
KINDS = (
    Kind("ClusterQueue", "clusterqueues", KUEUE_API, is_namespaced=False),
    Kind("LocalQueue", "localqueues", KUEUE_API),
    Kind("Workload", "workloads", KUEUE_API),
    POD,
    NODE,
)


def record(name: str) -> Path:
    """Write the objects of all kinds that a picture is drawn from, without what nobody reads."""
    place = Places(os.environ, is_root=os.geteuid() == 0).open()
    cluster = Cluster(place.target.info().grader_kubeconfig)
    found = {kind.name: [_bare(item) for item in cluster.all(kind)] for kind in KINDS}
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
    print(record(sys.argv[1]))  # noqa: T201
