"""What a Workload asks for, read from its pod sets; what a pod takes of a node."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from fractions import Fraction

from checks.kit.paths import dig, dig_list, dig_map
from checks.kit.quantities import sum_amounts

Amounts = Mapping[str, Fraction]


def pod_amounts(spec: object) -> Amounts:
    """What a pod asks in all: its containers together, or one init container when that is more.

    A limit without a request counts as the request, as the API server and Kueue have it.
    """
    running = sum_amounts(_asked(one) for one in dig_list(spec, "containers"))
    total = dict(running)
    for one in dig_list(spec, "initContainers"):
        for name, amount in sum_amounts([_asked(one)]).items():
            total[name] = max(total.get(name, Fraction(0)), amount)
    overhead = sum_amounts([dig_map(spec, "overhead")])
    return {
        name: total.get(name, Fraction(0)) + overhead.get(name, Fraction(0))
        for name in {*total, *overhead}
    }


def pod_set_amounts(pod_sets: Sequence[object]) -> Amounts:
    """What all pod sets of a Workload ask together."""
    total: dict[str, Fraction] = {}
    for pod_set in pod_sets:
        count = dig(pod_set, "count")
        factor = count if isinstance(count, int) else 1
        for name, amount in pod_amounts(dig(pod_set, "template", "spec")).items():
            total[name] = total.get(name, Fraction(0)) + amount * factor
    return total


def _asked(container: object) -> dict[str, object]:
    limits = dig_map(container, "resources", "limits")
    return {**limits, **dig_map(container, "resources", "requests")}
