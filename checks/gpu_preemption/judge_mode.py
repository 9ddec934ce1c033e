"""Whether the tenant's ClusterQueue had its admission mode from the beginning.

Kueue takes the order of a line when the ClusterQueue is made. The recorder keeps a mark of each
spec: when the first one is that of the present spec without the mode, the mode came later. All
else is left untold.
"""

from __future__ import annotations

import copy
from collections.abc import Mapping
from typing import Any

from checks.gpu_preemption.facts import Facts
from checks.gpu_preemption.judge_tenant import NO_MODE, made_anew
from checks.gpu_preemption.wanted import want_cluster_queue
from checks.kit.cluster import Object
from checks.kit.expect import mismatch
from checks.kit.paths import dig_list, dig_map, dig_text
from checks.kit.quantities import parse_quantity, show_amount
from checks.kit.witness import in_cluster
from checks.recording.facts import digest_of
from checks.scene import Scene
from provision.message import say


def require_mode_from_start(scene: Scene, lab: Facts, live: Object) -> None:
    """Nothing on record shows that the ClusterQueue was made without its mode."""
    changes = scene.history.of("ClusterQueue", uid=dig_text(live, "metadata", "uid"))
    if not changes or changes[0].what != "added" or changes[0].is_late:
        return
    spec = _as_made(dig_map(live, "spec"))
    spec.pop("admissionScope", None)
    modeless = (spec, {**spec, "admissionScope": {"admissionMode": NO_MODE}})
    if dig_text(changes[0].facts, "digest") not in [digest_of(one) for one in modeless]:
        return
    raise mismatch(
        in_cluster(want_cluster_queue(lab), "spec.admissionScope.admissionMode"),
        say("there when the ClusterQueue was made"),
        say("added later"),
        made_anew(lab),
    )


def _as_made(spec: Mapping[str, object]) -> dict[str, Any]:
    """A copy with each quota in the spelling that Kueue's webhook gives it when a queue is made.

    After a later `kubectl apply` it stands there as the file spells it.
    """
    made: dict[str, Any] = copy.deepcopy(dict(spec))
    for group in dig_list(made, "resourceGroups"):
        for flavor in dig_list(group, "flavors"):
            for resource in dig_list(flavor, "resources"):
                if isinstance(resource, dict):
                    quota = parse_quantity(resource.get("nominalQuota"))
                    resource["nominalQuota"] = show_amount(quota)
    return made
