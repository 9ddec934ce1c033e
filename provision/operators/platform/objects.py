"""What the controller reads of both kinds, as typed values. Parses what the API server checked."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

GROUP, VERSION, KIND = "kakaocloud.io", "v1alpha1", "CustomWorkloadPriorityClass"
PLURAL = "customworkloadpriorityclasses"
KUEUE_GROUP, KUEUE_VERSION = "kueue.x-k8s.io", "v1beta2"
CLASS_KIND, CLASS_PLURAL = "WorkloadPriorityClass", "workloadpriorityclasses"

FINALIZER = "kakaocloud.io/workloadpriorityclass"
# Who made an object, as its managedFields tell.
MANAGER = "customworkloadpriorityclass-controller"
LABELS = {"kakaocloud.io/managed-by": "customworkloadpriorityclass"}
NAMESPACE_MARK, UID_MARK = "kakaocloud.io/namespace", "kakaocloud.io/uid"

Raw = Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class Standing:
    """What the condition Ready says; `generation` is that of the spec it was said of."""

    is_ready: bool
    reason: str
    message: str
    generation: int


@dataclass(frozen=True, slots=True)
class Claim:
    """A CustomWorkloadPriorityClass: it claims the class of its name.

    `version` is its resourceVersion, `created` a time as the API writes it, to the second.
    `standing` is None before the first report, `since` the time of its last transition.
    `class_uid` is the uid of the class that was made for it, empty when its status names none.
    """

    namespace: str
    name: str
    uid: str
    version: str
    generation: int
    created: str
    value: int
    description: str = ""
    is_deleting: bool = False
    finalizers: tuple[str, ...] = ()
    standing: Standing | None = None
    since: str = ""
    class_uid: str = ""

    @property
    def is_held(self) -> bool:
        """Whether it cannot go before its class has gone."""
        return FINALIZER in self.finalizers

    @property
    def marks(self) -> Mapping[str, str]:
        """The annotations of the class that is its own."""
        return {NAMESPACE_MARK: self.namespace, UID_MARK: self.uid}


@dataclass(frozen=True, slots=True)
class PriorityClass:
    """A WorkloadPriorityClass of Kueue; `is_made_here`: a controller of this kind created it."""

    name: str
    uid: str
    version: str
    value: int
    description: str
    labels: Mapping[str, str]
    annotations: Mapping[str, str]
    is_deleting: bool = False
    is_made_here: bool = False

    @property
    def is_marked(self) -> bool:
        """Whether it says that it was made for a claim."""
        return self.labels.items() >= LABELS.items() and UID_MARK in self.annotations


def read_claim(raw: Raw) -> Claim:
    """A claim from its JSON."""
    meta, spec, status = raw["metadata"], raw["spec"], raw.get("status", {})
    ready = next((c for c in status.get("conditions", ()) if c["type"] == "Ready"), None)
    standing = ready and Standing(
        ready["status"] == "True",
        ready["reason"],
        ready["message"],
        ready.get("observedGeneration", 0),
    )
    return Claim(
        namespace=meta["namespace"],
        name=meta["name"],
        uid=meta["uid"],
        version=meta["resourceVersion"],
        generation=meta["generation"],
        created=meta["creationTimestamp"],
        value=spec["value"],
        description=spec.get("description", ""),
        is_deleting="deletionTimestamp" in meta,
        finalizers=tuple(meta.get("finalizers", ())),
        standing=standing,
        since=ready["lastTransitionTime"] if ready else "",
        class_uid=status.get("classUID", ""),
    )


def read_class(raw: Raw) -> PriorityClass:
    """A class from its JSON."""
    meta = raw["metadata"]
    return PriorityClass(
        name=meta["name"],
        uid=meta["uid"],
        version=meta["resourceVersion"],
        value=raw["value"],
        description=raw.get("description", ""),
        labels=meta.get("labels", {}),
        annotations=meta.get("annotations", {}),
        is_deleting="deletionTimestamp" in meta,
        is_made_here=any(f.get("manager") == MANAGER for f in meta.get("managedFields", ())),
    )
