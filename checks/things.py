"""What every live object has: name, uid, age, conditions, owner; read from the API's own JSON."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from checks.kit.paths import dig, dig_count, dig_list, dig_text

Object = Mapping[str, object]


@dataclass(frozen=True, slots=True)
class Condition:
    """One condition of an object; `since` is its last transition, RFC 3339."""

    type: str
    status: str
    reason: str
    message: str
    since: str
    generation: int

    @property
    def is_true(self) -> bool:
        """Its status is True."""
        return self.status == "True"


@dataclass(frozen=True, slots=True)
class Thing:
    """What every live object has. `raw` is the API's JSON, for evidence."""

    name: str
    namespace: str
    uid: str
    created: str
    generation: int
    is_deleting: bool
    conditions: Mapping[str, Condition]
    raw: Object = field(repr=False, compare=False)

    def is_true(self, condition: str) -> bool:
        """It has that condition, and it is True."""
        return condition in self.conditions and self.conditions[condition].is_true


def common_facts(raw: Object) -> Any:  # noqa: ANN401
    """The fields of a Thing by name."""
    conditions = [
        Condition(
            type=dig_text(item, "type"),
            status=dig_text(item, "status"),
            reason=dig_text(item, "reason"),
            message=dig_text(item, "message"),
            since=dig_text(item, "lastTransitionTime"),
            generation=dig_count(item, "observedGeneration"),
        )
        for item in dig_list(raw, "status", "conditions")
    ]
    return {
        "name": dig_text(raw, "metadata", "name"),
        "namespace": dig_text(raw, "metadata", "namespace"),
        "uid": dig_text(raw, "metadata", "uid"),
        "created": dig_text(raw, "metadata", "creationTimestamp"),
        "generation": dig_count(raw, "metadata", "generation"),
        "is_deleting": bool(dig_text(raw, "metadata", "deletionTimestamp")),
        "conditions": {condition.type: condition for condition in conditions},
        "raw": raw,
    }


def owner_of(raw: Object) -> tuple[str, str]:
    """Uid and name of the controller that owns an object; empty without one."""
    for reference in dig_list(raw, "metadata", "ownerReferences"):
        if dig(reference, "controller") is True:
            return dig_text(reference, "uid"), dig_text(reference, "name")
    return "", ""
