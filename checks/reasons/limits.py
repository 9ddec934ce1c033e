"""LimitRanges: those that a Job's pods would break, and those that add to what they ask."""

from __future__ import annotations

from collections.abc import Iterator
from fractions import Fraction

from checks.kit.cluster import Object
from checks.kit.paths import dig, dig_list, dig_map, dig_text
from checks.kit.quantities import show_amount, sum_amounts
from checks.reasons.amounts import Amounts, pod_amounts
from checks.reasons.cause import Cause, Detail, Explanation
from checks.reasons.words import detail, kueue_says, quoting
from checks.scene import Scene
from checks.training import Submitted
from checks.watching import WorkloadNow
from provision.message import say

_POD = ("spec", "template", "spec")


def breaks_limits(scene: Scene, job: Submitted, workload: WorkloadNow) -> Explanation | None:
    """A LimitRange of the namespace that the pods of the Job would break; Kueue asks, too."""
    for raw, item in _limits(scene):
        for amounts in _measured(job, dig_text(item, "type")):
            broken = _broken(item, amounts)
            if broken is None:
                continue
            resource, bound = broken
            what = say(
                "it asks {amount} of {resource}; LimitRange {name} has {bound}",
                amount=show_amount(amounts[resource]),
                resource=resource,
                name=dig_text(raw, "metadata", "name"),
                bound=bound,
            )
            return Explanation(Cause.LIMITS, quoting(what, kueue_says(workload)))
    return None


def limit_source(scene: Scene, job: Submitted, resource: str) -> Detail | None:
    """The LimitRange that adds a resource which the Job itself does not ask for."""
    if resource in pod_amounts(dig(job.raw, *_POD)):
        return None
    for raw, item in _limits(scene):
        if resource in {**dig_map(item, "defaultRequest"), **dig_map(item, "default")}:
            name = dig_text(raw, "metadata", "name")
            return detail("source", say("the defaults of LimitRange {name}", name=name))
    return None


def _limits(scene: Scene) -> Iterator[tuple[Object, object]]:
    for raw in scene.limit_ranges():
        for item in dig_list(raw, "spec", "limits"):
            yield raw, item


def _measured(job: Submitted, kind: str) -> list[Amounts]:
    spec = dig(job.raw, *_POD)
    if kind == "Pod":
        return [pod_amounts(spec)]
    if kind != "Container":
        return []
    return [pod_amounts({"containers": [one]}) for one in dig_list(spec, "containers")]


def _broken(item: object, amounts: Amounts) -> tuple[str, str] | None:
    """The resource that is out of bounds, and the bound."""
    for word, sign in (("max", 1), ("min", -1)):
        for name, bound in sum_amounts([dig_map(item, word)]).items():
            if name in amounts and (amounts.get(name, Fraction(0)) - bound) * sign > 0:
                return name, f"{word} {show_amount(bound)}"
    return None
