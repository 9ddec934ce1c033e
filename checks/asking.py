"""What else Kueue lets in: a JobSet that nobody made a training of, and a pod by itself.

A pod that Kueue holds has its gate (kueue.x-k8s.io/admission) instead of a spec.suspend.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import ClassVar

from checks.kit.paths import dig, dig_list, dig_text, dig_texts
from checks.things import Object, Thing, common_facts

_QUEUE_LABEL = "kueue.x-k8s.io/queue-name"
_GATE = "kueue.x-k8s.io/admission"
_ENDINGS = ("Completed", "Failed")


@dataclass(frozen=True, slots=True)
class Asking(Thing):
    """`queue`: its queue label. `is_suspended`: it waits to be let in. `ended_as`: empty until."""

    queue: str
    is_suspended: bool
    ended_as: str
    node_selector: Mapping[str, str]


@dataclass(frozen=True, slots=True)
class JobSetNow(Asking):
    """A JobSet."""

    kind: ClassVar[str] = "JobSet"


@dataclass(frozen=True, slots=True)
class PodAsking(Asking):
    """A pod that is a Workload of its own, such as each pod of a Deployment."""

    kind: ClassVar[str] = "Pod"


def read_job_set(raw: Object) -> JobSetNow:
    """A JobSet from the API's JSON."""
    common = common_facts(raw)
    ends = [one for one in _ENDINGS if one in common["conditions"]]
    return JobSetNow(
        **common,
        queue=dig_text(raw, "metadata", "labels", _QUEUE_LABEL),
        is_suspended=dig(raw, "spec", "suspend") is True,
        ended_as=next((one for one in ends if common["conditions"][one].is_true), ""),
        node_selector={},
    )


def read_pod_asking(raw: Object) -> PodAsking:
    """A pod from the API's JSON; whether it has ended is for the pod's own reader."""
    gates = [dig_text(one, "name") for one in dig_list(raw, "spec", "schedulingGates")]
    return PodAsking(
        **common_facts(raw),
        queue=dig_text(raw, "metadata", "labels", _QUEUE_LABEL),
        is_suspended=_GATE in gates,
        ended_as="",
        node_selector=dig_texts(raw, "spec", "nodeSelector"),
    )
